//! In-memory ports that keep a journal of what became durable, and fail on command.

use async_trait::async_trait;
use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::mirror::Rows;
use faucet_core::model::{Field, Kind, Op, Page, PageBuilder, Position, Schema, TableId, ValueRef};
use faucet_core::pipeline::{Allowance, DeadLetters, Opening, Recipe};
use faucet_core::ports::{
    Batch, Bookmark, Boundary, Capture, Claim, Discovered, Expect, Finding, Output, Rejected, SetAside, Sink, Source,
    Split, StateStore, Transform, Version, Versioned,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

pub static FLAKY: Code =
    Code { id: "test.flaky", blame: Blame::Source, retry: Retry::Backoff, title: "a fault that passes", help: "" };
pub static BROKEN: Code =
    Code { id: "test.broken", blame: Blame::Sink, retry: Retry::Operator, title: "a fault that stays", help: "" };

/// What became durable, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Letters,
    Sink(i64),
    State(u64),
    Upstream(u64),
    Finished,
    Closed,
}

/// One piece of the scripted stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// A transaction of so many rows.
    Transaction(u32),
    /// The first part of a transaction that goes on in the next piece.
    Part(u32),
    /// Fails once with a fault that passes.
    Fault,
    /// Nothing until the stop.
    Silence,
    /// The position moved without a row.
    Idle,
}

#[derive(Default)]
pub struct Shared {
    pub journal: Vec<Entry>,
    pub state: BTreeMap<String, Value>,
    /// Committed rows, by id.
    pub rows: Vec<i64>,
    pub token: Option<String>,
    /// The upstream forgets what was confirmed.
    pub pruned_to: u64,
    pub faults_left: u32,
    pub sink_fails_at: Option<i64>,
    pub state_fails: u32,
    pub opened_at: Vec<u64>,
    pub captures: u32,
    /// Calls of the sink's `write`.
    pub writes: u32,
    /// There is a dead-letter queue for so many rows.
    pub most_letters: Option<u64>,
    /// Ids that the transform rejects.
    pub rejects: Vec<i64>,
    /// Ids that the sink refuses.
    pub refuses: Vec<i64>,
    /// Stage and row of the letters that are durable.
    pub letters: Vec<(String, i64)>,
}

/// A world: a script, and what is shared between its ports.
#[derive(Clone)]
pub struct World {
    pub script: Arc<Vec<Piece>>,
    pub shared: Arc<Mutex<Shared>>,
    /// Whether pieces end with bookmarks (a change stream) or not (a query).
    pub bookmarks: bool,
}

impl World {
    pub fn new(script: &[Piece]) -> Self {
        let faults_left = script.iter().filter(|p| **p == Piece::Fault).count() as u32;
        let shared = Shared { faults_left, ..Shared::default() };
        Self { script: Arc::new(script.to_vec()), shared: Arc::new(Mutex::new(shared)), bookmarks: true }
    }

    pub fn query(script: &[Piece]) -> Self {
        Self { bookmarks: false, ..Self::new(script) }
    }

    pub fn with<T>(&self, f: impl FnOnce(&mut Shared) -> T) -> T {
        f(&mut self.shared.lock().unwrap())
    }

    pub fn journal(&self) -> Vec<Entry> {
        self.with(|s| s.journal.clone())
    }

    /// Ids of all rows in the script.
    pub fn all_rows(&self) -> Vec<i64> {
        let rows = |p: &Piece| if let Piece::Transaction(n) | Piece::Part(n) = p { *n } else { 0 };
        (0..i64::from(self.script.iter().map(rows).sum::<u32>())).collect()
    }
}

/// Rows whose ids count on from the rows of the pieces before.
fn page(first: i64, rows: u32) -> Page {
    let schema = Schema::new(TableId::bare("t"), vec![Field::new("id", Kind::I64)]).with_key(vec![0]);
    let mut page = PageBuilder::changes(Arc::new(schema));
    for row in 0..rows {
        page.columns()[0].push_i64(first + i64::from(row));
        page.end_change(Op::Insert, 1, row.into(), 1_700_000_000_000_000);
    }
    page.finish()
}

pub struct MemorySource {
    world: World,
    at: usize,
}

#[async_trait]
impl Source for MemorySource {
    async fn next(&mut self) -> Result<Option<Batch>> {
        tokio::task::yield_now().await;
        let Some(&piece) = self.world.script.get(self.at) else { return Ok(None) };
        let before = World { script: Arc::new(self.world.script[..self.at].to_vec()), ..self.world.clone() };
        let first = before.all_rows().len() as i64;
        let (pages, inside) = match piece {
            Piece::Silence => std::future::pending().await,
            Piece::Fault if self.world.with(|s| s.faults_left > 0) => {
                self.world.with(|s| s.faults_left -= 1);
                return Err(Error::new(&FLAKY, "the connection dropped"));
            }
            Piece::Fault | Piece::Idle => (vec![], false),
            Piece::Transaction(rows) => (vec![page(first, rows)], false),
            Piece::Part(rows) => (vec![page(first, rows)], true),
        };
        self.at += 1;
        let bookmark = self.world.bookmarks.then(|| Bookmark(self.at.into()));
        let boundary = if inside { Boundary::Inside } else { Boundary::Commit(bookmark) };
        Ok(Some(Batch { pages, boundary }))
    }

    async fn confirm(&mut self, durable: &Bookmark) -> Result<()> {
        let at = durable.0.as_u64().unwrap();
        self.world.with(|s| {
            s.pruned_to = s.pruned_to.max(at);
            s.journal.push(Entry::Upstream(at));
        });
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        self.world.with(|s| s.journal.push(Entry::Closed));
        Ok(())
    }
}

pub struct MemorySink {
    world: World,
    open: Vec<i64>,
    aside: Vec<SetAside>,
}

#[async_trait]
impl Sink for MemorySink {
    async fn last_token(&mut self, _scope: &str) -> Result<Option<String>> {
        Ok(self.world.with(|s| s.token.clone()))
    }

    async fn write(&mut self, page: Page) -> Result<()> {
        tokio::task::yield_now().await;
        self.world.with(|s| s.writes += 1);
        for row in 0..page.rows() {
            let id = id(&page, row);
            if self.world.with(|s| s.refuses.contains(&id)) {
                let error = Error::new(&BROKEN, "the row is refused");
                self.aside.push(SetAside { rows: page.slice(row, 1), error });
                continue;
            }
            if self.world.with(|s| s.sink_fails_at) == Some(id) {
                return Err(Error::new(&BROKEN, "the disk is full"));
            }
            self.open.push(id);
        }
        Ok(())
    }

    fn set_aside(&mut self) -> Vec<SetAside> {
        std::mem::take(&mut self.aside)
    }

    async fn commit(&mut self, token: Option<(&str, &str)>) -> Result<()> {
        // A commit takes a while, so that work can gather behind it.
        for _ in 0..8 {
            tokio::task::yield_now().await;
        }
        let rows = std::mem::take(&mut self.open);
        self.world.with(|s| {
            s.rows.extend(&rows);
            s.token = token.map(|(_, t)| t.to_owned()).or(s.token.take());
            s.journal.push(Entry::Sink(s.rows.len() as i64));
        });
        Ok(())
    }

    async fn finish(&mut self) -> Result<()> {
        self.world.with(|s| s.journal.push(Entry::Finished));
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

fn id(page: &Page, row: usize) -> i64 {
    match page.row(row).by_name("id") {
        Some(ValueRef::I64(id)) => id,
        _ => serde_json::from_str::<Value>(&after_image(page, row)).unwrap()["id"].as_i64().unwrap(),
    }
}

/// Rejects the rows it is told to.
struct Picky(World);

#[async_trait]
impl Transform for Picky {
    fn name(&self) -> &str {
        "picky"
    }

    fn takes_changes(&self) -> bool {
        false
    }

    async fn apply(&mut self, page: Page) -> Result<Output> {
        let rejects = self.0.with(|s| s.rejects.clone());
        let (bad, good): (Vec<u32>, Vec<u32>) =
            (0..page.rows() as u32).partition(|row| rejects.contains(&id(&page, *row as usize)));
        let rejected = bad.into_iter().map(|row| Rejected { row, reason: "not liked".into() }).collect();
        Ok(Output { pages: vec![page.take(&good.into())], rejected })
    }
}

/// Keeps letters in the world.
struct Letters {
    world: World,
    open: Vec<(String, i64)>,
}

#[async_trait]
impl Sink for Letters {
    async fn last_token(&mut self, _scope: &str) -> Result<Option<String>> {
        Ok(None)
    }

    async fn write(&mut self, page: Page) -> Result<()> {
        for row in 0..page.rows() {
            let text = |name| match page.row(row).by_name(name) {
                Some(ValueRef::Text(text) | ValueRef::Json(text)) => text.to_owned(),
                other => panic!("{name} is {other:?}"),
            };
            let envelope: Value = serde_json::from_str(&text("row")).unwrap();
            self.open.push((text("stage"), envelope["after"]["id"].as_i64().unwrap()));
        }
        Ok(())
    }

    fn set_aside(&mut self) -> Vec<SetAside> {
        Vec::new()
    }

    async fn commit(&mut self, _token: Option<(&str, &str)>) -> Result<()> {
        let open = std::mem::take(&mut self.open);
        self.world.with(|s| {
            s.letters.extend(open);
            s.journal.push(Entry::Letters);
        });
        Ok(())
    }

    async fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

fn after_image(page: &Page, row: usize) -> String {
    match page.row(row).by_name("after") {
        Some(ValueRef::Json(text)) => text.to_owned(),
        other => panic!("an envelope has an after-image, found {other:?}"),
    }
}

#[async_trait]
impl Recipe for World {
    async fn source(&self, opening: Opening) -> Result<Box<dyn Source>> {
        let at = opening.bookmark.map_or(0, |b| b.0.as_u64().unwrap());
        self.with(|s| {
            assert!(at >= s.pruned_to, "opened at {at}, but the upstream forgot all before {}", s.pruned_to);
            s.opened_at.push(at);
        });
        Ok(Box::new(MemorySource { world: self.clone(), at: at as usize }))
    }

    async fn transforms(&self) -> Result<Vec<Box<dyn Transform>>> {
        let picky = self.with(|s| !s.rejects.is_empty());
        Ok(if picky { vec![Box::new(Picky(self.clone()))] } else { vec![] })
    }

    async fn sink(&self, _: Option<&Claim>) -> Result<Box<dyn Sink>> {
        Ok(Box::new(MemorySink { world: self.clone(), open: vec![], aside: vec![] }))
    }

    async fn dead_letters(&self) -> Result<Option<DeadLetters>> {
        let most = self.with(|s| s.most_letters);
        let queue = Letters { world: self.clone(), open: vec![] };
        Ok(most.map(|most| DeadLetters::new(Box::new(queue), "p", Allowance::new(most))))
    }
}

impl Rows for World {
    fn split(&self) -> Option<Box<dyn Split>> {
        None
    }

    fn recipe(&self, _: Option<Value>) -> Arc<dyn Recipe> {
        Arc::new(self.clone())
    }
}

#[async_trait]
impl StateStore for World {
    async fn get(&self, key: &str) -> Result<Option<Versioned>> {
        let value = self.with(|s| s.state.get(key).cloned());
        Ok(value.map(|value| Versioned { value, version: Version(String::new()) }))
    }

    async fn put(&self, key: &str, value: &Value, _expect: Expect) -> Result<Version> {
        self.with(|s| {
            if s.state_fails > 0 {
                s.state_fails -= 1;
                return Err(Error::new(&FLAKY, "the state store is away"));
            }
            s.state.insert(key.to_owned(), value.clone());
            if let Some(at) = value["bookmark"].as_u64() {
                s.journal.push(Entry::State(at));
            }
            Ok(Version(String::new()))
        })
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        Ok(self.with(|s| s.state.keys().filter(|k| k.starts_with(prefix)).cloned().collect()))
    }

    async fn delete(&self, key: &str) -> Result<()> {
        self.with(|s| s.state.remove(key));
        Ok(())
    }

    fn durable(&self) -> bool {
        true
    }
}

#[async_trait]
impl Capture for World {
    async fn capture(&mut self) -> Result<Bookmark> {
        self.with(|s| s.captures += 1);
        Ok(Bookmark(0.into()))
    }

    fn position(&self, bookmark: &Bookmark) -> Result<Position> {
        Ok(Position::from_commit(bookmark.0.as_u64().unwrap(), 0))
    }

    async fn discover(&mut self) -> Result<Vec<Discovered>> {
        Ok(vec![])
    }

    async fn examine(&mut self, _: Option<&Bookmark>) -> Result<Vec<Finding>> {
        Ok(vec![])
    }

    async fn release(&mut self) -> Result<bool> {
        Ok(true)
    }
}
