//! Answers that break the contract, each in one place.

use faucet_sdk::bindings::faucet::connector::types::{
    Column, ColumnOut, Kept, Kind, Output, Page, PageOut, Reject, TableId,
};

/// The page, passed through.
pub fn honest(page: Page) -> Output {
    output(pass(&page))
}

fn output(page: PageOut) -> Output {
    Output { pages: vec![page], rejected: Vec::new() }
}

fn pass(page: &Page) -> PageOut {
    let kept = |index| ColumnOut::Input(Kept { index, name: None });
    let columns = (0..page.columns.len() as u32).map(kept).collect();
    PageOut { table: None, rows: page.rows, selection: None, key: None, columns }
}

/// An answer with one lie.
pub fn tell(page: Page, mode: &str) -> Output {
    let mut out = pass(&page);
    let rows = page.rows;
    match mode {
        "selection-range" => select(&mut out, &[0, rows]),
        "selection-falls" => select(&mut out, &[1, 0]),
        "selection-length" => out.selection = Some(vec![0; 5]),
        "selection-rows" => {
            select(&mut out, &[0, 1]);
            out.rows = 3;
        }
        "selection-repeats-op" => select(&mut out, &[0, 0]),
        "rows" => out.rows = rows + 1,
        "rows-huge" => out.rows = u32::MAX,
        "input-range" => out.columns.push(ColumnOut::Input(Kept { index: 99, name: None })),
        "name-twice" => out.columns.push(ColumnOut::Input(Kept { index: 0, name: None })),
        "name-empty" => out.columns[0] = ColumnOut::Input(Kept { index: 0, name: Some(String::new()) }),
        "key-missing" => out.key = Some(vec!["nowhere".into()]),
        "table-empty" => out.table = Some(TableId { schema: None, name: String::new() }),
        "op-gone" => drop(out.columns.remove(0)),
        "op-other-kind" => {
            let mut column = numbers(rows);
            column.name = "__op".into();
            out.columns[0] = ColumnOut::Buffers(column);
        }
        "reject-range" => return Output { rejected: vec![reject(rows)], ..output(out) },
        "reject-too-many" => return Output { rejected: (0..=rows).map(reject).collect(), pages: Vec::new() },
        "reject-and-pass" => return Output { rejected: vec![reject(0)], ..output(out) },
        _ => out.columns.push(ColumnOut::Buffers(column(rows, mode))),
    }
    output(out)
}

fn select(out: &mut PageOut, rows: &[u32]) {
    out.rows = rows.len() as u32;
    out.selection = Some(rows.iter().flat_map(|row| row.to_le_bytes()).collect());
}

fn reject(row: u32) -> Reject {
    Reject { row, reason: "I do not like it".into() }
}

/// A new column with one lie.
fn column(rows: u32, mode: &str) -> Column {
    let mut text = texts(rows);
    let last = text.offsets.len() - 4;
    match mode {
        "offsets-fall" => text.offsets[4..8].copy_from_slice(&9_i32.to_le_bytes()),
        "offsets-negative" => text.offsets[4..8].copy_from_slice(&(-1_i32).to_le_bytes()),
        "offsets-start" => text.offsets[..4].copy_from_slice(&1_i32.to_le_bytes()),
        "offsets-beyond" => text.offsets[last..].copy_from_slice(&1_000_000_i32.to_le_bytes()),
        "offsets-short" => text.offsets.truncate(last),
        "offsets-odd" => text.offsets.push(0),
        "offsets-none" => text.offsets.clear(),
        "data-long" => text.data.push(b'x'),
        "data-cut" => text.data.truncate(1),
        "utf8" => text.data[0] = 0xff,
        "utf8-split" => text.data[1..3].copy_from_slice("é".as_bytes()),
        "validity-length" => text.validity = vec![0xff; 99],
        "absent-length" => text.absent = vec![0; 99],
        "absent-with-value" => text.absent = vec![0xff; rows.div_ceil(8) as usize],
        "decimal" => text.kind = Kind::Decimal,
        "json" => text.kind = Kind::Json,
        "native-unnamed" => text.kind = Kind::Native,
        "kind-fixed" => text.kind = Kind::Int64,
        "kind-text" => return Column { kind: Kind::Text, ..numbers(rows) },
        "time" => return Column { kind: Kind::Time, ..numbers(rows) },
        "uuid-length" => return Column { kind: Kind::Uuid, ..numbers(rows) },
        "bits-length" => return Column { kind: Kind::Boolean, ..numbers(rows) },
        "fixed-short" => {
            let mut column = numbers(rows);
            column.data.pop();
            return column;
        }
        "fixed-offsets" => return Column { offsets: vec![0; 4], ..numbers(rows) },
        _ => panic!("there is no mode {mode}"),
    }
    text
}

/// `ab` in every row.
fn texts(rows: u32) -> Column {
    Column {
        name: "new".into(),
        kind: Kind::Text,
        native: None,
        validity: Vec::new(),
        absent: Vec::new(),
        offsets: (0..=rows as i32).flat_map(|row| (row * 2).to_le_bytes()).collect(),
        data: b"ab".repeat(rows as usize),
    }
}

/// -1 in every row.
fn numbers(rows: u32) -> Column {
    Column { kind: Kind::Int64, offsets: Vec::new(), data: vec![0xff; rows as usize * 8], ..texts(rows) }
}
