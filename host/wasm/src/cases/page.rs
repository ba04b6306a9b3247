//! Pages as JSON.
//!
//! Numbers are JSON numbers; a float that is none is `"NaN"`, `"Infinity"` or `"-Infinity"`. Bytes and UUIDs are hex
//! text. Dates and times are the numbers of their columns (days, microseconds). An interval is
//! `[months, days, microseconds]`. Decimals, JSON documents and native values are text. `{"absent": true}` is a value
//! that the row does not have.

use faucet_core::model::{Before, Column, ColumnBuilder, Field, Interval, Kind, Page, Schema, TableId, ValueRef};
use serde_json::{Value, json};
use std::sync::Arc;

/// A page from JSON.
///
/// # Errors
/// What is not written as it should be.
pub fn page_from_json(json: &Value) -> Result<Page, String> {
    let table = json["table"].as_str().ok_or("`table` is a name")?;
    let table = match table.split_once('.') {
        Some((schema, name)) => TableId::new(schema, name),
        None => TableId::bare(table),
    };
    let columns = json["columns"].as_array().ok_or("`columns` is a list")?;
    let columns = columns.iter().map(column).collect::<Result<Vec<_>, _>>()?;
    let (fields, columns): (Vec<Field>, Vec<Column>) = columns.into_iter().unzip();
    let rows = columns.first().map_or(0, Column::len);
    if let Some(at) = columns.iter().position(|column| column.len() != rows) {
        return Err(format!("column '{}' has {} values for {rows} rows", fields[at].name, columns[at].len()));
    }
    let index = |name: &Value| {
        let at = name.as_str().and_then(|name| fields.iter().position(|field| &*field.name == name));
        at.ok_or_else(|| format!("the key names {name}, which is no column"))
    };
    let key = json["key"].as_array().into_iter().flatten().map(index).collect::<Result<Vec<_>, _>>()?;
    Ok(Page::new(Arc::new(Schema::new(table, fields).with_key(key)), rows, columns))
}

fn column(json: &Value) -> Result<(Field, Column), String> {
    let name = json["name"].as_str().ok_or("a column has a `name`")?;
    let wanted = json["kind"].as_str().ok_or_else(|| format!("column '{name}' has a `kind`"))?;
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == wanted);
    let kind = kind.ok_or_else(|| format!("column '{name}': there is no kind '{wanted}'"))?;
    let mut field = Field::new(name, kind);
    field.native = json["native"].as_str().map(Into::into);
    let mut builder = ColumnBuilder::new(kind);
    for (row, value) in json["values"].as_array().ok_or("a column has `values`")?.iter().enumerate() {
        push(&mut builder, kind, value).ok_or_else(|| format!("column '{name}', row {row}: {value} is no {wanted}"))?;
    }
    let raw = builder.finish();
    // What a builder takes on trust (the grammar of decimals and JSON, ranges) is checked like a stranger's.
    let parts = raw.to_raw();
    let parts = faucet_core::model::RawParts {
        validity: parts.validity.into_owned(),
        absent: parts.absent.into_owned(),
        offsets: parts.offsets.into_owned(),
        data: parts.data.into_owned(),
    };
    let checked = Column::from_raw(kind, raw.len(), parts).map_err(|error| format!("column '{name}': {error}"))?;
    Ok((field, checked))
}

fn push(column: &mut ColumnBuilder, kind: Kind, json: &Value) -> Option<()> {
    let bytes;
    let uuid;
    column.push(match (kind, json) {
        (_, Value::Null) => ValueRef::Null,
        (_, Value::Object(marker)) if marker.contains_key("absent") => ValueRef::Absent,
        (Kind::Bool, _) => ValueRef::Bool(json.as_bool()?),
        (Kind::I64, _) => ValueRef::I64(json.as_i64()?),
        (Kind::U64, _) => ValueRef::U64(json.as_u64()?),
        (Kind::F32, _) => ValueRef::F32(float(json)? as f32),
        (Kind::F64, _) => ValueRef::F64(float(json)?),
        (Kind::Decimal, _) => ValueRef::Decimal(json.as_str()?),
        (Kind::Text, _) => ValueRef::Text(json.as_str()?),
        (Kind::Json, _) => ValueRef::Json(json.as_str()?),
        (Kind::Native, _) => ValueRef::Native(json.as_str()?),
        (Kind::Bytes, _) => {
            bytes = unhex(json.as_str()?)?;
            ValueRef::Bytes(&bytes)
        }
        (Kind::Uuid, _) => {
            uuid = <[u8; 16]>::try_from(unhex(&json.as_str()?.replace('-', ""))?).ok()?;
            ValueRef::Uuid(&uuid)
        }
        (Kind::Date, _) => ValueRef::Date(i32::try_from(json.as_i64()?).ok()?),
        (Kind::Time, _) => ValueRef::Time(json.as_i64()?),
        (Kind::Timestamp, _) => ValueRef::Timestamp(json.as_i64()?),
        (Kind::TimestampTz, _) => ValueRef::TimestampTz(json.as_i64()?),
        (Kind::Interval, _) => ValueRef::Interval(interval(json)?),
    });
    Some(())
}

fn float(json: &Value) -> Option<f64> {
    match json.as_str() {
        Some(word) => word.parse().ok(),
        None => json.as_f64(),
    }
}

fn interval(json: &Value) -> Option<Interval> {
    let [months, days, microseconds] = json.as_array()?.as_slice() else { return None };
    let small = |part: &Value| i32::try_from(part.as_i64()?).ok();
    Some(Interval { months: small(months)?, days: small(days)?, microseconds: microseconds.as_i64()? })
}

/// A page as JSON. A page of changes also has `ops`, what each row did, and `before`, the columns as they were.
pub fn page_to_json(page: &Page) -> Value {
    let schema = page.schema();
    let key: Vec<&str> = schema.key.iter().map(|at| &*schema.fields[*at].name).collect();
    let columns = columns_to_json(&schema.fields, page.columns(), |_| true);
    let mut out = json!({ "table": schema.table.to_string(), "key": key, "columns": columns });
    if let Some(change) = page.change() {
        out["ops"] = change.ops.iter().map(|op| op.letter()).collect();
        if let Some(Before { present, columns }) = &change.before {
            out["before"] = columns_to_json(&schema.fields, columns, |row| present.value(row)).into();
        }
    }
    out
}

/// Columns as JSON; what is not `present` is absent.
fn columns_to_json(fields: &[Field], columns: &[Column], present: impl Fn(usize) -> bool) -> Vec<Value> {
    let column = |(field, column): (&Field, &Column)| {
        let slot = |row| if present(row) { column.value(row) } else { ValueRef::Absent };
        let values: Vec<Value> = (0..column.len()).map(|row| value(slot(row))).collect();
        let mut out = json!({ "name": &*field.name, "kind": field.kind.name(), "values": values });
        if let Some(native) = &field.native {
            out["native"] = (&**native).into();
        }
        out
    };
    fields.iter().zip(columns).map(column).collect()
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Absent => json!({ "absent": true }),
        ValueRef::Null => Value::Null,
        ValueRef::Bool(v) => v.into(),
        ValueRef::I64(v) | ValueRef::Time(v) | ValueRef::Timestamp(v) | ValueRef::TimestampTz(v) => v.into(),
        ValueRef::U64(v) => v.into(),
        ValueRef::F32(v) => float_json(f64::from(v)),
        ValueRef::F64(v) => float_json(v),
        ValueRef::Decimal(v) | ValueRef::Text(v) | ValueRef::Json(v) | ValueRef::Native(v) => v.into(),
        ValueRef::Bytes(v) => hex(v).into(),
        ValueRef::Uuid(v) => hex(v).into(),
        ValueRef::Date(v) => v.into(),
        ValueRef::Interval(v) => json!([v.months, v.days, v.microseconds]),
    }
}

fn float_json(v: f64) -> Value {
    match v {
        v if v.is_nan() => "NaN".into(),
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        v => v.into(),
    }
}

/// Bytes as hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes from hex digits in pairs.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let byte = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..text.len()).step_by(2).map(byte).collect()
}
