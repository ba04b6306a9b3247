//! Any bytes as `COPY .. (FORMAT binary)`, cut anywhere: read or refused, never a panic, and the same rows however the
//! chunks are cut.
#![no_main]

use faucet_connectors::postgres::query::copy::CopyDecoder;
use faucet_connectors::postgres::types::Wire;
use faucet_core::model::{Field, Kind, Page, PageBuilder, Schema, TableId};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// One column of each form.
const COLUMNS: [(Wire, Kind); 17] = [
    (Wire::Bool, Kind::Bool),
    (Wire::Int2, Kind::I64),
    (Wire::Int4, Kind::I64),
    (Wire::Int8, Kind::I64),
    (Wire::Oid, Kind::I64),
    (Wire::Float4, Kind::F32),
    (Wire::Float8, Kind::F64),
    (Wire::Numeric, Kind::Decimal),
    (Wire::Text, Kind::Text),
    (Wire::Char, Kind::Text),
    (Wire::Bytea, Kind::Bytes),
    (Wire::Date, Kind::Date),
    (Wire::Time, Kind::Time),
    (Wire::Timestamp, Kind::Timestamp),
    (Wire::Interval, Kind::Interval),
    (Wire::Uuid, Kind::Uuid),
    (Wire::Jsonb, Kind::Json),
];

const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// The rows before the end or the first fault, and whether there was one.
fn read(columns: &[(Wire, Kind)], chunks: &[&[u8]]) -> (Page, bool) {
    let field = |(at, (_, kind)): (usize, &(Wire, Kind))| Field::new(format!("c{at}"), *kind);
    let fields = columns.iter().enumerate().map(field).collect();
    let mut page = PageBuilder::rows(Arc::new(Schema::new(TableId::bare("t"), fields)));
    let mut decoder = CopyDecoder::new(columns.iter().map(|(wire, _)| *wire).collect());
    for chunk in chunks {
        decoder.feed(chunk.to_vec().into());
        loop {
            match decoder.next_row(&mut page) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                // The row that has the fault may be there in part.
                Err(_) => return (PageBuilder::rows(page.schema().clone()).finish(), true),
            }
        }
        if decoder.ended() {
            break;
        }
    }
    (page.finish(), false)
}

fuzz_target!(|input: (u8, u16, &[u8])| {
    let (choice, cut, rows) = input;
    // A few columns at a time: a row of all forms is seldom met.
    let first = usize::from(choice) % COLUMNS.len();
    let columns: Vec<_> = COLUMNS.iter().cycle().skip(first).take(1 + usize::from(choice) / 128).copied().collect();
    let whole = [HEADER, rows].concat();
    let (before, after) = whole.split_at(usize::from(cut) % (whole.len() + 1));
    let (one, refused) = read(&columns, &[&whole]);
    let (two, refused_too) = read(&columns, &[before, after]);
    assert_eq!(refused, refused_too);
    assert_eq!(one.rows(), two.rows());
    for row in 0..one.rows() {
        for (a, b) in one.columns().iter().zip(two.columns()) {
            assert!(a.value(row).same(&b.value(row)));
        }
    }
});
