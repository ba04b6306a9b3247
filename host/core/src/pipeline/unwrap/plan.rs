//! Which rows a page of changes becomes.

use super::KEY_NOT_IN_OLD_IMAGE;
use crate::error::{Error, Result};
use crate::model::{Change, Column, Move, Op, Schema};

/// Picks `(0, row)`: the row's after-image.
const AFTER: usize = 0;
/// Picks `(1, row)`: the row's before-image.
const BEFORE: usize = 1;

/// The rows of the flat page.
pub(super) struct Plan {
    /// What each row does: [`Op::letter`].
    pub letters: Vec<u8>,
    /// Where each row comes from: (image, row of the page of changes). `None` when they are the after-images as they are.
    pub picks: Option<Vec<(usize, usize)>>,
    /// The two halves of changed keys.
    pub moves: Vec<Move>,
}

/// What a page is planned from.
struct Images<'a> {
    schema: &'a Schema,
    after: &'a [Column],
    change: &'a Change,
    /// The destination's key, as indices of columns.
    key: &'a [usize],
    key_is_sent: bool,
}

impl Plan {
    /// Plans the page whose after-images are `after`.
    ///
    /// # Errors
    /// `cdc.key_not_in_old_image`.
    pub(super) fn new(
        schema: &Schema,
        after: &[Column],
        change: &Change,
        key: &[usize],
        key_is_sent: bool,
    ) -> Result<Self> {
        let images = Images { schema, after, change, key, key_is_sent };
        if change.before.is_none() {
            return images.plan_without_before();
        }
        let rows = change.ops.len();
        let mut plan = Self { letters: Vec::with_capacity(rows), picks: None, moves: Vec::new() };
        let mut picks = Vec::with_capacity(rows);
        for (row, &op) in change.ops.iter().enumerate() {
            match op {
                Op::Read | Op::Insert | Op::Truncate => plan.row(&mut picks, op, (AFTER, row)),
                Op::Update if images.key_changed(row)? => plan.changed_key(&mut picks, row),
                Op::Update => plan.row(&mut picks, op, (AFTER, row)),
                Op::Delete => {
                    images.require_old_key(row)?;
                    plan.row(&mut picks, op, (BEFORE, row));
                }
            }
        }
        plan.picks = Some(picks);
        Ok(plan)
    }

    fn row(&mut self, picks: &mut Vec<(usize, usize)>, op: Op, pick: (usize, usize)) {
        self.letters.push(op.letter().as_bytes()[0]);
        picks.push(pick);
    }

    fn changed_key(&mut self, picks: &mut Vec<(usize, usize)>, row: usize) {
        let from = picks.len() as u32;
        self.moves.push(Move { from, to: from + 1 });
        self.row(picks, Op::Delete, (BEFORE, row));
        self.row(picks, Op::Update, (AFTER, row));
    }
}

impl Images<'_> {
    /// The common page: only inserts and updates that kept their key. Nothing is copied.
    fn plan_without_before(&self) -> Result<Plan> {
        let mut letters = Vec::with_capacity(self.change.ops.len());
        for (row, &op) in self.change.ops.iter().enumerate() {
            match op {
                Op::Update if !self.key_is_sent => return Err(self.lacks_old_key(op, self.first_unsent())),
                Op::Delete => self.require_old_key(row)?,
                Op::Read | Op::Insert | Op::Update | Op::Truncate => {}
            }
            letters.push(op.letter().as_bytes()[0]);
        }
        Ok(Plan { letters, picks: None, moves: Vec::new() })
    }

    /// Whether the update in `row` changed the key. A key column that the after-image leaves out did not change.
    fn key_changed(&self, row: usize) -> Result<bool> {
        let Some(before) = self.change.before.as_ref().filter(|b| b.present.value(row)) else {
            return if self.key_is_sent { Ok(false) } else { Err(self.lacks_old_key(Op::Update, self.first_unsent())) };
        };
        let mut changed = false;
        for &column in self.key {
            let (old, new) = (&before.columns[column], &self.after[column]);
            if old.is_absent(row) {
                return Err(self.lacks_old_key(Op::Update, column));
            }
            changed |= !new.is_absent(row) && !old.value(row).same(&new.value(row));
        }
        Ok(changed)
    }

    fn require_old_key(&self, row: usize) -> Result<()> {
        let lacks = |column: usize| match self.change.before.as_ref().filter(|b| b.present.value(row)) {
            Some(before) => before.columns[column].is_absent(row),
            None => true,
        };
        match self.key.iter().find(|&&column| lacks(column)) {
            Some(&column) => Err(self.lacks_old_key(Op::Delete, column)),
            None => Ok(()),
        }
    }

    /// The first key column whose old value the source does not send.
    fn first_unsent(&self) -> usize {
        let unsent = self.key.iter().find(|k| !self.schema.key.contains(k));
        *unsent.expect("asked only when the source's key lacks one of these columns")
    }

    fn lacks_old_key(&self, op: Op, column: usize) -> Error {
        let (what, table) = (if op == Op::Delete { "a delete" } else { "an update" }, &self.schema.table);
        let name = &self.schema.fields[column].name;
        Error::new(
            &KEY_NOT_IN_OLD_IMAGE,
            format!("{what} in {table} does not say the old value of key column \"{name}\""),
        )
        .hint(format!(
            "use the columns of the table's replica identity (its primary key) as `key`; or run ALTER TABLE {table} REPLICA \
             IDENTITY FULL, which changes in the log already don't have, so then copy the table anew: `faucet mirror drop \
             CONFIG`, `faucet mirror --replace CONFIG`"
        ))
    }
}
