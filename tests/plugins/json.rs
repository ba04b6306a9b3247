//! Pages of the host to and from the JSON of golden cases, by way of the SDK's own reading and writing.

use faucet_core::model::{Column, Field, Kind, Page, RawParts, Schema, TableId};
use faucet_sdk::bindings::faucet::connector::types as wire;
use faucet_sdk::testing::{page_from_json, page_to_json};
use serde_json::Value;
use std::sync::Arc;

/// The kinds of both sides, in the same order.
const KINDS: [(Kind, wire::Kind); 16] = [
    (Kind::Bool, wire::Kind::Boolean),
    (Kind::I64, wire::Kind::Int64),
    (Kind::U64, wire::Kind::Uint64),
    (Kind::F32, wire::Kind::Float32),
    (Kind::F64, wire::Kind::Float64),
    (Kind::Decimal, wire::Kind::Decimal),
    (Kind::Text, wire::Kind::Text),
    (Kind::Bytes, wire::Kind::Bytes),
    (Kind::Date, wire::Kind::Date),
    (Kind::Time, wire::Kind::Time),
    (Kind::Timestamp, wire::Kind::Timestamp),
    (Kind::TimestampTz, wire::Kind::Timestamptz),
    (Kind::Interval, wire::Kind::Interval),
    (Kind::Uuid, wire::Kind::Uuid),
    (Kind::Json, wire::Kind::Json),
    (Kind::Native, wire::Kind::Native),
];

/// Why a page of a case can't be one of the host.
pub type Unfit = String;

pub fn read(json: &Value) -> Result<Page, Unfit> {
    let page = page_from_json(json).unwrap();
    let rows = page.rows as usize;
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    for column in page.columns {
        let kind = KINDS.iter().find(|(_, wire)| *wire == column.kind).unwrap().0;
        let mut field = Field::new(column.name.as_str(), kind);
        field.native = column.native.as_deref().map(Into::into);
        fields.push(field);
        let raw =
            RawParts { validity: column.validity, absent: column.absent, offsets: column.offsets, data: column.data };
        columns.push(Column::from_raw(kind, rows, raw).map_err(|error| error.to_string())?);
    }
    let table = TableId { schema: page.table.schema.map(Into::into), name: page.table.name.into() };
    let key = page.key.iter().map(|name| fields.iter().position(|field| &*field.name == name).unwrap()).collect();
    Ok(Page::new(Arc::new(Schema::new(table, fields).with_key(key)), rows, columns))
}

pub fn write(page: &Page) -> Value {
    let schema = page.schema();
    let column = |(field, column): (&Field, &Column)| {
        let raw = column.to_raw();
        wire::Column {
            name: field.name.to_string(),
            kind: KINDS.iter().find(|(kind, _)| *kind == field.kind).unwrap().1,
            native: field.native.as_deref().map(Into::into),
            validity: raw.validity.into_owned(),
            absent: raw.absent.into_owned(),
            offsets: raw.offsets.into_owned(),
            data: raw.data.into_owned(),
        }
    };
    let table =
        wire::TableId { schema: schema.table.schema.as_deref().map(Into::into), name: schema.table.name.to_string() };
    page_to_json(&wire::Page {
        table,
        rows: page.rows() as u32,
        key: schema.key.iter().map(|index| schema.fields[*index].name.to_string()).collect(),
        columns: schema.fields.iter().zip(page.columns()).map(column).collect(),
    })
}
