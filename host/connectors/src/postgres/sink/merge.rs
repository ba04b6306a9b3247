//! `upsert`: a page folded per key, staged by COPY, merged by a few statements whatever its number of rows.
//!
//! The stage is a temporary table with the written columns, in their types without domains, and three of its own:
//!
//! | `_faucet_op` | the row |
//! |---|---|
//! | null | is complete: inserted, or all columns of the one with its key replaced |
//! | 1 | only a key: the row with it is deleted |
//! | 2 | leaves columns out (bits of `_faucet_absent`): the row with its key is updated, if there is one |
//! | 3, 4 | only the key that row number `_faucet_row` had before it moved; 4: a row under its new key goes first |
//! | 5 | leaves out the columns of group `_faucet_row`, and becomes a row with their defaults where there is none |
//!
//! Most pages have complete rows only: one COPY and one statement. The order matters: slots that a moved row left behind
//! are read before anything is changed, and deletes come before inserts, so that a value under another unique constraint
//! is free again. Statements are planned at each execution, because tables grow while a sink runs.

use faucet_core::error::Result;
use faucet_core::model::Page;
use futures_util::{join, try_join};
use tokio_postgres::{Client, Statement};

use super::copy::{ByMask, copy};
use super::merge_sql::{DELETE, ORIGIN, ORIGIN_IF_NONE, PARTIAL, PUT, Sql};
use super::plan::Plan;
use super::rows::{Fields, Slots};
use super::target::Target;
use crate::postgres::error::from_driver;
use crate::postgres::name::quoted;
use crate::sql::{Folded, Rest, Upsert};

/// Columns of the stage that come before the written ones.
pub const EXTRA: usize = 3;

/// The stage of one schema of pages and the statements over it.
#[derive(Debug)]
pub struct Merge {
    copy_complete: Statement,
    pub(super) copy_any: Statement,
    insert: Statement,
    delete: Statement,
    update: Statement,
    /// Gives moved rows the slots they left behind.
    fill: Statement,
    /// Put rows with the columns they have.
    puts: ByMask,
    pub(super) sql: Sql,
    /// Whether the stage has rows of this transaction.
    filled: bool,
}

impl Merge {
    /// Creates the stage called `number` and prepares the statements (K2).
    ///
    /// # Errors
    /// What the server refuses.
    pub async fn prepare(client: &Client, target: &Target, plan: &Plan, key: &[String], number: u32) -> Result<Self> {
        let sql = Sql::new(format!("pg_temp.{}", quoted(&format!("_faucet_stage_{number}"))), target, plan, key);
        client.batch_execute(&sql.create()).await.map_err(|e| from_driver(&e))?;
        let prepare = |text: String| async move { client.prepare(&text).await.map_err(|e| from_driver(&e)) };
        let (copy_complete, copy_any) = try_join!(prepare(sql.copy(false)), prepare(sql.copy(true)))?;
        let (insert, delete, update, fill) =
            try_join!(prepare(sql.insert()), prepare(sql.delete()), prepare(sql.update()), prepare(sql.fill()))?;
        let puts = ByMask::default();
        Ok(Self { copy_complete, copy_any, insert, delete, update, fill, puts, sql, filled: false })
    }

    /// Says that the transaction ended, and with it what was staged.
    pub fn committed(&mut self) {
        self.filled = false;
    }

    /// Drops the stage.
    ///
    /// # Errors
    /// What the server refuses.
    pub async fn discard(self, client: &Client) -> Result<()> {
        client.batch_execute(&self.sql.drop()).await.map_err(|e| from_driver(&e))
    }

    /// Applies a folded page, at most `batch` complete rows at a time. Returns how many partial puts found no row.
    ///
    /// # Errors
    /// What can't be written or the server refuses.
    pub async fn apply(
        &mut self,
        client: &Client,
        plan: &Plan,
        page: &Page,
        folded: &Folded,
        batch: usize,
    ) -> Result<u64> {
        let (complete, partial) = parted(folded);
        let mut rounds = complete.chunks(batch);
        let mut skipped = folded.skipped;
        if !partial.is_empty() || !folded.deletes.is_empty() {
            let first = rounds.next().unwrap_or_default();
            let round = Round { plan, page, folded, complete: first, partial: &partial };
            skipped += self.apply_any(client, &round).await?;
        }
        for complete in rounds {
            let round = Round { plan, page, folded, complete, partial: &[] };
            self.apply_complete(client, &round).await?;
        }
        Ok(skipped)
    }

    /// The common round: complete rows only.
    async fn apply_complete(&mut self, client: &Client, round: &Round<'_>) -> Result<()> {
        self.clear(client).await?;
        let mut slots = Slots::new(round.plan, round.page);
        let mut upserts = round.complete.iter();
        copy(client, &self.copy_complete, round.plan, |fields| {
            let Some(upsert) = upserts.next() else { return Ok(false) };
            fields.begin(slots.len());
            slots.push_folded(fields, round.folded, upsert.row, false)?;
            fields.end();
            Ok(true)
        })
        .await?;
        client.execute(&self.insert, &[]).await.map_err(|e| from_driver(&e))?;
        Ok(())
    }

    /// A round with deletes or partial rows. Returns how many of the partial ones found no row.
    async fn apply_any(&mut self, client: &Client, round: &Round<'_>) -> Result<u64> {
        self.clear(client).await?;
        let mut slots = Slots::new(round.plan, round.page);
        let mut lines = round.lines();
        let (mut mask, mut groups) = (Vec::new(), Vec::new());
        copy(client, &self.copy_any, round.plan, |fields| match lines.next() {
            Some(line) => {
                round.push(fields, &mut slots, &mut mask, &mut groups, line)?;
                Ok(true)
            }
            None => Ok(false),
        })
        .await?;
        let needs = round.needs();
        let run = |statement, wanted: bool| async move {
            if wanted { client.execute(statement, &[]).await.map_err(|e| from_driver(&e)) } else { Ok(0) }
        };
        // Sent at once, executed in this order; after a failure the server refuses the rest.
        let (filled, deleted, inserted, updated) = join!(
            run(&self.fill, needs.fill),
            run(&self.delete, needs.delete),
            run(&self.insert, needs.insert),
            run(&self.update, needs.update),
        );
        let found = filled?;
        deleted?;
        inserted?;
        self.put_groups(client, &groups).await?;
        let needing = round.partial.iter().filter(|p| !makes(p.rest)).count() as u64;
        Ok(needing.saturating_sub(found + updated?))
    }

    /// The statements that applying a folded page takes, as one round.
    ///
    /// # Errors
    /// What can't be written.
    pub fn explain(&self, plan: &Plan, page: &Page, folded: &Folded) -> Result<Vec<String>> {
        let (complete, partial) = parted(folded);
        if partial.is_empty() && folded.deletes.is_empty() {
            return Ok(vec![self.sql.create(), self.sql.copy(false), self.sql.insert()]);
        }
        let round = Round { plan, page, folded, complete: &complete, partial: &partial };
        let (mut slots, mut fields) = (Slots::new(plan, page), Fields::new(plan.format));
        let (mut mask, mut groups) = (Vec::new(), Vec::new());
        for line in round.lines() {
            round.push(&mut fields, &mut slots, &mut mask, &mut groups, line)?;
        }
        let (sql, needs) = (&self.sql, round.needs());
        let own = [
            (needs.fill, sql.fill()),
            (needs.delete, sql.delete()),
            (needs.insert, sql.insert()),
            (needs.update, sql.update()),
        ];
        let own = own.into_iter().filter_map(|(needed, text)| needed.then_some(text));
        let puts = groups.iter().map(|mask| sql.put(mask));
        Ok([sql.create(), sql.copy(true)].into_iter().chain(own).chain(puts).collect())
    }

    /// One statement per set of columns that rows leave out.
    async fn put_groups(&mut self, client: &Client, groups: &[Vec<u8>]) -> Result<()> {
        for (group, mask) in (0_i32..).zip(groups) {
            let statement = self.puts.get(client, mask, || self.sql.put(mask)).await?;
            client.execute(&statement, &[&group]).await.map_err(|e| from_driver(&e))?;
        }
        Ok(())
    }

    /// Empties the stage if this transaction has filled it before.
    pub(super) async fn clear(&mut self, client: &Client) -> Result<()> {
        if std::mem::replace(&mut self.filled, true) {
            client.batch_execute(&self.sql.empty()).await.map_err(|e| from_driver(&e))?;
        }
        Ok(())
    }
}

/// One filling of the stage.
struct Round<'a> {
    plan: &'a Plan,
    page: &'a Page,
    folded: &'a Folded,
    complete: &'a [Upsert],
    partial: &'a [Upsert],
}

/// One row of the stage.
#[derive(Clone, Copy)]
enum Line {
    Complete(u32),
    Delete(u32),
    Partial { row: u32, number: i32 },
    Put(u32),
    Origin { row: u32, number: i32, own_first: bool },
}

/// Which of its statements a round needs, besides its puts.
struct Needs {
    fill: bool,
    delete: bool,
    insert: bool,
    update: bool,
}

/// The complete rows of a page and the others.
fn parted(folded: &Folded) -> (Vec<Upsert>, Vec<Upsert>) {
    folded.upserts.iter().partition(|upsert| upsert.rest == Rest::Complete)
}

impl Round<'_> {
    fn needs(&self) -> Needs {
        let moved = self.partial.iter().any(|p| matches!(p.rest, Rest::Moved { .. }));
        Needs {
            fill: moved,
            delete: !self.folded.deletes.is_empty(),
            insert: moved || !self.complete.is_empty(),
            update: !self.partial.is_empty(),
        }
    }

    fn lines(&self) -> impl Iterator<Item = Line> {
        let deletes = self.folded.deletes.iter().map(|row| Line::Delete(*row));
        let partial = (0..).zip(self.partial).map(|(number, upsert)| match makes(upsert.rest) {
            true => Line::Put(upsert.row),
            false => Line::Partial { row: upsert.row, number },
        });
        let origins = (0..).zip(self.partial).filter_map(|(number, upsert)| match upsert.rest {
            Rest::Moved { from, own_first } => Some(Line::Origin { row: from, number, own_first }),
            Rest::Own | Rest::OwnOrDefaults | Rest::Defaults | Rest::Complete => None,
        });
        let complete = self.complete.iter().map(|upsert| Line::Complete(upsert.row));
        deletes.chain(partial).chain(origins).chain(complete)
    }

    /// Writes a row of the stage. `groups` are the masks of puts so far.
    fn push(
        &self,
        fields: &mut Fields,
        slots: &mut Slots<'_>,
        mask: &mut Vec<u8>,
        groups: &mut Vec<Vec<u8>>,
        line: Line,
    ) -> Result<()> {
        fields.begin(EXTRA + slots.len());
        let (row, key_only) = match line {
            Line::Complete(row) => {
                (0..EXTRA).for_each(|_| fields.null());
                (row, false)
            }
            Line::Delete(row) => {
                fields.small(DELETE);
                fields.null();
                fields.null();
                (row, true)
            }
            Line::Partial { row, number } => {
                fields.small(PARTIAL);
                fields.integer(number);
                slots.absent_mask(mask, |column| self.folded.source(self.page, column, row) as usize);
                fields.bytes(mask);
                (row, false)
            }
            Line::Put(row) => {
                fields.small(PUT);
                slots.absent_mask(mask, |column| self.folded.source(self.page, column, row) as usize);
                fields.integer(group_of(groups, mask));
                fields.null();
                (row, false)
            }
            Line::Origin { row, number, own_first } => {
                fields.small(if own_first { ORIGIN_IF_NONE } else { ORIGIN });
                fields.integer(number);
                fields.null();
                (row, true)
            }
        };
        slots.push_folded(fields, self.folded, row, key_only)?;
        fields.end();
        Ok(())
    }
}

/// Whether an upsert makes a row where the destination has none.
fn makes(rest: Rest) -> bool {
    match rest {
        Rest::Complete | Rest::OwnOrDefaults | Rest::Defaults => true,
        Rest::Own | Rest::Moved { .. } => false,
    }
}

/// The number of the group of rows that leave out the columns of `mask`. A page has few of them.
fn group_of(groups: &mut Vec<Vec<u8>>, mask: &[u8]) -> i32 {
    let place = groups.iter().position(|known| known == mask).unwrap_or_else(|| {
        groups.push(mask.to_vec());
        groups.len() - 1
    });
    place as i32
}
