//! Sources: where batches come from.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::Survey;
use crate::error::{Error, Result};
use crate::model::{Page, Position, TableId};

/// A place a source can resume from, as the JSON it chose. Opaque to everyone else; stored and handed back unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bookmark(pub serde_json::Value);

/// What follows the pages of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Boundary {
    /// The transaction goes on in the next batch: nothing may be committed yet.
    Inside,
    /// A transaction ends here. With a bookmark, a source opened at it continues exactly after this batch.
    Commit(Option<Bookmark>),
}

/// Pages and what follows them.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// Pages in stream order; may be empty when only the position moved (an idle stream).
    pub pages: Vec<Page>,
    /// What follows.
    pub boundary: Boundary,
}

impl Batch {
    /// Rows in all pages.
    pub fn rows(&self) -> usize {
        self.pages.iter().map(Page::rows).sum()
    }

    /// When its first change was committed at the source, in microseconds since the Unix epoch.
    pub fn committed_at(&self) -> Option<i64> {
        self.pages.iter().find_map(|page| page.change()?.committed_at.first().copied())
    }

    /// Bytes in all pages.
    pub fn size_bytes(&self) -> usize {
        self.pages.iter().map(Page::size_bytes).sum()
    }
}

/// A stream of batches, opened at a bookmark or at its beginning.
///
/// * Changes come in commit order, and those of one key in the order they were made.
/// * A source may deliver again what came after the bookmark it was opened at; it never leaves anything out.
/// * An error ends the stream: the caller drops the source and opens a new one at the last durable bookmark.
#[async_trait]
pub trait Source: Send {
    /// The next batch, or `None` when the source is exhausted (a query) or its cycle ended (a change stream).
    ///
    /// Cancel-safe: a call dropped before it returned loses nothing; the next call delivers it.
    async fn next(&mut self) -> Result<Option<Batch>>;

    /// Everything up to `durable` is in the destination and in the state store, so the upstream may forget it.
    ///
    /// Cumulative and idempotent: losing a call costs nothing once a later one arrives.
    async fn confirm(&mut self, durable: &Bookmark) -> Result<()>;

    /// Ends the stream in good order: the last confirmed position reaches the upstream before this returns.
    async fn close(&mut self) -> Result<()>;
}

/// The ability to say where a change stream stands now, and to keep the log from there on.
#[async_trait]
pub trait Capture: Send {
    /// The current position, with everything that resuming from it needs already made (a replication slot).
    ///
    /// Every transaction that commits after the bookmark is delivered by a stream opened at it, and every transaction
    /// that committed at or before it is visible to a query that starts after this returned. Where the upstream already
    /// keeps a place for this source (an existing replication slot), that place is the answer.
    async fn capture(&mut self) -> Result<Bookmark>;

    /// Where a bookmark of this source stands: the position of the last change before it. No I/O.
    ///
    /// # Errors
    /// When the bookmark is not one this source wrote.
    fn position(&self, bookmark: &Bookmark) -> Result<Position>;

    /// The tables the stream covers, with their keys.
    async fn discover(&mut self) -> Result<Vec<Discovered>>;

    /// Of which tables the stream covers only a part. A table that isn't listed is covered whole.
    ///
    /// A snapshot that is followed by the stream has to select the same: a row or a column that the stream leaves out
    /// would never change again at the destination.
    async fn coverage(&mut self) -> Result<Vec<Coverage>> {
        Ok(Vec::new())
    }

    /// The ability to tell whether the stream still covers what was mirrored, where the source can tell.
    fn survey(&self) -> Option<Box<dyn Survey>> {
        None
    }

    /// Looks at all that a stream opened at `bookmark` (or anew) depends on, and changes nothing.
    ///
    /// # Errors
    /// When nothing can be looked at. What is wrong with the things themselves is a [`Finding`].
    async fn examine(&mut self, bookmark: Option<&Bookmark>) -> Result<Vec<Finding>>;

    /// Gives up the place that the upstream keeps for this source (drops the replication slot). Whether there was one.
    async fn release(&mut self) -> Result<bool>;
}

/// What a change stream covers of a table that it doesn't cover whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// The table.
    pub table: TableId,
    /// The columns it covers, in the table's order.
    pub columns: Vec<String>,
    /// Which rows, as a condition in the source's own language; `None` covers all.
    pub filter: Option<String>,
    /// Whether somebody chose the columns, rather than that a stream can't carry the rest (generated columns).
    pub listed: bool,
}

/// What an examination says about one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, such as `slot "orders"`.
    pub subject: String,
    /// How it is.
    pub grade: Grade,
    /// What was found.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Finding {
    /// A thing as it should be.
    pub fn fine(subject: impl Into<String>, what: impl Into<String>) -> Self {
        Self { subject: subject.into(), grade: Grade::Fine, what: what.into(), hint: None }
    }

    /// A thing that works and may hurt later.
    pub fn warning(subject: impl Into<String>, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { grade: Grade::Warning, hint: Some(hint.into()), ..Self::fine(subject, what) }
    }

    /// A thing that keeps the stream from working.
    pub fn failure(subject: impl Into<String>, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { grade: Grade::Failure, hint: Some(hint.into()), ..Self::fine(subject, what) }
    }

    /// The failure that `error` is.
    pub fn error(subject: impl Into<String>, error: &Error) -> Self {
        let hint = error.hint_text().map(str::to_owned);
        Self { grade: Grade::Failure, hint, ..Self::fine(subject, error.to_string()) }
    }
}

/// How an examined thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// As it should be.
    Fine,
    /// It works, and may hurt later.
    Warning,
    /// The stream can't work like this.
    Failure,
}

/// A table that a capture found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// Its name.
    pub table: TableId,
    /// Its primary key's columns in key order; empty when it has none.
    pub key: Vec<String>,
}
