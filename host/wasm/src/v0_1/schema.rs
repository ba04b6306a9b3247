//! The schema of an output page: names, kinds, table and key, as the guest says and as they may be.

use super::bind::faucet::connector::types as wire;
use super::decode::Lie;
use crate::log::cut;
use faucet_core::model::{Field, Kind, Page, TableId};
use std::collections::HashSet;

/// Name of the column that says what a row of a change-data source is.
pub(super) const OP: &str = "__op";

/// The field of an input column that is passed through.
pub(super) fn kept(input: &Page, kept: wire::Kept) -> Result<Field, Lie> {
    let fields = &input.schema().fields;
    let field = fields.get(kept.index as usize);
    let field = field.ok_or_else(|| Lie::new(format!("it names input column {} of {}", kept.index, fields.len())))?;
    let mut field = field.clone();
    if let Some(name) = kept.name {
        field.name = name.into();
    }
    Ok(field)
}

/// The field of a new column.
pub(super) fn new_field(column: &wire::ColumnResult) -> Result<Field, Lie> {
    let kind = kind(column.kind);
    if kind == Kind::Native && column.native.is_none() {
        return Err(Lie::new(format!("column '{}' is of kind native and does not name its type", cut(&column.name))));
    }
    let native = column.native.as_deref().map(Into::into);
    Ok(Field { name: column.name.as_str().into(), kind, native, nullable: true, fill: None, labels: None })
}

/// Names must be there and unique.
pub(super) fn check_names(fields: &[Field]) -> Result<(), Lie> {
    let mut seen = HashSet::with_capacity(fields.len());
    for field in fields {
        if field.name.is_empty() {
            return Err(Lie::new("a column has no name"));
        }
        if !seen.insert(&*field.name) {
            return Err(Lie::new(format!("two columns are named '{}'", cut(&field.name))));
        }
    }
    Ok(())
}

/// Without its `__op`, a delete would look like a row.
pub(super) fn check_op(input: &Page, fields: &[Field]) -> Result<(), Lie> {
    if input.schema().index_of(OP).is_none() {
        return Ok(());
    }
    match fields.iter().find(|field| &*field.name == OP) {
        Some(field) if field.kind == Kind::Text => Ok(()),
        Some(_) => Err(Lie::new("column '__op' is not text any more")),
        None => Err(Lie::new("column '__op' is gone: its rows could not be told from deletes")),
    }
}

/// The key: the names the guest gives, or the input's key columns under their new names. If one of those is gone, the
/// rest does not identify a row, and there is no key.
pub(super) fn key(
    input: &Page,
    fields: &[Field],
    kept: &[(usize, usize)],
    given: Option<Vec<String>>,
) -> Result<Vec<usize>, Lie> {
    let named = |name: &str| fields.iter().position(|field| &*field.name == name);
    if let Some(names) = given {
        let index = |name: String| {
            named(&name).ok_or_else(|| Lie::new(format!("the key names column '{}', which is not there", cut(&name))))
        };
        return names.into_iter().map(index).collect();
    }
    let schema = input.schema();
    let follow = |&index: &usize| {
        let moved = kept.iter().find(|(from, _)| *from == index).map(|(_, to)| *to);
        moved.or_else(|| named(&schema.fields[index].name))
    };
    Ok(schema.key.iter().map(follow).collect::<Option<Vec<_>>>().unwrap_or_default())
}

/// The table: the one the guest gives, or the input's.
pub(super) fn table(input: &Page, given: Option<wire::TableIdResult>) -> Result<TableId, Lie> {
    match given {
        None => Ok(input.schema().table.clone()),
        Some(table) if table.name.is_empty() => Err(Lie::new("its table has no name")),
        Some(table) => Ok(TableId { schema: table.schema.map(Into::into), name: table.name.into() }),
    }
}

fn kind(kind: wire::Kind) -> Kind {
    match kind {
        wire::Kind::Boolean => Kind::Bool,
        wire::Kind::Int64 => Kind::I64,
        wire::Kind::Uint64 => Kind::U64,
        wire::Kind::Float32 => Kind::F32,
        wire::Kind::Float64 => Kind::F64,
        wire::Kind::Decimal => Kind::Decimal,
        wire::Kind::Text => Kind::Text,
        wire::Kind::Bytes => Kind::Bytes,
        wire::Kind::Date => Kind::Date,
        wire::Kind::Time => Kind::Time,
        wire::Kind::Timestamp => Kind::Timestamp,
        wire::Kind::Timestamptz => Kind::TimestampTz,
        wire::Kind::Interval => Kind::Interval,
        wire::Kind::Uuid => Kind::Uuid,
        wire::Kind::Json => Kind::Json,
        wire::Kind::Native => Kind::Native,
    }
}
