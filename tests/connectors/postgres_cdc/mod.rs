//! The change stream of a real PostgreSQL server.

mod batches;
mod changes;
mod connections;
mod examine;
mod failures;
mod idle;
mod images;
mod partitions;
mod resume;
mod silence;
mod slots;
mod tls;
mod transactions;

use faucet_core::error::Error;
use faucet_core::model::{Column, Page, ValueRef};
use faucet_core::ports::{AnySource, Batch, Bookmark, Boundary, Source, SourceContext};
use faucet_tests::{Client, Database, Postgres, fresh_database, runtime};
use serde_json::{Value, json};

/// A database with tables, a publication of them, and the configuration of a stream.
pub struct Fixture {
    pub database: Database,
    pub config: Value,
}

impl Fixture {
    /// `ddl` makes the tables, all of which are published.
    pub fn new(ddl: &str) -> Self {
        Self::on(fresh_database(), ddl, "FOR ALL TABLES")
    }

    /// The same with a publication `of` something.
    pub fn publishing(ddl: &str, of: &str) -> Self {
        Self::on(fresh_database(), ddl, of)
    }

    /// The same on a server of its own.
    pub fn on_server(server: &Postgres, ddl: &str) -> Self {
        Self::on(Database::create_on(server), ddl, "FOR ALL TABLES")
    }

    fn on(database: Database, ddl: &str, of: &str) -> Self {
        database.client().execute(ddl);
        database.client().execute(&format!("CREATE PUBLICATION pub {of}"));
        let config = json!({
            "connection_url": database.url(),
            "slot_name": format!("slot_{}", database.name()),
            "publication_name": "pub",
            "idle_timeout": "150ms",
        });
        Self { database, config }
    }

    /// The same with some keys of the configuration replaced.
    pub fn with(mut self, keys: Value) -> Self {
        let keys = keys.as_object().unwrap().clone();
        self.config.as_object_mut().unwrap().extend(keys);
        self
    }

    pub fn sql(&self, sql: &str) {
        self.database.client().execute(sql);
    }

    pub fn client(&self) -> Client {
        self.database.connect()
    }

    pub fn slot(&self) -> &str {
        self.config["slot_name"].as_str().unwrap()
    }

    /// The slot's confirmed position.
    pub fn confirmed(&self) -> String {
        let slot = self.slot();
        let sql = format!("SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = '{slot}'");
        self.database.client().one(&sql)
    }

    pub fn try_open(&self, bookmark: Option<Bookmark>) -> Result<Stream, Error> {
        open(&self.config, bookmark)
    }

    pub fn open(&self) -> Stream {
        self.try_open(None).unwrap()
    }

    pub fn resume(&self, bookmark: &Bookmark) -> Stream {
        self.try_open(Some(bookmark.clone())).unwrap()
    }

    /// Makes the slot without reading from it.
    pub fn capture(&self) -> Bookmark {
        try_capture(&self.config).unwrap()
    }
}

pub fn connector() -> Box<dyn AnySource> {
    let found = faucet_connectors::registry::sources().into_iter().find(|s| s.name() == "postgres-cdc");
    found.expect("postgres-cdc is registered")
}

pub fn open(config: &Value, bookmark: Option<Bookmark>) -> Result<Stream, Error> {
    let config = config.clone();
    assert_eq!(connector().validate(&config), []);
    let context = SourceContext { bookmark, pipeline: "test".into(), ..SourceContext::default() };
    runtime::wait(async move { connector().open(&config, context).await }).map(|s| Stream(Some(s)))
}

pub fn try_capture(config: &Value) -> Result<Bookmark, Error> {
    let mut capture = connector().capture(config).expect("a permanent slot can be captured");
    runtime::wait(async move { capture.capture().await })
}

/// An open stream, driven from blocking tests.
pub struct Stream(Option<Box<dyn Source>>);

impl Stream {
    fn run<T: Send + 'static>(&mut self, f: impl AsyncFnOnceOn<T>) -> Result<T, Error> {
        let source = self.0.take().expect("the stream is open");
        let (source, result) = runtime::wait(f.call(source));
        self.0 = Some(source);
        result
    }

    pub fn try_next(&mut self) -> Result<Option<Batch>, Error> {
        self.run(|mut source: Box<dyn Source>| {
            Box::pin(async move {
                let result = source.next().await;
                (source, result)
            })
        })
    }

    pub fn next(&mut self) -> Option<Batch> {
        self.try_next().unwrap()
    }

    pub fn confirm(&mut self, bookmark: &Bookmark) {
        let bookmark = bookmark.clone();
        self.run(move |mut source: Box<dyn Source>| {
            Box::pin(async move {
                let result = source.confirm(&bookmark).await;
                (source, result)
            })
        })
        .unwrap();
    }

    pub fn close(&mut self) {
        self.run(|mut source: Box<dyn Source>| {
            Box::pin(async move {
                let result = source.close().await;
                (source, result)
            })
        })
        .unwrap();
    }

    /// All batches until the cycle ends.
    pub fn drain(&mut self) -> Vec<Batch> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// All changes until the cycle ends, as text.
    pub fn changes(&mut self) -> Vec<String> {
        self.drain().iter().flat_map(changes).collect()
    }

    /// Batches until `count` changes came.
    pub fn take(&mut self, count: usize) -> Vec<Batch> {
        let mut batches = Vec::new();
        while batches.iter().map(Batch::rows).sum::<usize>() < count {
            batches.push(self.next().expect("the cycle goes on"));
        }
        batches
    }
}

/// What a stream is driven with: a future that gives the stream back.
pub trait AsyncFnOnceOn<T>: FnOnce(Box<dyn Source>) -> Driven<T> {
    fn call(self, source: Box<dyn Source>) -> Driven<T>;
}

type Driven<T> = std::pin::Pin<Box<dyn Future<Output = (Box<dyn Source>, Result<T, Error>)> + Send>>;

impl<T, F: FnOnce(Box<dyn Source>) -> Driven<T>> AsyncFnOnceOn<T> for F {
    fn call(self, source: Box<dyn Source>) -> Driven<T> {
        self(source)
    }
}

pub fn bookmark(batch: &Batch) -> Bookmark {
    match &batch.boundary {
        Boundary::Commit(Some(bookmark)) => bookmark.clone(),
        other => panic!("the batch ends in {other:?}"),
    }
}

/// The last bookmark of several batches.
pub fn last_bookmark(batches: &[Batch]) -> Bookmark {
    bookmark(batches.last().expect("there is a batch"))
}

/// The changes of a batch, in the order of their positions: `u t id=1 note=x < id=1`.
pub fn changes(batch: &Batch) -> Vec<String> {
    let mut lines: Vec<(Vec<u8>, String)> = batch.pages.iter().flat_map(page_lines).collect();
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

fn page_lines(page: &Page) -> Vec<(Vec<u8>, String)> {
    let change = page.change().expect("a change stream gives pages of changes");
    let line = |row: usize| {
        let mut text = format!("{} {}", change.ops[row].letter(), page.schema().table.name);
        push_image(&mut text, page, page.columns(), row);
        if let Some(before) = change.before.as_ref().filter(|b| b.present.value(row)) {
            text.push_str(" <");
            push_image(&mut text, page, &before.columns, row);
        }
        (change.positions.get(row).to_vec(), text)
    };
    (0..page.rows()).map(line).collect()
}

fn push_image(text: &mut String, page: &Page, columns: &[Column], row: usize) {
    for (field, column) in page.schema().fields.iter().zip(columns) {
        let value = match column.value(row) {
            ValueRef::Absent => continue,
            ValueRef::Null => "null".to_owned(),
            ValueRef::I64(v) => v.to_string(),
            ValueRef::Bool(v) => v.to_string(),
            ValueRef::Text(v) | ValueRef::Decimal(v) | ValueRef::Json(v) | ValueRef::Native(v) => shorten(v),
            other => format!("{other:?}"),
        };
        text.push_str(&format!(" {}={value}", field.name));
    }
}

fn shorten(text: &str) -> String {
    if text.len() > 40 { format!("{}..({})", &text[..8], text.len()) } else { text.to_owned() }
}
