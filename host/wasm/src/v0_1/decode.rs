//! An answer on its way out of a guest. Nothing in it is trusted: every index, length, offset and text is checked
//! before it becomes part of a page, and what it may grow to is bounded by the size of the input.

use super::bind::faucet::connector::types as wire;
use super::schema;
use super::schemas::Schemas;
use super::selection::Selection;
use crate::limits::Limits;
use crate::log::cut;
use faucet_core::model::{Column, Field, Page, RawParts, Schema};
use faucet_core::ports::{Output, Rejected};
use std::sync::Arc;

/// Rows that an output may have, however few its page has.
const ROWS_FLOOR: usize = 1024;

/// Why an answer is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// It breaks the contract: what is wrong, and where.
    Broken(String),
    /// It is too large.
    TooLarge,
}

impl Lie {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self::Broken(what.into())
    }

    pub(super) fn at(self, place: &str) -> Self {
        match self {
            Self::Broken(what) => Self::Broken(format!("{place}: {what}")),
            Self::TooLarge => Self::TooLarge,
        }
    }
}

/// What is left of what an output may have.
pub(super) struct Allowance {
    rows: usize,
    bytes: usize,
}

impl Allowance {
    fn new(page: &Page, limits: &Limits) -> Self {
        let rows = page.rows().max(ROWS_FLOOR).saturating_mul(limits.output_ratio as usize);
        Self { rows, bytes: limits.output_bytes(page.size_bytes()) }
    }

    fn take_rows(&mut self, rows: usize) -> Result<(), Lie> {
        self.rows = self.rows.checked_sub(rows).ok_or(Lie::TooLarge)?;
        Ok(())
    }

    pub(super) fn take_bytes(&mut self, bytes: usize) -> Result<(), Lie> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or(Lie::TooLarge)?;
        Ok(())
    }
}

/// Reads the answers to the pages of one transform. Schemas that repeat are shared, so that a sink which prepares
/// something for a schema does so once.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    schemas: Schemas,
}

impl Decoder {
    /// What became of `page`.
    pub(crate) fn output(&mut self, page: &Page, output: wire::Output, limits: &Limits) -> Result<Output, Lie> {
        let mut left = Allowance::new(page, limits);
        let rejected = rejected(page, output.rejected)?;
        let mut pages = Vec::with_capacity(output.pages.len().min(16));
        for (at, out) in output.pages.into_iter().enumerate() {
            let next =
                self.page(page, out, &rejected, &mut left).map_err(|lie| lie.at(&format!("output page {at}")))?;
            pages.push(next);
        }
        Ok(Output { pages, rejected })
    }

    fn page(
        &mut self,
        input: &Page,
        out: wire::PageOut,
        rejected: &[Rejected],
        left: &mut Allowance,
    ) -> Result<Page, Lie> {
        let selection = Selection::read(input, out.selection.as_deref(), out.rows)?;
        selection.check_rejected(input, rejected)?;
        left.take_rows(out.rows as usize)?;
        let (fields, columns, kept) = columns(input, out.columns, &selection, left)?;
        schema::check_names(&fields)?;
        schema::check_op(input, &fields)?;
        let key = schema::key(input, &fields, &kept, out.key)?;
        let table = schema::table(input, out.table)?;
        let schema = self.schema(input, Schema::new(table, fields).with_key(key));
        let moves = selection.moves(input, &schema, &columns);
        Ok(Page::new(schema, out.rows as usize, columns).with_moves(moves))
    }

    /// The schema, shared with the input or an earlier output if it is the same.
    fn schema(&mut self, input: &Page, schema: Schema) -> Arc<Schema> {
        if schema == **input.schema() {
            return input.schema().clone();
        }
        self.schemas.share(schema)
    }
}

/// Fields and values of an output page, and which input column (first) went where (second).
type Columns = (Vec<Field>, Vec<Column>, Vec<(usize, usize)>);

fn columns(
    input: &Page,
    out: Vec<wire::ColumnOut>,
    selection: &Selection,
    left: &mut Allowance,
) -> Result<Columns, Lie> {
    let mut fields = Vec::with_capacity(out.len());
    let mut columns = Vec::with_capacity(out.len());
    let mut kept = Vec::new();
    for (at, column) in out.into_iter().enumerate() {
        let (field, values) = match column {
            wire::ColumnOut::Input(column) => {
                let index = column.index as usize;
                let field = schema::kept(input, column).map_err(|lie| lie.at(&format!("column {at}")))?;
                kept.push((index, at));
                (field, selection.take(&input.columns()[index], left)?)
            }
            wire::ColumnOut::Buffers(column) => new_column(column, selection.rows(input))?,
        };
        fields.push(field);
        columns.push(values);
    }
    Ok((fields, columns, kept))
}

pub(super) fn new_column(column: wire::ColumnResult, rows: usize) -> Result<(Field, Column), Lie> {
    let field = schema::new_field(&column)?;
    let raw = RawParts { validity: column.validity, absent: column.absent, offsets: column.offsets, data: column.data };
    let values = Column::from_raw(field.kind, rows, raw);
    let values = values.map_err(|error| Lie::new(format!("column '{}': {error}", cut(&field.name))))?;
    Ok((field, values))
}

fn rejected(page: &Page, rejected: Vec<wire::Reject>) -> Result<Vec<Rejected>, Lie> {
    if rejected.len() > page.rows() {
        return Err(Lie::new(format!("{} rows of {} are rejected", rejected.len(), page.rows())));
    }
    let reject = |reject: wire::Reject| {
        if reject.row as usize >= page.rows() {
            return Err(Lie::new(format!("row {} of {} is rejected", reject.row, page.rows())));
        }
        Ok(Rejected { row: reject.row, reason: cut(&reject.reason) })
    };
    rejected.into_iter().map(reject).collect()
}
