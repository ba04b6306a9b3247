//! A column from untrusted buffers: any bytes give a column whose slots can all be read, or an error.
#![no_main]

use faucet_core::model::{Column, Kind, RawParts};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>)| {
    let (kind, rows, validity, absent, offsets, data) = input;
    let kind = Kind::ALL[usize::from(kind) % Kind::ALL.len()];
    let rows = usize::from(rows);
    if let Ok(column) = Column::from_raw(kind, rows, RawParts { validity, absent, offsets, data }) {
        assert_eq!(column.len(), rows);
        for row in 0..rows {
            std::hint::black_box(column.value(row));
        }
        let raw = column.to_raw();
        let again = RawParts {
            validity: raw.validity.to_vec(),
            absent: raw.absent.to_vec(),
            offsets: raw.offsets.to_vec(),
            data: raw.data.to_vec(),
        };
        assert_eq!(Column::from_raw(kind, rows, again).as_ref().map(Column::len), Ok(rows));
    }
});
