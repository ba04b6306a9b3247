//! Values in the binary format of COPY.

use std::hint::black_box;
use std::sync::Arc;

use faucet_connectors::postgres::decode::binary as decode;
use faucet_connectors::postgres::encode::{Lane, binary as encode};
use faucet_connectors::postgres::types::Wire;
use faucet_core::model::{Page, PageBuilder};

use crate::rows;

const WIRES: [Wire; 10] = [
    Wire::Int8,
    Wire::Int4,
    Wire::Text,
    Wire::Int4,
    Wire::Numeric,
    Wire::Float8,
    Wire::Bool,
    Wire::Text,
    Wire::Jsonb,
    Wire::Timestamp,
];

/// The fields of all rows: `None` is null.
pub fn copy_fields() -> (Page, Vec<Option<Vec<u8>>>) {
    let page = rows::page();
    let mut fields = Vec::new();
    let lanes: Vec<Lane<'_>> = page.columns().iter().map(Lane::new).collect();
    for row in 0..page.rows() {
        for (lane, wire) in lanes.iter().zip(WIRES) {
            let mut out = Vec::new();
            encode::push_field(&mut out, *lane, row, wire).unwrap();
            let (length, field) = out.split_first_chunk::<4>().unwrap();
            fields.push((*length != [0xff; 4]).then(|| field.to_vec()));
        }
    }
    (page, fields)
}

#[inline(never)]
pub fn measured_decode_copy((like, fields): &(Page, Vec<Option<Vec<u8>>>)) -> Page {
    let (mut page, mut scratch) = (PageBuilder::rows(Arc::clone(like.schema())), Vec::new());
    for row in black_box(fields).chunks_exact(WIRES.len()) {
        for ((column, wire), field) in page.columns().iter_mut().zip(WIRES).zip(row) {
            match field {
                Some(field) => decode::push(column, wire, field, &mut scratch).unwrap(),
                None => column.push_null(),
            }
        }
        page.end_row();
    }
    page.finish()
}

#[inline(never)]
pub fn measured_encode_copy(page: &Page, out: &mut Vec<u8>) {
    let lanes: Vec<Lane<'_>> = page.columns().iter().map(Lane::new).collect();
    for row in 0..black_box(page).rows() {
        for (lane, wire) in lanes.iter().zip(WIRES) {
            encode::push_field(out, *lane, row, wire).unwrap();
        }
    }
}
