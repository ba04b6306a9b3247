//! Wants too much: time, stack, memory, output, log.

use faucet_sdk::bindings::faucet::connector::host::{Level, log};
use faucet_sdk::bindings::faucet::connector::types::{Column, ColumnOut, Error, Kept, Kind, Output, Page, PageOut};
use std::hint::black_box;
use std::time::Duration;

pub fn endless_loop() -> ! {
    let mut n = 0_u64;
    loop {
        n = black_box(n.wrapping_add(1));
    }
}

pub fn consume(page: Page, mode: &str) -> Result<Output, Error> {
    match mode {
        "use-time" => endless_loop(),
        "use-stack" => {
            black_box(deep(1));
        }
        "use-memory" => {
            let mut hoard = Vec::new();
            loop {
                hoard.push(black_box(vec![1_u8; 1 << 20]));
            }
        }
        "use-panic" => panic!("I was not made for table {}", page.table.name),
        "use-exit" => std::process::exit(7),
        "use-sleep" => std::thread::sleep(Duration::from_secs(3600)),
        "use-stderr" => {
            for line in 0..20_000 {
                eprintln!("line {line}");
            }
            panic!("enough");
        }
        "use-log" => {
            for _ in 0..20_000 {
                log(Level::Info, "flood");
            }
            log(Level::Info, &"long ".repeat(100_000));
        }
        "use-output" => return Ok(one(page, vec![large(20 << 20)], 1)),
        "use-alias" => return Ok(one(page, alias(), 1)),
        "use-pages" => return Ok(many_pages(page)),
        "use-repeats" => return Ok(repeats(page)),
        _ => return Err(Error::Failed(format!("there is no mode {mode}"))),
    }
    Ok(super::lies::honest(page))
}

fn deep(n: u64) -> u64 {
    let frame = black_box([n; 64]);
    if frame[0] == 0 { 0 } else { deep(n + 1) + frame[7] }
}

fn one(page: Page, columns: Vec<Column>, rows: u32) -> Output {
    let columns = columns.into_iter().map(ColumnOut::Buffers).collect();
    let selection = (rows != page.rows).then(|| (0..rows).flat_map(u32::to_le_bytes).collect());
    let page = PageOut { table: None, rows, selection, key: Some(Vec::new()), columns };
    Output { pages: vec![page], rejected: Vec::new() }
}

fn large(bytes: usize) -> Column {
    let offsets = [0, bytes as i32].into_iter().flat_map(i32::to_le_bytes).collect();
    text_of("large", offsets, vec![b'x'; bytes])
}

fn text_of(name: &str, offsets: Vec<u8>, data: Vec<u8>) -> Column {
    let (validity, absent) = (Vec::new(), Vec::new());
    Column { name: name.into(), kind: Kind::Text, native: None, validity, absent, offsets, data }
}

/// A thousand columns that share one buffer of 8 MiB: small in here, 8 GiB for whoever copies them out.
fn alias() -> Vec<Column> {
    let bytes = 8 << 20;
    let shared = vec![b'x'; bytes].leak();
    let column = |at: i32| {
        // Never freed: the process does not live to drop it.
        let data = unsafe { Vec::from_raw_parts(shared.as_mut_ptr(), bytes, bytes) };
        text_of(&at.to_string(), [0, bytes as i32].into_iter().flat_map(i32::to_le_bytes).collect(), data)
    };
    (0..1000).map(column).collect()
}

/// The page, ten thousand times.
fn many_pages(page: Page) -> Output {
    let columns = (0..page.columns.len() as u32).map(|index| ColumnOut::Input(Kept { index, name: None }));
    let columns: Vec<ColumnOut> = columns.collect();
    let out = PageOut { table: None, rows: page.rows, selection: None, key: None, columns };
    Output { pages: vec![out; 10_000], rejected: Vec::new() }
}

/// The first row, often enough to outgrow every limit and every offset.
fn repeats(page: Page) -> Output {
    let rows = 15_000_u32;
    let columns = (0..page.columns.len() as u32).map(|index| ColumnOut::Input(Kept { index, name: None })).collect();
    let out = PageOut { table: None, rows, selection: Some(vec![0; rows as usize * 4]), key: None, columns };
    Output { pages: vec![out], rejected: Vec::new() }
}
