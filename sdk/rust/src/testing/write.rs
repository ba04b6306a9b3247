//! A page as JSON.

use crate::bindings::faucet::connector::types as wire;
use crate::{Column, Value, kind_name};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;

/// A page as JSON, in the form [`page_from_json`](super::page_from_json) reads.
///
/// # Panics
/// If a text column is not UTF-8.
pub fn page_to_json(page: &wire::Page) -> Json {
    let table = match &page.table.schema {
        Some(schema) => format!("{schema}.{}", page.table.name),
        None => page.table.name.clone(),
    };
    let columns: Vec<Json> = page.columns.iter().map(|column| self::column(column, page.rows as usize)).collect();
    json!({ "table": table, "key": page.key, "columns": columns })
}

fn column(wire: &wire::Column, rows: usize) -> Json {
    let column = Column::new(wire, rows).expect("text columns are UTF-8");
    let values: Vec<Json> = column.values().map(value).collect();
    let mut out = json!({ "name": column.name(), "kind": kind_name(column.kind()), "values": values });
    if let Some(native) = column.native() {
        out["native"] = native.into();
    }
    out
}

fn value(value: Value<'_>) -> Json {
    match value {
        Value::Absent => json!({ "absent": true }),
        Value::Null => Json::Null,
        Value::Boolean(v) => v.into(),
        Value::Int64(v) | Value::Time(v) | Value::Timestamp(v) | Value::Timestamptz(v) => v.into(),
        Value::Uint64(v) => v.into(),
        Value::Float32(v) => float(f64::from(v)),
        Value::Float64(v) => float(v),
        Value::Decimal(v) | Value::Text(v) | Value::Json(v) | Value::Native(v) => v.into(),
        Value::Bytes(v) => hex(v).into(),
        Value::Uuid(v) => hex(&v).into(),
        Value::Date(v) => v.into(),
        Value::Interval(v) => json!([v.months, v.days, v.microseconds]),
    }
}

fn float(v: f64) -> Json {
    match v {
        v if v.is_nan() => "NaN".into(),
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        v => v.into(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
