//! The statements of one page: prepared once for each set of columns, then bound and run row by row.

use faucet_core::error::{Error, Result};
use faucet_core::model::{Page, ValueRef};
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{CachedStatement, Connection};
use std::collections::HashMap;
use std::path::Path;

use super::VALUE_WOULD_CHANGE;
use super::bind::{Misfit, stored};
use super::plan::{Mask, Plan, Written};
use crate::sqlite::error::from_driver;

/// What a statement does; its text follows from that and from the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Statement {
    /// Adds a row with the columns it has.
    Insert,
    /// Adds a row, its absent slots filled from elsewhere.
    InsertWhole,
    /// Adds a row, or changes the one with its key.
    Upsert,
    /// Changes the row with its key.
    Update,
    /// Reads the columns it lacks from the row with its key.
    SelectOthers,
    /// Removes the row with its key.
    Delete,
    /// Changes the row with another key, and its key.
    Move,
    /// Looks for a row with its key that is not the one with another key.
    Occupant,
}

/// Rows that lack different columns need different statements: at most this many are kept.
const MOST: usize = 256;

pub(super) struct Statements<'a> {
    pub(super) path: &'a Path,
    pub(super) connection: &'a Connection,
    pub(super) plan: &'a Plan,
    page: &'a Page,
    prepared: Vec<CachedStatement<'a>>,
    places: [HashMap<Mask, usize>; 8],
    scratch: Vec<u8>,
}

impl<'a> Statements<'a> {
    pub(super) fn new(path: &'a Path, connection: &'a Connection, plan: &'a Plan, page: &'a Page) -> Self {
        Self { path, connection, plan, page, prepared: Vec::new(), places: Default::default(), scratch: Vec::new() }
    }

    /// Runs a statement for a row that has the columns of `mask`; `rest` has the stored values of the others, where the
    /// statement needs them. Whether it changed a row.
    pub(super) fn run(&mut self, what: Statement, mask: &[u8], row: usize, rest: &[Value]) -> Result<bool> {
        let at = self.prepare(what, mask)?;
        let Self { path, plan, page, prepared, scratch, .. } = self;
        let mut binder = Binder { path, plan, page, row, scratch, statement: &mut prepared[at], next: 1 };
        match what {
            Statement::Move | Statement::Occupant => unreachable!("bug: these take two rows"),
            Statement::Insert | Statement::Upsert => binder.columns(mask)?,
            Statement::InsertWhole => binder.whole(mask, rest)?,
            Statement::Update => {
                binder.columns(mask)?;
                binder.key()?;
            }
            Statement::SelectOthers | Statement::Delete => binder.key()?,
        }
        let changed = prepared[at].raw_execute().map_err(|e| from_driver(path, &e))?;
        Ok(changed > 0)
    }

    /// Gives the row with the key of `from` the columns of `mask` that `row` has, its key among them. Whether there was one.
    pub(super) fn move_key(&mut self, mask: &[u8], from: usize, row: usize) -> Result<bool> {
        let at = self.prepare(Statement::Move, mask)?;
        let Self { path, plan, page, prepared, scratch, .. } = self;
        let mut binder = Binder { path, plan, page, row, scratch, statement: &mut prepared[at], next: 1 };
        binder.columns(mask)?;
        binder.row = from;
        binder.key()?;
        let changed = prepared[at].raw_execute().map_err(|e| from_driver(path, &e))?;
        Ok(changed > 0)
    }

    /// Whether there is a row with the key of `row`, besides the one with the key of `from`.
    pub(super) fn is_occupied(&mut self, from: usize, row: usize) -> Result<bool> {
        let at = self.prepare(Statement::Occupant, &[])?;
        let Self { path, plan, page, prepared, scratch, .. } = self;
        let statement = &mut prepared[at];
        let mut binder = Binder { path, plan, page, row, scratch, statement, next: 1 };
        binder.key()?;
        binder.row = from;
        binder.key()?;
        let found = prepared[at].raw_query().next().map(|row| row.is_some());
        found.map_err(|e| from_driver(path, &e))
    }

    /// The stored values of the columns that `mask` lacks, of the row with the key of `row`.
    pub(super) fn others(&mut self, mask: &[u8], row: usize) -> Result<Option<Vec<Value>>> {
        let at = self.prepare(Statement::SelectOthers, mask)?;
        let Self { path, plan, page, prepared, scratch, .. } = self;
        let statement = &mut prepared[at];
        Binder { path, plan, page, row, scratch, statement, next: 1 }.key()?;
        let count = statement.column_count();
        let mut rows = statement.raw_query();
        let failed = |e: rusqlite::Error| from_driver(path, &e);
        let found = rows.next().map_err(failed)?;
        let values = found.map(|row| (0..count).map(|index| row.get(index)).collect::<Result<Vec<_>, _>>());
        values.transpose().map_err(failed)
    }

    fn prepare(&mut self, what: Statement, mask: &[u8]) -> Result<usize> {
        if let Some(&at) = self.places[what as usize].get(mask) {
            return Ok(at);
        }
        if self.prepared.len() >= MOST {
            self.prepared.clear();
            self.places.iter_mut().for_each(HashMap::clear);
        }
        let plan = self.plan;
        let sql = match what {
            Statement::Insert => plan.insert(mask),
            Statement::InsertWhole => plan.insert(&vec![1; mask.len()]),
            Statement::Upsert => plan.upsert(mask),
            Statement::Update => plan.update(mask),
            Statement::SelectOthers => plan.select_others(mask),
            Statement::Delete => plan.delete(),
            Statement::Move => plan.update(mask),
            Statement::Occupant => plan.occupant(),
        };
        let statement = self.connection.prepare_cached(&sql).map_err(|e| from_driver(self.path, &e))?;
        self.prepared.push(statement);
        let at = self.prepared.len() - 1;
        self.places[what as usize].insert(mask.to_vec(), at);
        Ok(at)
    }
}

/// Binds the values of one row, in order.
struct Binder<'b, 'a> {
    path: &'b Path,
    plan: &'b Plan,
    page: &'b Page,
    row: usize,
    scratch: &'b mut Vec<u8>,
    statement: &'b mut CachedStatement<'a>,
    next: usize,
}

impl Binder<'_, '_> {
    /// The columns of `mask`.
    fn columns(&mut self, mask: &[u8]) -> Result<()> {
        let plan = self.plan;
        plan.columns.iter().zip(mask).filter(|(_, has)| **has == 1).try_for_each(|(column, _)| self.slot(column))
    }

    /// All columns, those that `mask` lacks from `rest`.
    fn whole(&mut self, mask: &[u8], rest: &[Value]) -> Result<()> {
        let plan = self.plan;
        let mut rest = rest.iter();
        for (column, has) in plan.columns.iter().zip(mask) {
            match has {
                1 => self.slot(column)?,
                _ => self.bind(ToSqlOutput::Borrowed(rest.next().unwrap_or(&Value::Null).into()))?,
            }
        }
        Ok(())
    }

    /// The key's columns.
    fn key(&mut self) -> Result<()> {
        let plan = self.plan;
        plan.key.iter().try_for_each(|&k| self.slot(&plan.columns[k]))
    }

    fn slot(&mut self, column: &Written) -> Result<()> {
        let value = self.page.columns()[column.place].value(self.row);
        if column.numbers_nulls && value == ValueRef::Null {
            return Err(numbered(&column.name));
        }
        let stored = stored(value, column.affinity, self.scratch)
            .map_err(|misfit| would_change(&column.name, &column.declared, misfit))?;
        let bound = self.statement.raw_bind_parameter(self.next, ToSqlOutput::Borrowed(stored));
        self.next += 1;
        bound.map_err(|e| from_driver(self.path, &e))
    }

    fn bind(&mut self, value: ToSqlOutput<'_>) -> Result<()> {
        let bound = self.statement.raw_bind_parameter(self.next, value);
        self.next += 1;
        bound.map_err(|e| from_driver(self.path, &e))
    }
}

pub(super) fn would_change(name: &str, declared: &str, Misfit(what): Misfit) -> Error {
    let declared = if declared.is_empty() { "without a type" } else { declared };
    let what = format!("column \"{name}\" is declared {declared}, where SQLite would make {what}");
    Error::new(&VALUE_WOULD_CHANGE, what)
        .hint("drop the table, set `create_table: true`, and copy anew; or make it yourself with a column of type TEXT")
}

fn numbered(name: &str) -> Error {
    let what =
        format!("column \"{name}\" is an INTEGER PRIMARY KEY, where SQLite would make the next free number of a null");
    Error::new(&VALUE_WOULD_CHANGE, what).hint("leave such rows out, or declare the column INTEGER UNIQUE")
}
