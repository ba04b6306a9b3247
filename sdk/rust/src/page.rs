//! The page a transform gets: rows of one table, stored in columns.

use crate::bindings::faucet::connector::types as wire;
use crate::{Column, Error, Op, PageOut, Result, Value};

/// Name of the column that says what a row of a change-data source is. See [`Op`].
pub const OP_COLUMN: &str = "__op";

/// Rows of one table.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    wire: &'a wire::Page,
}

impl<'a> Page<'a> {
    pub(crate) fn new(wire: &'a wire::Page) -> Self {
        Self { wire }
    }

    pub(crate) fn wire(&self) -> &'a wire::Page {
        self.wire
    }

    /// Schema of the table, where the source has one.
    pub fn schema(&self) -> Option<&'a str> {
        self.wire.table.schema.as_deref()
    }

    /// Name of the table.
    pub fn table(&self) -> &'a str {
        &self.wire.table.name
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.wire.rows as usize
    }

    /// Names of the columns that identify a row; empty if the table has no key.
    pub fn key(&self) -> &'a [String] {
        &self.wire.key
    }

    /// Whether `column` is part of the key.
    pub fn is_key(&self, column: &str) -> bool {
        self.wire.key.iter().any(|key| key == column)
    }

    /// The columns in table order.
    ///
    /// # Errors
    /// If the host broke the contract and sent text that is not UTF-8.
    pub fn columns(&self) -> impl Iterator<Item = Result<Column<'a>>> {
        let rows = self.rows();
        self.wire.columns.iter().map(move |column| Column::new(column, rows))
    }

    /// The column of this name, or none if the page has no such column.
    ///
    /// # Errors
    /// If the host broke the contract and sent text that is not UTF-8.
    pub fn find(&self, name: &str) -> Result<Option<Column<'a>>> {
        let column = self.wire.columns.iter().find(|column| column.name == name);
        column.map(|column| Column::new(column, self.rows())).transpose()
    }

    /// The column of this name.
    ///
    /// # Errors
    /// If the page has no such column; the message names the table and its columns.
    pub fn column(&self, name: &str) -> Result<Column<'a>> {
        self.find(name)?.ok_or_else(|| {
            let has: Vec<&str> = self.wire.columns.iter().map(|column| column.name.as_str()).collect();
            Error::new(format!("table '{}' has no column '{name}' (it has {})", self.table(), has.join(", ")))
        })
    }

    /// What each row is, on a page from a change-data source; none on a page of plain rows.
    ///
    /// # Errors
    /// If the column `__op` holds something else than the five operations.
    pub fn ops(&self) -> Result<Option<Vec<Op>>> {
        let Some(column) = self.find(OP_COLUMN)? else {
            return Ok(None);
        };
        let ops = column.texts()?.map(|text| text.and_then(Op::parse));
        let ops: Option<Vec<Op>> = ops.collect();
        ops.map(Some).ok_or_else(|| Error::new("column '__op' holds something else than c, u, d, r and t"))
    }

    /// A view of the page by rows.
    ///
    /// # Errors
    /// If the host broke the contract and sent text that is not UTF-8.
    pub fn by_row(&self) -> Result<Rows<'a>> {
        Ok(Rows { columns: self.columns().collect::<Result<_>>()?, rows: self.rows() })
    }

    /// An output page that passes everything through, to be changed from there.
    pub fn pass(&self) -> PageOut<'a> {
        PageOut::new(*self)
    }
}

/// A page seen as rows.
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    columns: Vec<Column<'a>>,
    rows: usize,
}

impl<'a> Rows<'a> {
    /// The rows in order.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_, 'a>> {
        (0..self.rows).map(|index| Row { columns: &self.columns, index })
    }
}

/// One row, borrowed from its page.
#[derive(Debug, Clone, Copy)]
pub struct Row<'r, 'a> {
    columns: &'r [Column<'a>],
    index: usize,
}

impl<'r, 'a> Row<'r, 'a> {
    /// Number of the row in its page.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The value of a column; absent if there is no such column.
    pub fn get(&self, column: &str) -> Value<'a> {
        let column = self.columns.iter().find(|c| c.name() == column);
        column.map_or(Value::Absent, |column| column.value(self.index))
    }

    /// Names and values in column order.
    pub fn values(&self) -> impl Iterator<Item = (&'a str, Value<'a>)> + use<'r, 'a> {
        let index = self.index;
        self.columns.iter().map(move |column| (column.name(), column.value(index)))
    }
}
