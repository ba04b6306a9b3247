//! Builds the pages of a batch from the rows of the stream.
//!
//! One page builder per table: a table's changes keep their order, and different tables don't cut each other's pages
//! into pieces. Partitions of one table share its builder, since a row can move from one to another. A changed schema
//! ends the table's page and starts the next.

use faucet_core::error::{Error, Result};
use faucet_core::model::{ColumnBuilder, Op, Page, PageBuilder, Schema, TableId};
use std::collections::HashMap;
use std::sync::Arc;

use super::catalog::{Missing, Resolved};
use super::decode::{Fault, Image, Tuple, Value};
use crate::postgres::decode::{Undecodable, text};

/// A transaction as its changes need it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    /// Where the commit record starts.
    pub(super) commit: u64,
    /// Microseconds since the Unix epoch.
    pub(super) committed_at: i64,
    /// Place of the change inside the transaction.
    pub(super) ordinal: u64,
}

/// What a page costs beside the text of its values: fixed-width slots, offsets and validity, for each column of a row.
const SLOT_BYTES: usize = 8;
/// Position, time and operation of a change.
const CHANGE_BYTES: usize = 25;

/// The tables met so far, and the batch in the making.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    relations: Vec<Relation>,
    by_oid: HashMap<u32, usize>,
    /// The relation of the last row, which most often is that of the next.
    last: Option<(u32, usize)>,
    tables: Vec<Table>,
    by_name: HashMap<TableId, usize>,
    pages: Vec<Page>,
    /// Tables with rows in the batch, in the order of their first.
    touched: Vec<usize>,
    rows: usize,
    bytes: usize,
    page_rows: usize,
    scratch: Vec<u8>,
}

#[derive(Debug)]
struct Relation {
    resolved: Resolved,
    table: usize,
}

#[derive(Debug)]
struct Table {
    builder: PageBuilder,
    touched: bool,
}

/// A row in the making.
struct Row<'a> {
    relation: &'a Resolved,
    builder: &'a mut PageBuilder,
    scratch: &'a mut Vec<u8>,
}

impl Assembler {
    /// Pages hold `page_rows` rows at most.
    pub(super) fn new(page_rows: usize) -> Self {
        Self { page_rows, ..Self::default() }
    }

    /// Rows in the batch so far.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// About the memory the batch takes so far, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// From here on, relation `oid` is this.
    pub(super) fn learn(&mut self, oid: u32, mut resolved: Resolved) {
        let name = resolved.schema.table.clone();
        let table = *self.by_name.entry(name).or_insert_with(|| {
            self.tables.push(Table { builder: PageBuilder::changes(resolved.schema.clone()), touched: false });
            self.tables.len() - 1
        });
        // One schema object for equal schemas, so that going from one partition to another is a pointer comparison.
        let current = self.tables[table].builder.schema();
        if **current == *resolved.schema {
            resolved.schema = current.clone();
        }
        let relation = Relation { resolved, table };
        match self.by_oid.get(&oid) {
            Some(&index) => self.relations[index] = relation,
            None => {
                self.by_oid.insert(oid, self.relations.len());
                self.relations.push(relation);
            }
        }
    }

    /// The partitioned table above a relation; `None` for one that is no partition.
    pub(super) fn root(&self, oid: u32) -> Option<u32> {
        self.by_oid.get(&oid).and_then(|&index| self.relations[index].resolved.root)
    }

    /// The table a relation's rows belong to.
    pub(super) fn table(&self, oid: u32) -> Option<&TableId> {
        self.by_oid.get(&oid).map(|&index| &self.relations[index].resolved.schema.table)
    }

    /// Adds an inserted row.
    pub(super) fn insert(&mut self, oid: u32, new: Tuple<'_>, stamp: Stamp) -> Result<()> {
        let at = self.locate(oid)?;
        let mut row = self.row(at);
        row.after(new, None)?;
        self.end(at, Op::Insert, stamp);
        Ok(())
    }

    /// Adds an inserted row whose values are all known.
    pub(super) fn insert_values(&mut self, oid: u32, values: &[Option<Vec<u8>>], stamp: Stamp) -> Result<()> {
        let at = self.locate(oid)?;
        let row = self.row(at);
        let values = values.iter().map(|value| value.as_deref().map_or(Value::Null, Value::Text));
        push_all(row.relation, row.builder.columns(), values, row.scratch)?;
        self.end(at, Op::Insert, stamp);
        Ok(())
    }

    /// What has to be asked for before an inserted row is whole.
    pub(super) fn missing(&mut self, oid: u32, new: Tuple<'_>, bytes: usize) -> Result<Missing> {
        let at = self.locate(oid)?;
        let relation = self.row(at).relation;
        if new.len() != relation.place.len() {
            return Err(Fault::Corrupt("a row has another number of columns than its table").into());
        }
        let name = |at: usize| relation.schema.fields[relation.place[at]].name.to_string();
        let is_key = |at: usize| match relation.schema.key.is_empty() {
            true => relation.key[at],
            false => relation.schema.key.contains(&relation.place[at]),
        };
        let (mut key, mut wanted, mut sent) = (Vec::new(), Vec::new(), Vec::new());
        for (at, value) in new.values().enumerate() {
            match value {
                Value::Text(text) if is_key(at) => key.push((name(at), String::from_utf8_lossy(text).into_owned())),
                Value::Unchanged => wanted.push((at, name(at))),
                Value::Text(_) | Value::Null => {}
            }
            sent.push(if let Value::Text(text) = value { Some(text.to_vec()) } else { None });
        }
        Ok(Missing { relation: oid, table: relation.root.unwrap_or(oid), key, wanted, sent, bytes })
    }

    /// Adds an updated row.
    pub(super) fn update(&mut self, oid: u32, old: Option<Image<'_>>, new: Tuple<'_>, stamp: Stamp) -> Result<()> {
        let at = self.locate(oid)?;
        let mut row = self.row(at);
        // Only a full image fills in what was not sent: under another identity its slots beside the key say null and
        // mean nothing.
        match old {
            Some(Image::Full(full)) => row.after(new, Some(full))?,
            Some(Image::Key(_)) | None => row.after(new, None)?,
        }
        if let Some(old) = old {
            row.before(old)?;
        }
        self.end(at, Op::Update, stamp);
        Ok(())
    }

    /// Adds a deleted row.
    pub(super) fn delete(&mut self, oid: u32, old: Image<'_>, stamp: Stamp) -> Result<()> {
        let at = self.locate(oid)?;
        let mut row = self.row(at);
        row.builder.columns().iter_mut().for_each(ColumnBuilder::push_absent);
        row.before(old)?;
        self.end(at, Op::Delete, stamp);
        Ok(())
    }

    /// Adds the emptying of a table.
    pub(super) fn truncate(&mut self, oid: u32, stamp: Stamp) -> Result<()> {
        let at = self.locate(oid)?;
        let row = self.row(at);
        row.builder.columns().iter_mut().for_each(ColumnBuilder::push_absent);
        self.end(at, Op::Truncate, stamp);
        Ok(())
    }

    /// Counts the bytes of a message towards the batch.
    #[inline]
    pub(super) fn weigh(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// The batch's pages: those finished early first, then one for each table in the order of its first row.
    pub(super) fn finish(&mut self) -> Vec<Page> {
        let mut pages = std::mem::take(&mut self.pages);
        for index in self.touched.drain(..) {
            let table = &mut self.tables[index];
            table.touched = false;
            if !table.builder.is_empty() {
                pages.push(table.builder.finish());
            }
        }
        (self.rows, self.bytes) = (0, 0);
        pages
    }

    #[inline]
    fn locate(&mut self, oid: u32) -> Result<usize, Fault> {
        if let Some((last, index)) = self.last
            && last == oid
        {
            return Ok(index);
        }
        let index = self.by_oid.get(&oid).copied();
        let index = index.ok_or(Fault::Corrupt("a row belongs to a table that was never described"))?;
        self.last = Some((oid, index));
        Ok(index)
    }

    /// Begins a row of the relation at `at`, under the relation's schema.
    #[inline]
    fn row(&mut self, at: usize) -> Row<'_> {
        let Relation { resolved, table: index } = &self.relations[at];
        let table = &mut self.tables[*index];
        if !Arc::ptr_eq(table.builder.schema(), &resolved.schema) {
            switch(table, &resolved.schema, &mut self.pages);
        }
        if !table.touched {
            table.touched = true;
            self.touched.push(*index);
        }
        Row { relation: resolved, builder: &mut table.builder, scratch: &mut self.scratch }
    }

    #[inline]
    fn end(&mut self, at: usize, op: Op, stamp: Stamp) {
        let relation = &self.relations[at];
        let builder = &mut self.tables[relation.table].builder;
        builder.end_change(op, stamp.commit, stamp.ordinal, stamp.committed_at);
        self.rows += 1;
        self.bytes += relation.resolved.place.len() * SLOT_BYTES + CHANGE_BYTES;
        if builder.len() >= self.page_rows {
            self.pages.push(builder.finish());
        }
    }
}

#[cold]
fn switch(table: &mut Table, schema: &Arc<Schema>, pages: &mut Vec<Page>) {
    if !table.builder.is_empty() {
        pages.push(table.builder.finish());
    }
    table.builder = PageBuilder::changes(schema.clone());
}

impl Row<'_> {
    /// The row after the change; what was not sent is taken from the full row before, if that was.
    #[inline]
    fn after(&mut self, new: Tuple<'_>, old: Option<Tuple<'_>>) -> Result<()> {
        self.check(new)?;
        let columns = self.builder.columns();
        let Some(old) = old else {
            return push_all(self.relation, columns, new.values(), self.scratch);
        };
        self.check(old)?;
        let columns = self.builder.columns();
        let values = new.values().zip(old.values()).map(|(new, old)| if new == Value::Unchanged { old } else { new });
        push_all(self.relation, columns, values, self.scratch)
    }

    /// What is told of the row before the change.
    fn before(&mut self, image: Image<'_>) -> Result<()> {
        let (Image::Key(tuple) | Image::Full(tuple)) = image;
        self.check(tuple)?;
        let columns = self.builder.before();
        match image {
            Image::Full(tuple) => push_all(self.relation, columns, tuple.values(), self.scratch),
            Image::Key(tuple) => {
                let told = tuple.values().zip(&self.relation.key);
                let values = told.map(|(value, &key)| if key { value } else { Value::Unchanged });
                push_all(self.relation, columns, values, self.scratch)
            }
        }
    }

    fn check(&self, tuple: Tuple<'_>) -> Result<(), Fault> {
        match tuple.len() == self.relation.place.len() {
            true => Ok(()),
            false => Err(Fault::Corrupt("a row has another number of columns than its table")),
        }
    }
}

#[inline]
fn push_all<'a>(
    relation: &Resolved,
    columns: &mut [ColumnBuilder],
    values: impl Iterator<Item = Value<'a>>,
    scratch: &mut Vec<u8>,
) -> Result<()> {
    for (value, &place) in values.zip(&relation.place) {
        let column = &mut columns[place];
        match value {
            Value::Text(bytes) => text::push(column, bytes, scratch).map_err(|e| undecodable(e, relation, place))?,
            Value::Null => column.push_null(),
            Value::Unchanged => column.push_absent(),
        }
    }
    Ok(())
}

#[cold]
fn undecodable(fault: Undecodable, relation: &Resolved, place: usize) -> Error {
    let schema = &relation.schema;
    fault.in_column(&schema.fields[place].name).context(format!("reading a change of table {}", schema.table))
}
