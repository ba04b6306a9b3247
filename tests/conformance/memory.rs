//! A destination and an origin in memory: the plainest thing that keeps every promise, so that a check that fails on it
//! is wrong itself.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::model::{Field, Kind, Op, Page, PageBuilder, Schema, TableId, ValueRef};
use faucet_core::ports::{
    Batch, Bookmark, Boundary, SetAside, Sink, SinkCapabilities, Source, SourceCapabilities, WriteMode,
};
use serde_json::json;

use crate::origins::Origin;
use crate::rows::{Row, rows_of};
use crate::sinks::Destination;

static REFUSED: Code = Code {
    id: "memory.refused",
    blame: Blame::Sink,
    retry: Retry::Never,
    title: "the page can't be written",
    help: "Only tests see this.",
};

/// What somebody else sees.
#[derive(Debug, Default, Clone)]
struct Stored {
    rows: Vec<Row>,
    tokens: HashMap<String, String>,
}

/// Rows in memory.
pub struct MemoryDestination {
    mode: WriteMode,
    stored: Arc<Mutex<Stored>>,
}

#[async_trait]
impl Destination for MemoryDestination {
    async fn new(mode: WriteMode) -> Option<Self> {
        Some(Self { mode, stored: Arc::default() })
    }

    fn capabilities(&self) -> SinkCapabilities {
        SinkCapabilities {
            write_mode: self.mode,
            modes: vec![WriteMode::Append, WriteMode::Upsert, WriteMode::Overwrite],
            transactional: true,
            tokens: self.mode != WriteMode::Overwrite,
            ..SinkCapabilities::default()
        }
    }

    async fn open(&self) -> Result<Box<dyn Sink>> {
        let working = if self.mode == WriteMode::Overwrite { Stored::default() } else { locked(&self.stored).clone() };
        Ok(Box::new(MemorySink { mode: self.mode, stored: self.stored.clone(), committed: working.clone(), working }))
    }

    async fn rows(&self) -> Vec<Row> {
        locked(&self.stored).rows.clone()
    }
}

fn locked(stored: &Mutex<Stored>) -> MutexGuard<'_, Stored> {
    stored.lock().expect("no holder of the lock panics")
}

struct MemorySink {
    mode: WriteMode,
    stored: Arc<Mutex<Stored>>,
    committed: Stored,
    working: Stored,
}

impl MemorySink {
    fn put(&mut self, (id, a): Row, op: Option<&str>, is_absent: bool) {
        let at = self.working.rows.iter().position(|(known, _)| *known == id);
        match (self.mode, op, at) {
            (WriteMode::Append | WriteMode::Overwrite, _, _) => self.working.rows.push((id, a)),
            (WriteMode::Upsert, Some("d"), Some(at)) => drop(self.working.rows.remove(at)),
            (WriteMode::Upsert, Some("d"), None) => {}
            (WriteMode::Upsert, _, Some(_)) if is_absent => {}
            (WriteMode::Upsert, Some("u"), None) if is_absent => {}
            (WriteMode::Upsert, _, Some(at)) => self.working.rows[at].1 = a,
            (WriteMode::Upsert, _, None) => self.working.rows.push((id, a)),
        }
    }

    fn check(&self, page: &Page) -> Result<()> {
        let names: HashSet<_> = page.schema().fields.iter().map(|f| &f.name).collect();
        let keyed = page.column("id").is_some_and(|ids| (0..page.rows()).all(|row| !ids.is_null(row)));
        if names.len() < page.schema().fields.len() || (self.mode == WriteMode::Upsert && !keyed) {
            return Err(Error::new(&REFUSED, "a column comes twice, or a key is missing").hint("write another page"));
        }
        Ok(())
    }
}

#[async_trait]
impl Sink for MemorySink {
    async fn last_token(&mut self, scope: &str) -> Result<Option<String>> {
        Ok(locked(&self.stored).tokens.get(scope).cloned())
    }

    async fn write(&mut self, page: Page) -> Result<()> {
        self.check(&page)?;
        for (row, values) in rows_of(&page).enumerate() {
            let op = match page.row(row).by_name("__op") {
                Some(ValueRef::Text(op)) => Some(op),
                _ => None,
            };
            let is_absent = page.row(row).by_name("a") == Some(ValueRef::Absent);
            self.put(values, op, is_absent);
        }
        Ok(())
    }

    fn set_aside(&mut self) -> Vec<SetAside> {
        Vec::new()
    }

    async fn commit(&mut self, token: Option<(&str, &str)>) -> Result<()> {
        if let Some((scope, token)) = token {
            if self.mode == WriteMode::Overwrite {
                return Err(Error::new(&REFUSED, "an overwrite keeps no tokens"));
            }
            self.working.tokens.insert(scope.to_owned(), token.to_owned());
        }
        self.committed = self.working.clone();
        if self.mode != WriteMode::Overwrite {
            *locked(&self.stored) = self.committed.clone();
        }
        Ok(())
    }

    async fn finish(&mut self) -> Result<()> {
        self.commit(None).await?;
        *locked(&self.stored) = self.committed.clone();
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        self.working = self.committed.clone();
        Ok(())
    }
}

/// Inserts in memory, as a change stream that resumes at bookmarks.
pub struct MemoryOrigin {
    rows: usize,
}

/// Rows in a batch.
const BATCH: usize = 100;

#[async_trait]
impl Origin for MemoryOrigin {
    async fn new(rows: usize) -> Self {
        Self { rows }
    }

    fn capabilities(&self) -> SourceCapabilities {
        SourceCapabilities { changes: true, capture: false, replayable: true, split: false }
    }

    async fn open(&self, bookmark: Option<Bookmark>) -> Result<Box<dyn Source>> {
        let next = bookmark.map_or(0, |Bookmark(place)| place["next"].as_u64().expect("it is ours") as usize);
        Ok(Box::new(MemorySource { rows: self.rows, next, closed: false }))
    }
}

struct MemorySource {
    rows: usize,
    next: usize,
    closed: bool,
}

#[async_trait]
impl Source for MemorySource {
    async fn next(&mut self) -> Result<Option<Batch>> {
        // A call that is dropped here has taken nothing yet.
        tokio::task::yield_now().await;
        if self.closed || self.next >= self.rows {
            return Ok(None);
        }
        let fields = vec![Field::new("id", Kind::I64), Field::new("a", Kind::Text)];
        let mut page = PageBuilder::changes(Arc::new(Schema::new(TableId::bare("t"), fields).with_key(vec![0])));
        let end = self.rows.min(self.next + BATCH);
        for id in self.next..end {
            page.columns()[0].push_i64(id as i64);
            page.columns()[1].push_str(&format!("row {id}"));
            page.end_change(Op::Insert, self.next as u64, id as u64, 0);
        }
        self.next = end;
        let boundary = Boundary::Commit(Some(Bookmark(json!({ "next": end }))));
        Ok(Some(Batch { pages: vec![page.finish()], boundary }))
    }

    async fn confirm(&mut self, _: &Bookmark) -> Result<()> {
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        self.closed = true;
        Ok(())
    }
}
