//! Runs a transform natively over pages written as JSON, so that authors test without a host.
//!
//! A page looks like this; a value is written as JSON writes it, `{"absent": true}` marks an absent one, and values
//! that JSON has no form for are text (see [`page_from_json`]):
//!
//! ```json
//! { "table": "public.customers", "key": ["id"], "columns": [
//!   { "name": "id", "kind": "int64", "values": [1, 2, 3] },
//!   { "name": "email", "kind": "text", "values": ["ada@example.com", null, { "absent": true }] } ] }
//! ```

mod cases;
mod read;
mod write;

pub use cases::run_cases;
pub use read::page_from_json;
pub use write::page_to_json;

use crate::bindings::faucet::connector::types as wire;
use crate::{Error, Page, Result, Transform, component};
use serde_json::{Value as Json, json};

/// Opens `T` with a configuration and applies it to one page. The answer has `pages`, written like the input, and
/// `rejected` with the number and reason of each failed row.
///
/// # Errors
/// As the transform says, or if the page is not written as it should be.
pub fn run<T: Transform>(config: &Json, page: &Json) -> Result<Json> {
    let mut transform = component::open::<T>(&config.to_string())?;
    let page = page_from_json(page)?;
    let out = component::apply(&mut transform, &page)?;
    let pages: Vec<Json> = out.pages.iter().map(|out| page_to_json(&resolve(&page, out))).collect();
    let rejected: Vec<Json> = out.rejected.iter().map(|r| json!({ "row": r.row, "reason": r.reason })).collect();
    Ok(json!({ "pages": pages, "rejected": rejected }))
}

/// Opens `T` with a configuration, to see what it says about it.
///
/// # Errors
/// As the transform says.
pub fn open<T: Transform>(config: &Json) -> Result<T> {
    component::open(&config.to_string())
}

/// A page of [`page_from_json`] as a sink or a transform gets it.
pub fn view(page: &wire::Page) -> Page<'_> {
    Page::new(page)
}

/// The JSON Schema that `T` publishes for its configuration.
pub fn config_schema<T: Transform>() -> Json {
    serde_json::from_str(&component::describe::<T>().config_schema).expect("a schema is JSON")
}

/// What the host makes of an output page: passed-through columns filled in.
fn resolve(input: &wire::Page, out: &wire::PageOut) -> wire::Page {
    let all: Vec<u32> = (0..input.rows).collect();
    let selection = out.selection.as_ref().map(|bytes| indices(bytes));
    let rows = selection.as_ref().unwrap_or(&all);
    assert_eq!(rows.len(), out.rows as usize, "`rows` and `selection` disagree");
    let columns = out.columns.iter().map(|column| match column {
        wire::ColumnOut::Buffers(column) => column.clone(),
        wire::ColumnOut::Input(kept) => take(input, kept, rows),
    });
    let renamed = |key: &String| {
        let kept = out.columns.iter().find_map(|column| match column {
            wire::ColumnOut::Input(kept) if input.columns[kept.index as usize].name == *key => kept.name.clone(),
            wire::ColumnOut::Input(_) | wire::ColumnOut::Buffers(_) => None,
        });
        kept.unwrap_or_else(|| key.clone())
    };
    wire::Page {
        table: out.table.clone().unwrap_or_else(|| input.table.clone()),
        rows: out.rows,
        key: out.key.clone().unwrap_or_else(|| input.key.iter().map(renamed).collect()),
        columns: columns.collect(),
    }
}

fn take(input: &wire::Page, kept: &wire::Kept, rows: &[u32]) -> wire::Column {
    let from = &input.columns[kept.index as usize];
    let view = crate::Column::new(from, input.rows as usize).expect("the input page is valid");
    let mut out = crate::ColumnBuilder::like(&view).named(kept.name.as_ref().unwrap_or(&from.name));
    for row in rows {
        out.push(view.value(*row as usize)).expect("it is of the same kind");
    }
    out.finish()
}

fn indices(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn unreadable(what: &str, is: &Json) -> Error {
    Error::new(format!("expected {what}, found {is}"))
}
