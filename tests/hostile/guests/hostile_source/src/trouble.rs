//! Wants too much, breaks, or says that it can't now.

use crate::pages::{good, numbers, page, plain, texts};
use crate::{bookmark, commit};
use faucet_sdk::bindings::faucet::connector::types::{Column, Error, Page};
use faucet_sdk::bindings::source::exports::faucet::connector::sources::{Batch, SourcePage};
use faucet_sdk::http::Request;
use std::hint::black_box;
use std::time::Duration;

pub fn endless_loop() -> ! {
    let mut n = 0_u64;
    loop {
        n = black_box(n.wrapping_add(1));
    }
}

pub fn consume(mode: &str, call: u32) -> Result<Option<Batch>, Error> {
    match mode {
        "use-panic" if call == 1 => panic!("I have read enough"),
        "use-time" if call == 1 => endless_loop(),
        "use-memory" => {
            let mut hoard = Vec::new();
            loop {
                hoard.push(black_box(vec![1_u8; 1 << 20]));
            }
        }
        "use-output" => return Ok(Some(commit(vec![plain(large())], None))),
        "use-pages" => return Ok(Some(commit(vec![good(); 100_000], None))),
        "use-failed" => return Err(Error::Failed("these rows do not please me".into())),
        "use-unavailable" => return unavailable_twice(call),
        "use-http" => drop(request("https://unasked.invalid/")?),
        _ => {}
    }
    Ok((call < 3).then(|| commit(vec![good()], Some(bookmark(call + 1)))))
}

/// Rows at the third try. What is tried again is another instance, so the tries are counted in a file.
fn unavailable_twice(call: u32) -> Result<Option<Batch>, Error> {
    match tries()? {
        1 | 2 => Err(Error::Unavailable("the other end sleeps".into())),
        _ => Ok((call == 0).then(|| commit(vec![good()], Some(bookmark(1))))),
    }
}

/// Counts a try, and says which one it is.
pub fn tries() -> Result<usize, Error> {
    let failed = |error: std::io::Error| Error::Failed(format!("/count: {:?}", error.kind()));
    let so_far = std::fs::read_to_string("/count/tries").unwrap_or_default() + ".";
    std::fs::write("/count/tries", &so_far).map_err(failed)?;
    Ok(so_far.len())
}

/// Rows that take a while to come, but for the first ones.
pub fn after_a_pause(call: u32) -> Result<SourcePage, Error> {
    if call > 0 {
        std::thread::sleep(Duration::from_millis(300));
    }
    note(&format!("read {call}"))?;
    Ok(good())
}

/// Adds a line to a file.
pub fn note(line: &str) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::Failed(format!("/count: {:?}", error.kind()));
    let so_far = std::fs::read_to_string("/count/notes").unwrap_or_default();
    std::fs::write("/count/notes", format!("{so_far}{line}\n")).map_err(failed)
}

pub fn request(url: &str) -> Result<u16, Error> {
    Ok(Request::get(url).send()?.status)
}

/// One row of 40 MiB.
fn large() -> Page {
    let bytes = 40 << 20;
    let offsets = [0, bytes].into_iter().flat_map(i32::to_le_bytes).collect();
    let note = Column { offsets, data: vec![b'x'; bytes as usize], ..texts("note", 1) };
    Page { rows: 1, columns: vec![numbers("id", 1), note], ..page() }
}
