//! How pages of one schema are written to a table.

use faucet_core::error::{Error, Result};
use faucet_core::model::{Kind, Schema};
use faucet_core::ports::OnDrift;
use std::sync::Arc;

use super::fit::{Fit, fit};
use super::target::{Target, TargetColumn};
use super::{ColumnMapping, NOT_JSONB, SinkConfig};
use crate::postgres::encode::direct;
use crate::postgres::error::COLUMN_MISSING;
use crate::postgres::name::quoted;
use crate::postgres::types::Wire;
use crate::sql;

/// What goes where for pages of one schema.
#[derive(Debug)]
pub struct Plan {
    /// The schema it was made for.
    pub of: Arc<Schema>,
    /// The destination's columns that are written, in order.
    pub writes: Vec<Write>,
    /// The format they are copied in.
    pub format: Format,
    /// The page's column that says what a row does.
    pub marker: Option<usize>,
    /// The page's columns that have no place, where rows are written without them.
    pub left_out: Vec<usize>,
}

/// One column of the destination and what goes into it.
#[derive(Debug, Clone)]
pub struct Write {
    /// The destination's column.
    pub column: TargetColumn,
    /// Where its values come from.
    pub source: Origin,
    /// Whether it is one of the key's columns.
    pub key: bool,
    /// What becomes of the values in it.
    pub fit: Fit,
}

/// Where a written column's values come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The page's column at this index.
    Column(usize),
    /// The whole row as a JSON object.
    Row,
}

/// The two formats of COPY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Every column has a direct form.
    Binary,
    /// The server parses.
    Text,
}

impl Format {
    /// As an option of COPY.
    pub fn sql(self) -> &'static str {
        match self {
            Format::Binary => "FORMAT binary",
            Format::Text => "FORMAT text",
        }
    }
}

impl Plan {
    /// Plans pages of `schema` into `target`.
    ///
    /// # Errors
    /// `postgres.column_missing` for a column that the table lacks, `postgres.not_jsonb`.
    pub fn new(config: &SinkConfig, on_drift: OnDrift, target: &Target, schema: &Arc<Schema>) -> Result<Self> {
        let marker = config.delete_marker.as_ref().and_then(|m| schema.index_of(&m.field));
        let (writes, left_out) = match config.column_mapping {
            ColumnMapping::AutoMap => by_name(config, on_drift, target, schema, marker)?,
            ColumnMapping::Jsonb => (as_json(config, target, schema)?, Vec::new()),
        };
        let binary = writes.iter().all(|w| w.wire(schema).is_some());
        let format = if binary { Format::Binary } else { Format::Text };
        Ok(Self { of: schema.clone(), writes, format, marker, left_out })
    }
}

impl Write {
    /// The binary form of the values at the destination, if they have a direct one.
    pub fn wire(&self, schema: &Schema) -> Option<Wire> {
        let kind = match self.source {
            Origin::Column(index) => schema.fields[index].kind,
            Origin::Row => Kind::Json,
        };
        self.column.column_type.wire.filter(|wire| direct(kind, *wire))
    }

    /// Its name as SQL.
    pub fn sql(&self) -> String {
        quoted(&self.column.name)
    }
}

fn by_name(
    config: &SinkConfig,
    on_drift: OnDrift,
    target: &Target,
    schema: &Schema,
    marker: Option<usize>,
) -> Result<(Vec<Write>, Vec<usize>)> {
    let (mut writes, mut left_out) = (Vec::new(), Vec::new());
    for (index, field) in schema.fields.iter().enumerate().filter(|(index, _)| Some(*index) != marker) {
        let column = match target.column(&field.name) {
            Some(column) => column,
            None if on_drift.leaves_out() && !config.key.iter().any(|k| **k == *field.name) => {
                left_out.push(index);
                continue;
            }
            None => return Err(missing(target, &field.name)),
        };
        // K4: the server computes it from the others.
        if !column.generated {
            let (key, fit) = (config.key.contains(&column.name), fit(field, &column.column_type));
            writes.push(Write { column: column.clone(), source: Origin::Column(index), key, fit });
        }
    }
    let names: Vec<&str> = left_out.iter().map(|&index| &*schema.fields[index].name).collect();
    sql::tell(on_drift, &target.sql(), &names);
    Ok((writes, left_out))
}

fn as_json(config: &SinkConfig, target: &Target, schema: &Schema) -> Result<Vec<Write>> {
    let mut writes = Vec::new();
    for name in &config.key {
        let column = target.column(name).ok_or_else(|| missing(target, name))?;
        if let Some(index) = schema.index_of(name) {
            let fit = fit(&schema.fields[index], &column.column_type);
            writes.push(Write { column: column.clone(), source: Origin::Column(index), key: true, fit });
        }
    }
    let name = config.jsonb_column();
    let column = target.column(name).ok_or_else(|| missing(target, name))?;
    if column.column_type.wire != Some(Wire::Jsonb) {
        let what = format!("column \"{name}\" of {} is {}, not jsonb", target.sql(), column.column_type.name);
        return Err(Error::new(&NOT_JSONB, what).hint("make it jsonb, or name another column in `jsonb_column`"));
    }
    writes.push(Write { column: column.clone(), source: Origin::Row, key: false, fit: Fit::Exact });
    Ok(writes)
}

fn missing(target: &Target, name: &str) -> Error {
    let table = target.sql();
    let error = Error::new(&COLUMN_MISSING, format!("{table} has no column \"{name}\""));
    let twin = target.columns.iter().find(|c| c.name.to_lowercase() == name.to_lowercase());
    match (twin, name) {
        (Some(twin), _) => error.hint(format!("it has \"{}\": names differ in case; rename one of them", twin.name)),
        (None, "__op") => error.hint("set `delete_marker: { field: __op, values: [d] }` and `write_mode: upsert`"),
        (None, _) => error.hint(format!(
            "set schema: {{ on_drift: evolve }}, or run ALTER TABLE {table} ADD COLUMN {} ..",
            quoted(name)
        )),
    }
}
