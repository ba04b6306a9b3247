//! The ways to write a page whose rows are found by key, and which of them a table needs.
//!
//! Folding a page per key is quick, and equal to its changes one by one as far as single rows go. Three things are not
//! about single rows. A second unique index, an exclusion constraint or a reference of the table to itself can refuse, on
//! the way to the folded state, what the source's own order avoids: such a page is folded inside a savepoint, and when a
//! constraint refuses it, its changes are applied in the order of the source. Triggers, and references with an action
//! (`ON DELETE CASCADE`), make what happens depend on each change: there the order of the source comes first. And a
//! constraint that can be deferred holds again only at the end of the source's transaction.

use faucet_core::error::{Error, Result};
use faucet_core::model::Page;

use super::target::Order;
use super::writer::{Into, Keyed, PostgresSink, Prepared};
use crate::postgres::error::{CONSTRAINT_VIOLATED, from_driver};
use crate::sql::{self, Folded, Keying, Stretch};

/// How a page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Folded per key.
    Folded,
    /// One change after the other.
    InOrder,
    /// Folded, with constraints checked at the end.
    Deferred,
}

/// The ways to try for a page that came down to `folded` out of `rows` rows, one after the other.
fn ways(order: &Order, folded: &Folded, rows: usize) -> Vec<Way> {
    let plain = folded.is_plain(rows);
    let mut ways = match (order.effects && !plain, order.strict && !plain) {
        (true, _) => vec![Way::InOrder],
        (false, true) => vec![Way::Folded, Way::InOrder],
        (false, false) => vec![Way::Folded],
    };
    if !order.deferrable.is_empty() {
        ways.push(Way::Deferred);
    }
    ways
}

impl PostgresSink {
    /// Writes a page for which all is prepared.
    pub(super) async fn merge(&mut self, page: &Page, keyed: Keyed) -> Result<()> {
        let ways = ways(&self.prepared().1.order, &keyed.folded, page.rows());
        if let [way] = ways[..] {
            return self.write_by(way, page, &keyed).await;
        }
        let mut refusal: Option<Error> = None;
        for way in ways {
            self.run("SAVEPOINT faucet_way").await?;
            match self.write_by(way, page, &keyed).await {
                Ok(()) => return self.run("RELEASE SAVEPOINT faucet_way").await,
                Err(error) if error.code().id == CONSTRAINT_VIOLATED.id => {
                    self.run("ROLLBACK TO SAVEPOINT faucet_way; RELEASE SAVEPOINT faucet_way").await?;
                    refusal = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        refusal.map_or(Ok(()), Err)
    }

    async fn write_by(&mut self, way: Way, page: &Page, keyed: &Keyed) -> Result<()> {
        let skipped = match way {
            Way::Folded => self.write_folded(page, keyed).await?,
            Way::InOrder => self.write_in_order(page, keyed).await?,
            Way::Deferred => self.write_deferred(page, keyed).await?,
        };
        self.count_skipped(skipped);
        Ok(())
    }

    async fn write_folded(&mut self, page: &Page, keyed: &Keyed) -> Result<u64> {
        if keyed.folded.truncate {
            self.empty().await?;
        }
        let batch = self.config.batch_size.unwrap_or(usize::MAX);
        let (session, Prepared { plan, into, .. }) = self.parts();
        let Into::Merge(merge) = into else { unreachable!("bug: pages are folded only to be merged") };
        merge.apply(session, plan, page, &keyed.folded, batch).await
    }

    async fn write_in_order(&mut self, page: &Page, keyed: &Keyed) -> Result<u64> {
        let ops = self.ops(page)?;
        let keying = Keying { key: &keyed.key, marker: keyed.marker };
        let Into::Merge(merge) = &self.prepared().0.into else {
            unreachable!("bug: pages are folded only to be merged")
        };
        let moves = merge.can_move();
        let mut skipped = 0;
        for stretch in sql::stretches(page, keying, ops.as_deref(), moves) {
            skipped += match stretch {
                Stretch::Empty => {
                    self.empty().await?;
                    0
                }
                Stretch::Together(rows) => {
                    let part = page.slice(rows.start, rows.len());
                    let ops = ops.as_ref().map(|ops| &ops[rows]);
                    let folded = sql::fold(&part, &keyed.key, keyed.marker, ops);
                    self.write_folded(&part, &Keyed { folded, key: keyed.key.clone(), marker: keyed.marker }).await?
                }
                Stretch::Changes(rows) => {
                    let changes = sql::each_change(page, keyed.marker, ops.as_deref(), rows);
                    let (session, Prepared { plan, into, .. }) = self.parts();
                    let Into::Merge(merge) = into else { unreachable!("bug: pages are folded only to be merged") };
                    merge.apply_in_order(session, plan, page, &changes).await?
                }
            };
        }
        Ok(skipped)
    }

    /// Constraints that were not deferred by themselves are checked at the end of the page where rows can be set aside, and
    /// else at the commit, with which a transaction of the source ends.
    async fn write_deferred(&mut self, page: &Page, keyed: &Keyed) -> Result<u64> {
        let names = self.prepared().1.order.deferrable.join(", ");
        self.run(&format!("SET CONSTRAINTS {names} DEFERRED")).await?;
        let skipped = match self.prepared().1.order.effects {
            true => self.write_in_order(page, keyed).await?,
            false => self.write_folded(page, keyed).await?,
        };
        if self.sets_aside {
            self.run(&format!("SET CONSTRAINTS {names} IMMEDIATE")).await?;
        }
        Ok(skipped)
    }

    async fn empty(&self) -> Result<()> {
        self.run(&self.prepared().1.emptying()).await
    }

    pub(super) async fn run(&self, sql: &str) -> Result<()> {
        self.client().batch_execute(sql).await.map_err(|e| from_driver(&e))
    }

    /// Most often such rows are deleted later in the stream, which is read again; but a row that was set aside is missing
    /// too.
    fn count_skipped(&self, skipped: u64) {
        if skipped == 0 {
            return;
        }
        metrics::counter!("faucet_sink_partial_updates_skipped_total").increment(skipped);
        match self.sets_aside {
            true => tracing::warn!(skipped, "updates that left columns out found no row: it may be in the dlq"),
            false => tracing::debug!(skipped, "updates that left columns out found no row"),
        }
    }
}
