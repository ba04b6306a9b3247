//! The rows of one page, applied in their order.
//!
//! * **S1** An absent slot leaves the stored value alone. A row with absent slots that changes an existing row (`__op`
//!   says `u`) and finds none is skipped and counted: a later delete follows, or it is replayed after one.
//! * **S2** A changed key whose row has absent slots takes them from the row under the old key; if there is a row under
//!   the new key already (a replay), that one is it.
//!   The row stays one row: it is changed and not made anew, so that what references it stays with it.
//! * **S3** Two keys swapped in one statement: see [`Moves::deletes_what_is_there`].

use faucet_core::error::Result;
use faucet_core::model::Page;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::mem;
use std::path::Path;

use super::moves::Moves;
use super::plan::{Mask, Plan};
use super::statements::{Statement, Statements};
use crate::sql::RowOp;
use crate::sqlite::error::from_driver;

/// Applies a page to a table inside the open transaction.
pub(super) struct Rows<'a> {
    plan: &'a Plan,
    page: &'a Page,
    statements: Statements<'a>,
    /// Whether any slot that is written is absent.
    has_absents: bool,
    /// Of the row in hand.
    mask: Mask,
    /// The first half of a changed key, whose second half comes next.
    leaving: Option<usize>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(path: &'a Path, connection: &'a Connection, plan: &'a Plan, page: &'a Page) -> Self {
        let has_absents = plan.columns.iter().any(|c| page.columns()[c.place].absent().is_some());
        let statements = Statements::new(path, connection, plan, page);
        Self { plan, page, statements, has_absents, mask: vec![1; plan.columns.len()], leaving: None }
    }

    /// Adds every row.
    pub(super) fn insert_all(mut self) -> Result<()> {
        for row in 0..self.page.rows() {
            let mask = self.take_mask(row);
            self.statements.run(Statement::Insert, &mask, row, &[])?;
            self.mask = mask;
        }
        Ok(())
    }

    /// Does with each row what `ops` says (without: puts it). Returns how many were skipped (S1).
    pub(super) fn upsert_all(mut self, key: &'a [usize], marker: Option<usize>, ops: Option<&[RowOp]>) -> Result<u64> {
        let mut moves = Moves::new(self.page, key, marker);
        let mut skipped = 0;
        for row in 0..self.page.rows() {
            match ops.map_or(RowOp::Upsert, |ops| ops[row]) {
                RowOp::Upsert => skipped += u64::from(!self.put(row, Statement::Upsert, &mut moves)?),
                RowOp::Update => skipped += u64::from(!self.put(row, Statement::Update, &mut moves)?),
                RowOp::Delete => self.delete(row, &mut moves)?,
                RowOp::Truncate => {
                    self.statements.truncate()?;
                    moves.forget();
                }
                RowOp::Skip => {}
            }
        }
        Ok(skipped)
    }

    /// Puts a row, by `partial` if it has absent slots. `false` when it was skipped.
    fn put(&mut self, row: usize, partial: Statement, moves: &mut Moves<'a>) -> Result<bool> {
        let arrived = moves.arrive(row);
        let mask = self.take_mask(row);
        let done = if let Some(from) = self.leaving.take() {
            self.put_under_new_key(&mask, from, row)?
        } else if !self.has_absents || mask.iter().all(|&has| has == 1) {
            self.statements.run(Statement::Upsert, &mask, row, &[])?;
            true
        } else if let Some(rest) = arrived {
            self.put_moved(&mask, row, rest)?
        } else {
            // An upsert that has nothing to set changes no row either, and yet the row is there.
            self.statements.run(partial, &mask, row, &[])? || partial == Statement::Upsert
        };
        self.mask = mask;
        Ok(done)
    }

    /// S2: the row had the key of `from`, which is the row before.
    fn put_under_new_key(&mut self, mask: &[u8], from: usize, row: usize) -> Result<bool> {
        let whole = mask.iter().all(|&has| has == 1);
        if self.statements.is_occupied(from, row)? {
            self.statements.run(Statement::Delete, &[], from, &[])?;
        } else if self.statements.move_key(mask, from, row)? {
            return Ok(true);
        }
        let changed = self.statements.run(if whole { Statement::Upsert } else { Statement::Update }, mask, row, &[])?;
        Ok(changed || whole)
    }

    /// S2: `rest` has the values that the row's absent slots had under the old key.
    fn put_moved(&mut self, mask: &[u8], row: usize, rest: Option<Vec<Value>>) -> Result<bool> {
        if self.statements.run(Statement::Update, mask, row, &[])? {
            return Ok(true);
        }
        match rest {
            None => Ok(false),
            Some(rest) => self.statements.run(Statement::InsertWhole, mask, row, &rest),
        }
    }

    fn delete(&mut self, row: usize, moves: &mut Moves<'a>) -> Result<()> {
        if !moves.deletes_what_is_there(row) {
            return Ok(());
        }
        let to = moves.destination(row);
        if to == Some(row + 1) {
            self.leaving = Some(row);
            return Ok(());
        }
        if let Some(to) = to.filter(|_| self.has_absents) {
            let mask = self.take_mask(to);
            if mask.contains(&0) {
                moves.carry(to, self.statements.others(&mask, row)?);
            }
            self.mask = mask;
        }
        self.statements.run(Statement::Delete, &[], row, &[]).map(drop)
    }

    /// Which columns the row has. The caller puts it back.
    fn take_mask(&mut self, row: usize) -> Mask {
        let mut mask = mem::take(&mut self.mask);
        if self.has_absents {
            self.plan.mask(self.page, row, &mut mask);
        }
        mask
    }
}

impl Statements<'_> {
    fn truncate(&self) -> Result<()> {
        let sql = format!("DELETE FROM {}", self.plan.table);
        self.connection.execute(&sql, []).map(drop).map_err(|e| from_driver(self.path, &e))
    }
}
