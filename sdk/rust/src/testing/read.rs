//! A page from JSON.

use super::unreadable;
use crate::bindings::faucet::connector::types as wire;
use crate::{ColumnBuilder, Error, Interval, Kind, Result, Value, kind_name};
use serde_json::Value as Json;

/// A page from JSON, in the form the [module](super) shows.
///
/// Numbers are JSON numbers; a float that is none is `"NaN"`, `"Infinity"` or `"-Infinity"`. Bytes and UUIDs are hex
/// text. Dates and times are the numbers of their columns (days, microseconds). An interval is
/// `[months, days, microseconds]`. JSON documents are text.
///
/// # Errors
/// If the page is not written so; the message says where.
pub fn page_from_json(page: &Json) -> Result<wire::Page> {
    let table = page["table"].as_str().ok_or_else(|| unreadable("a table name", &page["table"]))?;
    let (schema, name) = match table.split_once('.') {
        Some((schema, name)) => (Some(schema.to_owned()), name),
        None => (None, table),
    };
    let columns = list(&page["columns"])?.iter().map(column).collect::<Result<Vec<_>>>()?;
    let rows = columns.first().map_or(0, |(_, rows)| *rows);
    if let Some((column, has)) = columns.iter().find(|(_, has)| *has != rows) {
        return Err(Error::new(format!("column '{}' has {has} values for {rows} rows", column.name)));
    }
    let key = page.get("key").map_or(Ok(Vec::new()), names)?;
    let table = wire::TableId { schema, name: name.to_owned() };
    Ok(wire::Page { table, rows: rows as u32, key, columns: columns.into_iter().map(|(column, _)| column).collect() })
}

fn list(json: &Json) -> Result<&Vec<Json>> {
    json.as_array().ok_or_else(|| unreadable("a list", json))
}

fn names(json: &Json) -> Result<Vec<String>> {
    list(json)?.iter().map(|name| Ok(text(name)?.to_owned())).collect()
}

fn text(json: &Json) -> Result<&str> {
    json.as_str().ok_or_else(|| unreadable("text", json))
}

fn column(json: &Json) -> Result<(wire::Column, usize)> {
    let kind = kind(text(&json["kind"])?)?;
    let mut out = ColumnBuilder::new(text(&json["name"])?, kind);
    if let Some(native) = json.get("native") {
        out = out.native(text(native)?);
    }
    for value in list(&json["values"])? {
        push(&mut out, kind, value)?;
    }
    let rows = out.rows();
    Ok((out.finish(), rows))
}

fn kind(name: &str) -> Result<Kind> {
    let known = (0..=15).map(|at| ALL[at]).find(|kind| kind_name(*kind) == name);
    known.ok_or_else(|| Error::new(format!("there is no kind '{name}'")))
}

const ALL: [Kind; 16] = [
    Kind::Boolean,
    Kind::Int64,
    Kind::Uint64,
    Kind::Float32,
    Kind::Float64,
    Kind::Decimal,
    Kind::Text,
    Kind::Bytes,
    Kind::Date,
    Kind::Time,
    Kind::Timestamp,
    Kind::Timestamptz,
    Kind::Interval,
    Kind::Uuid,
    Kind::Json,
    Kind::Native,
];

fn push(out: &mut ColumnBuilder, kind: Kind, json: &Json) -> Result<()> {
    let bytes;
    let value = match (kind, json) {
        (_, Json::Null) => Value::Null,
        (_, Json::Object(marker)) if marker.contains_key("absent") => Value::Absent,
        (Kind::Boolean, Json::Bool(v)) => Value::Boolean(*v),
        (Kind::Boolean, _) => return Err(unreadable("true or false", json)),
        (Kind::Int64, _) => Value::Int64(int(json)?),
        (Kind::Uint64, _) => Value::Uint64(json.as_u64().ok_or_else(|| unreadable("an unsigned integer", json))?),
        (Kind::Float32, _) => Value::Float32(float(json)? as f32),
        (Kind::Float64, _) => Value::Float64(float(json)?),
        (Kind::Decimal, _) => Value::Decimal(text(json)?),
        (Kind::Text, _) => Value::Text(text(json)?),
        (Kind::Bytes, _) => {
            bytes = hex(text(json)?)?;
            Value::Bytes(&bytes)
        }
        (Kind::Date, _) => Value::Date(i32::try_from(int(json)?).map_err(|_| unreadable("days", json))?),
        (Kind::Time, _) => Value::Time(int(json)?),
        (Kind::Timestamp, _) => Value::Timestamp(int(json)?),
        (Kind::Timestamptz, _) => Value::Timestamptz(int(json)?),
        (Kind::Interval, _) => Value::Interval(interval(json)?),
        (Kind::Uuid, _) => {
            let bytes = hex(&text(json)?.replace('-', ""))?;
            Value::Uuid(bytes.try_into().map_err(|_| unreadable("a UUID", json))?)
        }
        (Kind::Json, _) => Value::Json(text(json)?),
        (Kind::Native, _) => Value::Native(text(json)?),
    };
    out.push(value)
}

fn int(json: &Json) -> Result<i64> {
    json.as_i64().ok_or_else(|| unreadable("an integer", json))
}

fn float(json: &Json) -> Result<f64> {
    match json.as_str() {
        Some(word) => word.parse().map_err(|_| unreadable("a number", json)),
        None => json.as_f64().ok_or_else(|| unreadable("a number", json)),
    }
}

fn interval(json: &Json) -> Result<Interval> {
    let parts = list(json)?.iter().map(int).collect::<Result<Vec<_>>>()?;
    let small = |part: i64| i32::try_from(part).map_err(|_| unreadable("a smaller number", json));
    match parts[..] {
        [months, days, microseconds] => Ok(Interval { months: small(months)?, days: small(days)?, microseconds }),
        _ => Err(unreadable("[months, days, microseconds]", json)),
    }
}

fn hex(text: &str) -> Result<Vec<u8>> {
    let digit = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes = (0..text.len()).step_by(2).map(digit).collect::<Option<Vec<u8>>>();
    bytes.ok_or_else(|| Error::new("expected hex digits in pairs"))
}
