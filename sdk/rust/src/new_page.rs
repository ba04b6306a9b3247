//! Rows that a source hands out.

use crate::bindings::faucet::connector::types as wire;
use crate::bindings::source::exports::faucet::connector::sources as source;
use crate::bits::Bitmap;
use crate::{ColumnBuilder, Error, Op, Result};

/// Rows of one table on their way out of a source, stored in columns.
///
/// ```
/// use faucet_sdk::{ColumnBuilder, Kind, NewPage, Value};
/// let mut id = ColumnBuilder::new("id", Kind::Int64);
/// id.push(Value::Int64(1))?;
/// let page = NewPage::new("orders").key(["id"]).column(id);
/// assert_eq!(page.len(), 1);
/// # Ok::<(), faucet_sdk::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct NewPage {
    schema: Option<String>,
    table: String,
    key: Vec<String>,
    columns: Vec<ColumnBuilder>,
    changes: Option<Changes>,
}

impl NewPage {
    /// No rows of a table yet.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into(), ..Self::default() }
    }

    /// Names the table's schema.
    #[must_use]
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    /// Names the columns that identify a row, in key order.
    #[must_use]
    pub fn key<I: IntoIterator<Item: Into<String>>>(mut self, key: I) -> Self {
        self.key = key.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a column. All columns need the same number of values.
    #[must_use]
    pub fn column(mut self, column: ColumnBuilder) -> Self {
        self.columns.push(column);
        self
    }

    /// Says what each row did: for a source of changes.
    #[must_use]
    pub fn changes(mut self, changes: Changes) -> Self {
        self.changes = Some(changes);
        self
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, ColumnBuilder::rows)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn finish(self) -> Result<source::SourcePage> {
        let rows = self.len();
        if let Some(column) = self.columns.iter().find(|column| column.rows() != rows) {
            let (name, has) = (column.name(), column.rows());
            return Err(Error::new(format!("column '{name}' has {has} values, and the first one has {rows}")));
        }
        let change = self.changes.map(|changes| changes.finish(rows)).transpose()?;
        let table = wire::TableId { schema: self.schema, name: self.table };
        let columns = self.columns.into_iter().map(ColumnBuilder::finish).collect();
        let rows = u32::try_from(rows).map_err(|_| Error::new("a page holds less than 2^32 rows"))?;
        Ok(source::SourcePage { page: wire::Page { table, rows, key: self.key, columns }, change })
    }
}

/// What the rows of a page did. The key of a deleted row is in its before-image; its other columns are absent.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    ops: Vec<u8>,
    width: usize,
    positions: Vec<u8>,
    committed_at: Vec<u8>,
    present: Vec<bool>,
    before: Vec<ColumnBuilder>,
}

impl Changes {
    /// No changes yet; the position of each has `width` bytes, whose order is the order of the stream.
    pub fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// Adds a change: what it did, where it stands, when it was committed (microseconds since 1970-01-01 UTC), and
    /// whether it has a before-image.
    ///
    /// # Errors
    /// If the position has another width.
    pub fn push(&mut self, op: Op, position: &[u8], committed_at: i64, has_before: bool) -> Result<()> {
        if position.len() != self.width {
            return Err(Error::new(format!("a position of {} bytes, and its page has {}", position.len(), self.width)));
        }
        self.ops.extend_from_slice(op.as_str().as_bytes());
        self.positions.extend_from_slice(position);
        self.committed_at.extend_from_slice(&committed_at.to_le_bytes());
        self.present.push(has_before);
        Ok(())
    }

    /// The rows as they were before: one column for each of the page, in the same order and of the same kind. What is
    /// not known is absent.
    #[must_use]
    pub fn before(mut self, columns: Vec<ColumnBuilder>) -> Self {
        self.before = columns;
        self
    }

    fn finish(self, rows: usize) -> Result<source::Change> {
        if self.ops.len() != rows {
            return Err(Error::new(format!("{} changes for {rows} rows", self.ops.len())));
        }
        let before = self.present.contains(&true).then(|| {
            let mut present = Bitmap::new(false);
            self.present.iter().for_each(|has| present.push(*has));
            let columns = self.before.into_iter().map(ColumnBuilder::finish).collect();
            source::Before { present: present.into_full_bits(), columns }
        });
        let position_width = u32::try_from(self.width).map_err(|_| Error::new("a position is a few bytes"))?;
        let Self { ops, positions, committed_at, .. } = self;
        Ok(source::Change { ops, position_width, positions, committed_at, before })
    }
}
