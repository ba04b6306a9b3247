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
//!
//! Most pages have complete rows only: one COPY and one statement. The order matters: slots that a moved row left behind
//! are read before anything is changed, and deletes come before inserts, so that a value under another unique constraint
//! is free again. Statements are planned at each execution, because tables grow while a sink runs.

use faucet_core::error::Result;
use faucet_core::model::Page;
use futures_util::{join, try_join};
use tokio_postgres::{Client, Statement};

use super::copy::copy;
use super::plan::{Origin, Plan, Write};
use super::rows::{Fields, Slots};
use super::target::Target;
use crate::postgres::error::from_driver;
use crate::postgres::name::{list, quoted};
use crate::sql::{Folded, Rest, Upsert};

const DELETE: i16 = 1;
const PARTIAL: i16 = 2;
const ORIGIN: i16 = 3;
const ORIGIN_IF_NONE: i16 = 4;

/// Columns of the stage that come before the written ones.
const EXTRA: usize = 3;

/// The stage of one schema of pages and the statements over it.
#[derive(Debug)]
pub struct Merge {
    copy_complete: Statement,
    copy_any: Statement,
    insert: Statement,
    delete: Statement,
    update: Statement,
    /// Gives moved rows the slots they left behind.
    fill: Statement,
    empty: String,
    drop: String,
    /// Whether the stage has rows of this transaction.
    filled: bool,
}

impl Merge {
    /// Creates the stage called `number` and prepares the statements (K2).
    ///
    /// # Errors
    /// What the server refuses.
    pub async fn prepare(client: &Client, target: &Target, plan: &Plan, key: &[String], number: u32) -> Result<Self> {
        let sql = Sql { stage: format!("pg_temp.{}", quoted(&format!("_faucet_stage_{number}"))), target, plan, key };
        client.batch_execute(&sql.create()).await.map_err(|e| from_driver(&e))?;
        let prepare = |text: String| async move { client.prepare(&text).await.map_err(|e| from_driver(&e)) };
        let (copy_complete, copy_any) = try_join!(prepare(sql.copy(false)), prepare(sql.copy(true)))?;
        let (insert, delete, update, fill) =
            try_join!(prepare(sql.insert()), prepare(sql.delete()), prepare(sql.update()), prepare(sql.fill()))?;
        let (empty, drop) = (format!("TRUNCATE {}", sql.stage), format!("DROP TABLE {}", sql.stage));
        Ok(Self { copy_complete, copy_any, insert, delete, update, fill, empty, drop, filled: false })
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
        client.batch_execute(&self.drop).await.map_err(|e| from_driver(&e))
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
        let (complete, partial): (Vec<Upsert>, Vec<Upsert>) =
            folded.upserts.iter().partition(|upsert| upsert.rest == Rest::Complete);
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
        let mut mask = Vec::new();
        copy(client, &self.copy_any, round.plan, |fields| match lines.next() {
            Some(line) => {
                round.push(fields, &mut slots, &mut mask, line)?;
                Ok(true)
            }
            None => Ok(false),
        })
        .await?;
        let moved = round.partial.iter().any(|p| matches!(p.rest, Rest::Moved { .. }));
        let run = |statement, wanted: bool| async move {
            if wanted { client.execute(statement, &[]).await.map_err(|e| from_driver(&e)) } else { Ok(0) }
        };
        // Sent at once, executed in this order; after a failure the server refuses the rest.
        let (filled, deleted, inserted, updated) = join!(
            run(&self.fill, moved),
            run(&self.delete, !round.folded.deletes.is_empty()),
            run(&self.insert, moved || !round.complete.is_empty()),
            run(&self.update, !round.partial.is_empty()),
        );
        let found = filled?;
        deleted?;
        inserted?;
        Ok((round.partial.len() as u64).saturating_sub(found + updated?))
    }

    /// Empties the stage if this transaction has filled it before.
    async fn clear(&mut self, client: &Client) -> Result<()> {
        if std::mem::replace(&mut self.filled, true) {
            client.batch_execute(&self.empty).await.map_err(|e| from_driver(&e))?;
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
    Origin { row: u32, number: i32, own_first: bool },
}

impl Round<'_> {
    fn lines(&self) -> impl Iterator<Item = Line> {
        let deletes = self.folded.deletes.iter().map(|row| Line::Delete(*row));
        let partial = (0..).zip(self.partial).map(|(number, upsert)| Line::Partial { row: upsert.row, number });
        let origins = (0..).zip(self.partial).filter_map(|(number, upsert)| match upsert.rest {
            Rest::Moved { from, own_first } => Some(Line::Origin { row: from, number, own_first }),
            Rest::Own | Rest::Complete => None,
        });
        let complete = self.complete.iter().map(|upsert| Line::Complete(upsert.row));
        deletes.chain(partial).chain(origins).chain(complete)
    }

    fn push(&self, fields: &mut Fields, slots: &mut Slots<'_>, mask: &mut Vec<u8>, line: Line) -> Result<()> {
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

/// The statements' texts.
struct Sql<'a> {
    stage: String,
    target: &'a Target,
    plan: &'a Plan,
    key: &'a [String],
}

impl Sql<'_> {
    fn create(&self) -> String {
        let column = |w: &Write| format!(", {} {}", w.sql(), w.column.stage_type);
        let columns: String = self.plan.writes.iter().map(column).collect();
        format!(
            "CREATE TEMPORARY TABLE {} (_faucet_op pg_catalog.int2, _faucet_row pg_catalog.int4, \
             _faucet_absent pg_catalog.bytea{columns}) ON COMMIT DELETE ROWS",
            self.stage
        )
    }

    fn copy(&self, any: bool) -> String {
        let extra = if any { "_faucet_op, _faucet_row, _faucet_absent, " } else { "" };
        let (names, format) = (self.plan.names(), self.plan.format.sql());
        format!("COPY {} ({extra}{names}) FROM STDIN ({format})", self.stage)
    }

    fn insert(&self) -> String {
        let (target, names) = (self.target.sql(), self.plan.names());
        let sets: Vec<_> = self.set().map(|(_, w)| format!("{0} = EXCLUDED.{0}", w.sql())).collect();
        let action = if sets.is_empty() { "NOTHING".to_owned() } else { format!("UPDATE SET {}", sets.join(", ")) };
        format!(
            "INSERT INTO {target} ({names}) OVERRIDING SYSTEM VALUE \
             SELECT {names} FROM {} WHERE _faucet_op IS NULL ON CONFLICT ({}) DO {action}",
            self.stage,
            list(self.key.iter().map(String::as_str))
        )
    }

    fn delete(&self) -> String {
        let (target, stage, same) = (self.target.sql(), &self.stage, self.same_key("t", "s"));
        format!("DELETE FROM {target} AS t USING {stage} AS s WHERE s._faucet_op = {DELETE} AND {same}")
    }

    fn update(&self) -> String {
        let (target, stage, same) = (self.target.sql(), &self.stage, self.same_key("t", "s"));
        let mut sets: Vec<_> = self.set().map(merged).collect();
        if sets.is_empty() {
            // Nothing can be absent then, but the statement has to be one.
            sets = self.key.iter().map(|k| format!("{0} = t.{0}", quoted(k))).collect();
        }
        let sets = sets.join(", ");
        format!("UPDATE {target} AS t SET {sets} FROM {stage} AS s WHERE s._faucet_op = {PARTIAL} AND {same}")
    }

    fn fill(&self) -> String {
        let (target, stage) = (self.target.sql(), &self.stage);
        let written = self.plan.writes.iter().enumerate().filter(|(_, w)| !w.key);
        let sets: String = written.map(|set| format!("{}, ", merged(set))).collect();
        format!(
            "UPDATE {stage} AS s SET {sets}_faucet_op = NULL FROM {stage} AS o JOIN {target} AS t ON {} \
             WHERE s._faucet_op = {PARTIAL} AND o._faucet_row = s._faucet_row AND (o._faucet_op = {ORIGIN} \
             OR o._faucet_op = {ORIGIN_IF_NONE} AND NOT EXISTS (SELECT FROM {target} AS n WHERE {}))",
            self.same_key("t", "o"),
            self.same_key("n", "s")
        )
    }

    /// The columns that an update sets (K4), with their places.
    fn set(&self) -> impl Iterator<Item = (usize, &Write)> {
        self.plan.writes.iter().enumerate().filter(|(_, w)| !w.key && !w.column.identity_always)
    }

    fn same_key(&self, a: &str, b: &str) -> String {
        let same = |k: &String| format!("{a}.{0} = {b}.{0}", quoted(k));
        self.key.iter().map(same).collect::<Vec<_>>().join(" AND ")
    }
}

/// Sets a column to the staged value, or keeps the one in `t` where the stage has none.
fn merged((place, write): (usize, &Write)) -> String {
    let name = write.sql();
    match write.source {
        Origin::Column(_) => {
            format!(
                "{name} = CASE pg_catalog.get_bit(s._faucet_absent, {place}) WHEN 1 THEN t.{name} ELSE s.{name} END"
            )
        }
        // Members that the row lacks stay.
        Origin::Row => format!("{name} = t.{name} OPERATOR(pg_catalog.||) s.{name}"),
    }
}
