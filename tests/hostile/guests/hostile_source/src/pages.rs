//! Pages of plain rows: sound ones, and ones with one lie.

use faucet_sdk::bindings::faucet::connector::types::{Column, Kind, Page, TableId};
use faucet_sdk::bindings::source::exports::faucet::connector::sources::SourcePage;

const ROWS: u32 = 3;

/// The rows of a sound page.
pub fn good() -> SourcePage {
    plain(page())
}

pub fn plain(page: Page) -> SourcePage {
    SourcePage { page, change: None }
}

pub fn table(name: &str) -> TableId {
    TableId { schema: Some("public".into()), name: name.into() }
}

/// Three rows of `public.orders` with a key and a note.
pub fn page() -> Page {
    let columns = vec![numbers("id", ROWS), texts("note", ROWS)];
    Page { table: table("orders"), rows: ROWS, key: vec!["id".into()], columns }
}

/// A page whose columns, kinds, key and rows depend on the call: none of it is a lie.
pub fn changing(call: u32) -> SourcePage {
    let mut page = page();
    match call {
        0 => {}
        1 => page.columns.push(texts("more", ROWS)),
        2 => page.columns[1] = numbers("note", ROWS),
        _ => page = Page { columns: vec![texts("id", 1)], rows: 1, ..page },
    }
    plain(page)
}

/// A page with one lie.
pub fn tell(mode: &str) -> SourcePage {
    let mut page = page();
    match mode {
        "rows-more" => page.rows += 1,
        "rows-fewer" => page.rows -= 1,
        "rows-of-nothing" => (page.rows, page.columns, page.key) = (u32::MAX, Vec::new(), Vec::new()),
        "rows-for-changes" => {}
        "table-empty" => page.table.name.clear(),
        "key-missing" => page.key.push("nowhere".into()),
        "key-twice" => page.key.push("id".into()),
        "name-twice" => page.columns[1].name = "id".into(),
        "name-empty" => page.columns[1].name.clear(),
        _ => tell_column(&mut page.columns[1], mode),
    }
    plain(page)
}

fn tell_column(text: &mut Column, mode: &str) {
    let last = text.offsets.len() - 4;
    match mode {
        "offsets-fall" => text.offsets[4..8].copy_from_slice(&9_i32.to_le_bytes()),
        "offsets-beyond" => text.offsets[last..].copy_from_slice(&1_000_000_i32.to_le_bytes()),
        "offsets-none" => text.offsets.clear(),
        "data-long" => text.data.push(b'x'),
        "utf8" => text.data[0] = 0xff,
        "validity-length" => text.validity = vec![0xff; 99],
        "absent-with-value" => text.absent = vec![0xff],
        "native-unnamed" => text.kind = Kind::Native,
        "json" => text.kind = Kind::Json,
        _ => panic!("there is no mode {mode}"),
    }
}

/// `ab` in every row.
pub fn texts(name: &str, rows: u32) -> Column {
    Column {
        name: name.into(),
        kind: Kind::Text,
        native: None,
        validity: Vec::new(),
        absent: Vec::new(),
        offsets: (0..=rows as i32).flat_map(|row| (row * 2).to_le_bytes()).collect(),
        data: b"ab".repeat(rows as usize),
    }
}

/// 0, 1, 2 and so on.
pub fn numbers(name: &str, rows: u32) -> Column {
    let data = (0..i64::from(rows)).flat_map(i64::to_le_bytes).collect();
    Column { kind: Kind::Int64, offsets: Vec::new(), data, ..texts(name, rows) }
}
