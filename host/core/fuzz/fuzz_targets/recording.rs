//! A recording from any bytes: entries whose rows can all be read, or an error.
#![no_main]

use faucet_core::recording::{Entry, Recording};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|frames: Vec<(Vec<u8>, Vec<u8>)>| {
    let mut bytes = b"faucet pages 1\n".to_vec();
    let origin = br#"{"origin":{"faucet":"","pipeline":"","config":null,"source":"","steps":[],"began":0}}"#.to_vec();
    for (head, body) in std::iter::once((origin, Vec::new())).chain(frames) {
        let lengths = [head.len() as u32, body.len() as u32].map(u32::to_le_bytes).concat();
        // Frames are given checksums that fit, or nothing behind them would be reached.
        let sum = crc32fast::hash(&[&lengths[..], &head, &body].concat());
        bytes.extend([&lengths[..], &sum.to_le_bytes(), &head, &body].concat());
    }
    let Ok(recording) = Recording::read(Path::new("fuzz"), &bytes[..]) else { return };
    for entry in recording.flatten() {
        let Entry::Delivered(page) = entry else { continue };
        for row in 0..page.rows() {
            page.columns().iter().for_each(|column| drop(std::hint::black_box(column.value(row))));
        }
    }
});
