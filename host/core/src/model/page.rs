//! Pages: rows or changes of one table.

use arrow_array::UInt32Array;
use arrow_buffer::BooleanBuffer;
use std::sync::Arc;

use super::{Column, Positions, Schema, ValueRef};

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// The row was read by a snapshot.
    Read,
    /// The row was inserted.
    Insert,
    /// The row was updated.
    Update,
    /// The row was deleted; only the before-image has values.
    Delete,
    /// The whole table was emptied; no image has values.
    Truncate,
}

impl Op {
    /// The letter that stands for it in envelopes and in `__op`.
    pub fn letter(self) -> &'static str {
        match self {
            Op::Read => "r",
            Op::Insert => "c",
            Op::Update => "u",
            Op::Delete => "d",
            Op::Truncate => "t",
        }
    }
}

/// Before-images of a page of changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Before {
    /// Which changes have one. The slots of the others are absent.
    pub present: BooleanBuffer,
    /// The same fields as the page's columns.
    pub columns: Vec<Column>,
}

/// What a page of changes knows beyond the after-images in its columns. Every part has one entry per row (M1).
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What each change did.
    pub ops: Vec<Op>,
    /// Where each change stands (M4).
    pub positions: Positions,
    /// When its transaction was committed: microseconds since the Unix epoch, by the source's clock.
    pub committed_at: Vec<i64>,
    /// Before-images, if any change has one.
    pub before: Option<Before>,
}

impl Change {
    /// Whether the change in `row` carries a before-image.
    pub fn has_before(&self, row: usize) -> bool {
        self.before.as_ref().is_some_and(|b| b.present.value(row))
    }

    fn map(
        &self,
        positions: Positions,
        rows: impl Iterator<Item = usize> + Clone,
        pick: impl Fn(&Column) -> Column,
    ) -> Self {
        Self {
            ops: rows.clone().map(|r| self.ops[r]).collect(),
            positions,
            committed_at: rows.clone().map(|r| self.committed_at[r]).collect(),
            before: self.before.as_ref().map(|b| Before {
                present: rows.map(|r| b.present.value(r)).collect(),
                columns: b.columns.iter().map(pick).collect(),
            }),
        }
    }
}

/// Rows of one table under one schema, stored in columns.
///
/// A page of plain rows has no [`Change`]; a page of changes holds after-images in its columns (absent for a delete).
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    schema: Arc<Schema>,
    rows: usize,
    columns: Vec<Column>,
    change: Option<Box<Change>>,
    moves: Vec<Move>,
}

/// A changed key, unwrapped into a delete of the old key and an upsert of the new one in the same page.
///
/// A sink needs the pair when the upsert has absent slots: their values are those of the row under the old key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// The row that deletes the old key.
    pub from: u32,
    /// The row, later in the page, that upserts the new key.
    pub to: u32,
}

impl Page {
    /// A page of plain rows.
    ///
    /// # Panics
    /// When the columns don't match the schema in number and kind, or a column doesn't have `rows` slots (M1).
    pub fn new(schema: Arc<Schema>, rows: usize, columns: Vec<Column>) -> Self {
        Self::assemble(schema, rows, columns, None)
    }

    /// A page of changes.
    ///
    /// # Panics
    /// As [`Page::new`]; also when a part of `change` doesn't have `rows` entries.
    pub fn of_changes(schema: Arc<Schema>, rows: usize, columns: Vec<Column>, change: Change) -> Self {
        Self::assemble(schema, rows, columns, Some(change))
    }

    pub(super) fn assemble(schema: Arc<Schema>, rows: usize, columns: Vec<Column>, change: Option<Change>) -> Self {
        assert_eq!(schema.fields.len(), columns.len(), "M1: columns and fields differ in number");
        for (field, column) in schema.fields.iter().zip(&columns) {
            assert_eq!(column.len(), rows, "M1: column {} has the wrong number of slots", field.name);
            assert_eq!(column.kind(), field.kind, "column {} is not of its field's kind", field.name);
        }
        if let Some(change) = &change {
            let parts = [change.ops.len(), change.positions.len(), change.committed_at.len()];
            assert_eq!(parts, [rows; 3], "M1: a change page has one op, position and time per row");
        }
        Self { schema, rows, columns, change: change.map(Box::new), moves: Vec::new() }
    }

    /// Says which rows of this page are the two halves of a changed key, in order of their `from`.
    #[must_use]
    pub fn with_moves(mut self, moves: Vec<Move>) -> Self {
        debug_assert!(moves.iter().all(|m| m.from < m.to && (m.to as usize) < self.rows));
        self.moves = moves;
        self
    }

    /// The changed keys of this page.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The moves as they read after the rows at `rows` were taken; a pair that lost a half is no pair any more.
    pub fn moves_after(&self, rows: &[u32]) -> Vec<Move> {
        if self.moves.is_empty() {
            return Vec::new();
        }
        let mut place = vec![u32::MAX; self.rows];
        for (new, &old) in rows.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        let moved = self.moves.iter().map(|m| Move { from: place[m.from as usize], to: place[m.to as usize] });
        moved.filter(|m| m.from < m.to && m.to != u32::MAX).collect()
    }

    /// The columns' names and types.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The columns, in the order of the schema's fields.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column called exactly `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.schema.index_of(name).map(|i| &self.columns[i])
    }

    /// What makes it a page of changes, if it is one.
    pub fn change(&self) -> Option<&Change> {
        self.change.as_deref()
    }

    /// A view of one row.
    ///
    /// # Panics
    /// When `row` is out of range, on the first access.
    pub fn row(&self, row: usize) -> RowView<'_> {
        RowView { page: self, row }
    }

    /// The rows at `rows`, in that order; a row may repeat.
    ///
    /// # Panics
    /// When an index is out of range.
    pub fn take(&self, rows: &UInt32Array) -> Self {
        let change = self.change.as_ref().map(|c| {
            let positions = c.positions.take(rows.values());
            c.map(positions, rows.values().iter().map(|&r| r as usize), |column| column.take(rows))
        });
        let columns = self.columns.iter().map(|c| c.take(rows)).collect();
        let moves = self.moves_after(rows.values());
        Self::assemble(self.schema.clone(), rows.values().len(), columns, change).with_moves(moves)
    }

    /// `len` rows from `offset`; column buffers are shared.
    pub fn slice(&self, offset: usize, len: usize) -> Self {
        let change = self
            .change
            .as_ref()
            .map(|c| c.map(c.positions.slice(offset, len), offset..offset + len, |column| column.slice(offset, len)));
        let columns = self.columns.iter().map(|c| c.slice(offset, len)).collect();
        let (start, end) = (offset as u32, (offset + len) as u32);
        let inside = self.moves.iter().filter(|m| m.from >= start && m.to < end);
        let moves = inside.map(|m| Move { from: m.from - start, to: m.to - start }).collect();
        Self::assemble(self.schema.clone(), len, columns, change).with_moves(moves)
    }

    /// Whether the rows of `next` can follow those of this page in one page ([`Page::concat`]): plain rows under the
    /// same schema.
    pub fn continues_in(&self, next: &Self) -> bool {
        let same = Arc::ptr_eq(&self.schema, &next.schema) || self.schema == next.schema;
        same && self.change.is_none() && next.change.is_none()
    }

    /// The rows of all `pages` in order. Each must continue in the next.
    ///
    /// # Panics
    /// When there is no page, or one doesn't continue in the next.
    pub fn concat(mut pages: Vec<Self>) -> Self {
        assert!(pages.windows(2).all(|pair| pair[0].continues_in(&pair[1])), "pages of one table under one schema");
        if pages.len() == 1 {
            return pages.remove(0);
        }
        let column = |index: usize| Column::concat(&pages.iter().map(|p| &p.columns[index]).collect::<Vec<_>>());
        let columns = (0..pages[0].columns.len()).map(column).collect();
        let mut moves = Vec::new();
        let mut rows = 0;
        for page in &pages {
            let after = rows as u32;
            moves.extend(page.moves.iter().map(|m| Move { from: m.from + after, to: m.to + after }));
            rows += page.rows;
        }
        Self::assemble(pages[0].schema.clone(), rows, columns, None).with_moves(moves)
    }

    /// Memory the page takes, in bytes: what byte-bounded channels count. Shared buffers count in full.
    pub fn size_bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(Column::size_bytes).sum();
        let change = self.change.as_ref().map_or(0, |c| {
            let before = c.before.as_ref().map_or(0, |b| b.columns.iter().map(Column::size_bytes).sum());
            before + c.ops.len() * 25
        });
        columns + change
    }

    /// Takes the page apart.
    pub fn into_parts(self) -> (Arc<Schema>, Vec<Column>, Option<Change>) {
        (self.schema, self.columns, self.change.map(|c| *c))
    }
}

/// One row of a page; lends its values.
#[derive(Debug, Clone, Copy)]
pub struct RowView<'a> {
    page: &'a Page,
    row: usize,
}

impl<'a> RowView<'a> {
    /// The value in the column at `index`.
    pub fn get(&self, index: usize) -> ValueRef<'a> {
        self.page.columns[index].value(self.row)
    }

    /// The value in the column called `name`; `None` when there is no such column.
    pub fn by_name(&self, name: &str) -> Option<ValueRef<'a>> {
        self.page.column(name).map(|c| c.value(self.row))
    }

    /// The values, in the order of the schema's fields.
    pub fn values(self) -> impl Iterator<Item = ValueRef<'a>> {
        self.page.columns.iter().map(move |c| c.value(self.row))
    }
}
