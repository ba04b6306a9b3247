//! What the messages of the stream mean: transactions, positions, and where batches end. No I/O and no clock.
//!
//! Invariants:
//!
//! * **S1** A bookmark is the end of a commit, or a position the server reported while no transaction was in flight;
//!   every change before it was handed on in this batch or an earlier one.
//! * **S2** Transactions that end at or before the start are skipped whole, and no other change is.
//! * **S3** A batch ends inside a transaction only when that transaction fills it, and then the next end of
//!   a transaction ends a batch: nobody's transaction at the destination grows without bound.

use faucet_core::error::Result;
use faucet_core::ports::{Batch, Boundary};
use std::collections::HashMap;

use super::assemble::{Assembler, Stamp};
use super::catalog::{Described, Missing, Resolved};
use super::decode::{Fault, Image, Message, Tuple, message};
use super::lsn::{Lsn, Place};

/// A batch ends when it is about so large, in bytes.
pub(super) const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// What a message led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The next message can be read.
    Go,
    /// A transaction with changes ended.
    Ended,
    /// The batch is full inside a transaction.
    Full,
    /// [`Intake::question`] must be answered first.
    Ask,
}

/// What has to be asked of the catalog before the stream can go on. Kept until it is answered, so that an abandoned
/// question is asked again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Question {
    /// A table was described.
    Relation(Described),
    /// Partitions were emptied, with or without all others of their table.
    Truncate(Vec<u32>),
    /// A row was inserted, and some of its values were not sent.
    Incomplete(Box<Missing>),
}

#[derive(Debug)]
struct Transaction {
    commit: Lsn,
    committed_at: i64,
    /// Changes so far; the ordinal of the next.
    changes: u64,
    /// Changes in the batch in the making.
    in_batch: usize,
    /// It ended before the start (S2).
    skip: bool,
}

#[derive(Debug)]
pub(super) struct Intake {
    assembler: Assembler,
    batch_rows: usize,
    /// Where the stream was opened.
    start: Place,
    /// Every change before it was handed on or is in the batch in the making (S1).
    position: Lsn,
    /// The position of the last bookmark.
    bookmarked: Lsn,
    transaction: Option<Transaction>,
    /// The last batch ended inside a transaction (S3).
    split: bool,
    question: Option<Question>,
    /// Changes taken in since the start.
    changes: u64,
    /// When the last transaction was committed, microseconds since the Unix epoch.
    committed_at: Option<i64>,
    type_names: HashMap<u32, String>,
}

impl Intake {
    pub(super) fn new(start: Place, batch_rows: usize) -> Self {
        Self {
            assembler: Assembler::new(batch_rows),
            batch_rows,
            position: start.lsn,
            bookmarked: start.lsn,
            start,
            transaction: None,
            split: false,
            question: None,
            changes: 0,
            committed_at: None,
            type_names: HashMap::new(),
        }
    }

    /// Whether a transaction is in flight.
    pub(super) fn is_inside(&self) -> bool {
        self.transaction.is_some()
    }

    /// Whether the batch in the making has no row.
    pub(super) fn is_empty(&self) -> bool {
        self.assembler.rows() == 0
    }

    /// Whether the position moved since the last bookmark, and a bookmark can be made.
    pub(super) fn has_moved(&self) -> bool {
        self.transaction.is_none() && self.position > self.bookmarked
    }

    /// Every change before it was taken in.
    pub(super) fn position(&self) -> Lsn {
        self.position
    }

    /// Changes taken in since the start.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// When the last transaction was committed, microseconds since the Unix epoch.
    pub(super) fn committed_at(&self) -> Option<i64> {
        self.committed_at
    }

    /// What the stream waits for.
    pub(super) fn question(&self) -> Option<&Question> {
        self.question.as_ref()
    }

    /// Whether the batch has to end at the end of a transaction that was just reached (S3).
    pub(super) fn is_due(&self) -> bool {
        self.split || self.assembler.rows() >= self.batch_rows || self.assembler.bytes() >= BATCH_BYTES
    }

    /// Takes in one message of the plugin.
    ///
    /// # Errors
    /// `postgres.stream_corrupt`, `postgres.stream_unexpected`, and those of the value decoders.
    #[inline]
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Step> {
        match message(bytes)? {
            Message::Insert { relation, new } => self.insert(bytes.len(), relation, new),
            Message::Update { relation, old, new } => self.update(bytes.len(), relation, old, new),
            Message::Delete { relation, old } => self.row(bytes.len(), |rows, stamp| rows.delete(relation, old, stamp)),
            Message::Begin { commit, committed_at } => self.begin(commit, committed_at),
            Message::Commit { commit, end } => self.commit(commit, end),
            Message::Truncate { relations } => self.truncate(relations.iter().collect()),
            Message::Relation(relation) => {
                let described = Described::new(relation, &self.type_names);
                self.question = Some(Question::Relation(described));
                Ok(Step::Ask)
            }
            Message::Type { oid, schema, name } => {
                self.type_names.insert(oid, format!("{schema}.{name}"));
                Ok(Step::Go)
            }
            Message::Logical { transactional, lsn } => {
                // One outside a transaction stands between commits, in the order of the log (S1).
                if !transactional && self.transaction.is_none() {
                    self.position = self.position.max(lsn);
                }
                Ok(Step::Go)
            }
            Message::Origin => Ok(Step::Go),
        }
    }

    /// The server has read its log up to `end`.
    pub(super) fn keepalive(&mut self, end: Lsn) {
        if self.transaction.is_none() {
            self.position = self.position.max(end);
        }
    }

    /// The batch in the making, complete.
    pub(super) fn finish(&mut self) -> Batch {
        let pages = self.assembler.finish();
        self.split = self.transaction.is_some();
        let boundary = match &mut self.transaction {
            Some(transaction) => {
                transaction.in_batch = 0;
                Boundary::Inside
            }
            None => {
                self.bookmarked = self.position;
                Boundary::Commit(Some(Place { lsn: self.position, ..self.start.clone() }.to_bookmark()))
            }
        };
        Batch { pages, boundary }
    }

    /// Answers a [`Question::Relation`].
    pub(super) fn resolved(&mut self, oid: u32, resolved: Resolved) {
        self.question = None;
        self.assembler.learn(oid, resolved);
    }

    /// The partitioned tables above the tables of a [`Question::Truncate`].
    pub(super) fn roots(&self, oids: &[u32]) -> Vec<u32> {
        let mut roots: Vec<u32> = oids.iter().filter_map(|&oid| self.assembler.root(oid)).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// Answers a [`Question::Truncate`]: `leaves` are the partitions of each root.
    ///
    /// A partitioned table is emptied when all its partitions are. When only some are, there is no change that says so
    /// about the table: it is logged and counted, and the rows stay at the destination until the next snapshot.
    pub(super) fn truncated(&mut self, oids: &[u32], leaves: &HashMap<u32, Vec<u32>>) -> Result<()> {
        self.question = None;
        let mut done = Vec::new();
        for &oid in oids {
            let Some(root) = self.assembler.root(oid) else {
                self.row(0, |rows, stamp| rows.truncate(oid, stamp))?;
                continue;
            };
            if done.contains(&root) {
                continue;
            }
            done.push(root);
            if leaves.get(&root).is_some_and(|all| all.iter().all(|leaf| oids.contains(leaf))) {
                self.row(0, |rows, stamp| rows.truncate(oid, stamp))?;
            } else {
                self.report_partial_truncate(oid);
            }
        }
        Ok(())
    }

    fn report_partial_truncate(&self, oid: u32) {
        let table = self.assembler.table(oid).map(ToString::to_string).unwrap_or_default();
        tracing::warn!(
            table,
            "some partitions of the table were truncated, not all: their rows stay at the destination until the table \
             is snapshotted again"
        );
        metrics::counter!("faucet_source_partial_truncates_total", "table" => table).increment(1);
    }

    fn begin(&mut self, commit: Lsn, committed_at: i64) -> Result<Step> {
        if self.transaction.is_some() {
            return Err(Fault::Corrupt("a transaction begins inside another").into());
        }
        // The start is the end of a record, so a commit record that starts before it also ends at it or before (S2).
        let skip = commit < self.start.lsn;
        self.transaction = Some(Transaction { commit, committed_at, changes: 0, in_batch: 0, skip });
        Ok(Step::Go)
    }

    fn commit(&mut self, commit: Lsn, end: Lsn) -> Result<Step> {
        let transaction = self.transaction.take().ok_or(Fault::Corrupt("a commit stands outside a transaction"))?;
        if transaction.commit != commit {
            return Err(Fault::Corrupt("a commit ends another transaction than the one that began").into());
        }
        self.position = self.position.max(end);
        if transaction.skip || transaction.changes == 0 {
            return Ok(Step::Go);
        }
        self.committed_at = Some(transaction.committed_at);
        Ok(Step::Ended)
    }

    fn insert(&mut self, bytes: usize, relation: u32, new: Tuple<'_>) -> Result<Step> {
        if new.has_unsent() && self.transaction.as_ref().is_some_and(|transaction| !transaction.skip) {
            let missing = self.assembler.missing(relation, new, bytes)?;
            self.question = Some(Question::Incomplete(Box::new(missing)));
            return Ok(Step::Ask);
        }
        self.row(bytes, |rows, stamp| rows.insert(relation, new, stamp))
    }

    /// Answers a [`Question::Incomplete`]: `values` are those that were not sent, as they are now. A row that isn't there
    /// any more is left out: what became of it comes later in the stream.
    pub(super) fn completed(&mut self, missing: &Missing, values: Option<Vec<Option<String>>>) -> Result<()> {
        self.question = None;
        let Some(values) = values else { return Ok(()) };
        let mut row = missing.sent.clone();
        for ((place, _), value) in missing.wanted.iter().zip(values) {
            row[*place] = value.map(String::into_bytes);
        }
        self.row(missing.bytes, |rows, stamp| rows.insert_values(missing.relation, &row, stamp)).map(drop)
    }

    fn update(&mut self, bytes: usize, relation: u32, old: Option<Image<'_>>, new: Tuple<'_>) -> Result<Step> {
        self.row(bytes, |rows, stamp| rows.update(relation, old, new, stamp))
    }

    fn truncate(&mut self, oids: Vec<u32>) -> Result<Step> {
        if oids.iter().any(|&oid| self.assembler.root(oid).is_some()) {
            self.question = Some(Question::Truncate(oids));
            return Ok(Step::Ask);
        }
        let mut step = Step::Go;
        for oid in oids {
            step = self.row(0, |rows, stamp| rows.truncate(oid, stamp))?;
        }
        Ok(step)
    }

    /// Adds a change of `bytes` bytes to the transaction in flight.
    #[inline]
    fn row(&mut self, bytes: usize, push: impl FnOnce(&mut Assembler, Stamp) -> Result<()>) -> Result<Step> {
        let transaction = self.transaction.as_mut().ok_or(Fault::Corrupt("a change stands outside a transaction"))?;
        if transaction.skip {
            return Ok(Step::Go);
        }
        let (ordinal, committed_at) = (transaction.changes, transaction.committed_at);
        push(&mut self.assembler, Stamp { commit: transaction.commit.0, committed_at, ordinal })?;
        self.assembler.weigh(bytes);
        transaction.changes += 1;
        transaction.in_batch += 1;
        self.changes += 1;
        let full = transaction.in_batch >= self.batch_rows || self.assembler.bytes() >= BATCH_BYTES;
        Ok(if full { Step::Full } else { Step::Go })
    }
}

#[cfg(test)]
#[path = "intake_tests.rs"]
mod tests;
