//! A page on its way into a guest: borrowed from its buffers, so that the only copy is the one into the guest's memory.

use super::bind::faucet::connector::types as wire;
use faucet_core::model::{Field, Kind, Page, RawColumn};

/// The buffers of a page's columns, lent.
pub(crate) fn lend(page: &Page) -> Vec<RawColumn<'_>> {
    page.columns().iter().map(faucet_core::model::Column::to_raw).collect()
}

/// Size of the buffers, in bytes.
pub(crate) fn size(columns: &[RawColumn<'_>]) -> usize {
    columns.iter().map(|c| c.validity.len() + c.absent.len() + c.offsets.len() + c.data.len()).sum()
}

/// The columns as they cross.
pub(crate) fn columns<'a>(page: &'a Page, lent: &'a [RawColumn<'a>]) -> Vec<wire::ColumnParam<'a>> {
    page.schema().fields.iter().zip(lent).map(|(field, raw)| column(field, raw)).collect()
}

/// The page as it crosses.
pub(crate) fn page<'a>(
    page: &'a Page,
    columns: &'a [wire::ColumnParam<'a>],
    key: &'a [&'a str],
) -> wire::PageParam<'a> {
    let table = &page.schema().table;
    let table = wire::TableIdParam { schema: table.schema.as_deref(), name: &table.name };
    wire::PageParam { table, rows: page.rows() as u32, key, columns }
}

/// Names of the key columns.
pub(crate) fn key(page: &Page) -> Vec<&str> {
    let schema = page.schema();
    schema.key.iter().map(|&index| &*schema.fields[index].name).collect()
}

fn column<'a>(field: &'a Field, raw: &'a RawColumn<'a>) -> wire::ColumnParam<'a> {
    wire::ColumnParam {
        name: &field.name,
        kind: kind(field.kind),
        native: field.native.as_deref(),
        validity: &raw.validity,
        absent: &raw.absent,
        offsets: &raw.offsets,
        data: &raw.data,
    }
}

fn kind(kind: Kind) -> wire::Kind {
    match kind {
        Kind::Bool => wire::Kind::Boolean,
        Kind::I64 => wire::Kind::Int64,
        Kind::U64 => wire::Kind::Uint64,
        Kind::F32 => wire::Kind::Float32,
        Kind::F64 => wire::Kind::Float64,
        Kind::Decimal => wire::Kind::Decimal,
        Kind::Text => wire::Kind::Text,
        Kind::Bytes => wire::Kind::Bytes,
        Kind::Date => wire::Kind::Date,
        Kind::Time => wire::Kind::Time,
        Kind::Timestamp => wire::Kind::Timestamp,
        Kind::TimestampTz => wire::Kind::Timestamptz,
        Kind::Interval => wire::Kind::Interval,
        Kind::Uuid => wire::Kind::Uuid,
        Kind::Json => wire::Kind::Json,
        Kind::Native => wire::Kind::Native,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_spelled_as_it_is_in_wit() {
        for known in Kind::ALL {
            let spelled = format!("{:?}", kind(known)).to_lowercase();
            assert_eq!(spelled.rsplit(':').next(), Some(known.name()));
        }
    }
}
