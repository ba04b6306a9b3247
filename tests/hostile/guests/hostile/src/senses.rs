//! Looks around, and puts what it sees into a text column.

use faucet_sdk::bindings::faucet::connector::types::{Column, ColumnOut, Kind, Output, Page, PageOut};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::Read;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub fn report(page: Page, mode: &str) -> Output {
    let seen = match mode {
        "sense-env" => format!("{:?} {:?}", std::env::vars().collect::<Vec<_>>(), std::env::args().collect::<Vec<_>>()),
        "sense-files" => files(),
        "sense-net" => format!("{:?}", std::net::TcpStream::connect("127.0.0.1:22").map(|_| ()).map_err(|e| e.kind())),
        "sense-names" => {
            let found = std::net::ToSocketAddrs::to_socket_addrs("localhost:80").map(Iterator::count);
            format!("{:?}", found.map_err(|e| e.kind()))
        }
        "sense-clock" => {
            let start = Instant::now();
            std::thread::sleep(Duration::from_secs(3600));
            format!("{:?} {:?}", SystemTime::now().duration_since(UNIX_EPOCH), start.elapsed())
        }
        "sense-random" => format!("{:016x}", RandomState::new().hash_one(7)),
        "sense-stdin" => {
            let mut text = String::new();
            format!("{:?} {text:?}", std::io::stdin().read_to_string(&mut text).map_err(|e| e.kind()))
        }
        other => format!("there is no mode {other}"),
    };
    let lengths = std::iter::once(0).chain((1..=page.rows).map(|row| row as i32 * seen.len() as i32));
    let column = Column {
        name: "seen".into(),
        kind: Kind::Text,
        native: None,
        validity: Vec::new(),
        absent: Vec::new(),
        offsets: lengths.flat_map(i32::to_le_bytes).collect(),
        data: seen.repeat(page.rows as usize).into_bytes(),
    };
    let columns = vec![ColumnOut::Buffers(column)];
    let out = PageOut { table: None, rows: page.rows, selection: None, key: Some(Vec::new()), columns };
    Output { pages: vec![out], rejected: Vec::new() }
}

fn files() -> String {
    let read = |path| std::fs::read_to_string(path).map(|text| text.len()).map_err(|error| error.kind());
    let wrote = std::fs::write("/tmp/faucet-hostile", "x").map_err(|error| error.kind());
    format!("{:?} {:?} {:?} {wrote:?}", read("/etc/passwd"), read("../../../../etc/passwd"), std::fs::read_dir("/").is_ok())
}
