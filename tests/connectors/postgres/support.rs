//! Sources and sinks opened by their configuration, and pages written down as rows.

use faucet_connectors::postgres::query::Query;
use faucet_connectors::postgres::sink::Table;
use faucet_core::error::{Error, Result};
use faucet_core::model::{Field, Kind, Move, Page, PageBuilder, Schema, TableId, ValueRef};
use faucet_core::ports::{SetAside, Sink, SinkContext, Source, SourceContext, erase_sink, erase_source};
use faucet_tests::{Database, runtime};
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;

/// Runs a future from a test's thread.
pub fn block<F: Future>(future: F) -> F::Output {
    runtime::handle().block_on(future)
}

fn config(db: &Database, extra: Value) -> Value {
    let mut config = json!({ "connection_url": db.url() });
    config.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    config
}

/// A sink whose calls block.
pub struct TestSink(Box<dyn Sink>);

impl TestSink {
    #[track_caller]
    pub fn open(db: &Database, extra: Value) -> Self {
        Self::try_open(db, extra).unwrap()
    }

    #[track_caller]
    pub fn try_open(db: &Database, extra: Value) -> Result<Self> {
        Self::open_with(db, extra, SinkContext { pipeline: "test".into(), ..SinkContext::default() })
    }

    pub fn open_with(db: &Database, extra: Value, context: SinkContext) -> Result<Self> {
        let (sink, config) = (erase_sink::<Table>(), config(db, extra));
        let problems = sink.validate(&config);
        assert!(problems.is_empty(), "{problems:?}");
        block(sink.open(&config, context)).map(Self)
    }

    /// The rows of pages written that were refused.
    pub fn set_aside(&mut self) -> Vec<SetAside> {
        self.0.set_aside()
    }

    /// One that sets rows aside instead of failing.
    #[track_caller]
    pub fn open_setting_aside(db: &Database, extra: Value) -> Self {
        let context = SinkContext { pipeline: "test".into(), sets_aside: true, ..SinkContext::default() };
        block(erase_sink::<Table>().open(&config(db, extra), context)).map(Self).unwrap()
    }

    /// The rows that were set aside since the last call.
    pub fn aside(&mut self) -> usize {
        self.0.set_aside().iter().map(|aside| aside.rows.rows()).sum()
    }

    pub fn write(&mut self, page: &Page) -> Result<()> {
        block(self.0.write(page.clone()))
    }

    pub fn commit(&mut self) -> Result<()> {
        block(self.0.commit(None))
    }

    pub fn commit_token(&mut self, scope: &str, token: &str) -> Result<()> {
        block(self.0.commit(Some((scope, token))))
    }

    pub fn last_token(&mut self, scope: &str) -> Result<Option<String>> {
        block(self.0.last_token(scope))
    }

    /// Writes and commits.
    #[track_caller]
    pub fn apply(&mut self, page: &Page) {
        self.write(page).unwrap();
        self.commit().unwrap();
    }

    /// The error that a page is refused with.
    #[track_caller]
    pub fn refused(mut self, page: &Page) -> Error {
        let error = self.write(page).expect_err("the page is refused");
        // K1: nothing can be committed after it.
        assert_eq!(self.commit().unwrap_err().code().id, "postgres.sink_unusable");
        error
    }

    pub fn finish(&mut self) -> Result<()> {
        block(self.0.finish())
    }

    #[track_caller]
    pub fn close(mut self) {
        block(self.0.close()).unwrap();
    }
}

/// Opens a query.
pub fn open_source(db: &Database, query: &str, extra: Value) -> Result<Box<dyn Source>> {
    let source = erase_source::<Query>();
    let mut config = config(db, extra);
    config["query"] = query.into();
    let problems = source.validate(&config);
    assert!(problems.is_empty(), "{problems:?}");
    block(source.open(&config, SourceContext { pipeline: "test".into(), ..SourceContext::default() }))
}

/// All pages of a query.
pub fn try_read(db: &Database, query: &str, extra: Value) -> Result<Vec<Page>> {
    let mut source = open_source(db, query, extra)?;
    let mut pages = Vec::new();
    while let Some(batch) = block(source.next())? {
        pages.extend(batch.pages);
    }
    assert!(block(source.next())?.is_none(), "an exhausted source stays exhausted");
    block(source.close())?;
    Ok(pages)
}

/// All pages of a query that has no fault.
#[track_caller]
pub fn read(db: &Database, query: &str) -> Vec<Page> {
    try_read(db, query, json!({})).unwrap()
}

/// A page of these columns and rows.
pub fn page(columns: &[(&str, Kind)], rows: &[&[ValueRef<'_>]]) -> Page {
    let fields = columns.iter().map(|(name, kind)| Field::new(*name, *kind)).collect();
    let mut page = PageBuilder::rows(Arc::new(Schema::new(TableId::new("public", "source"), fields)));
    for row in rows {
        assert_eq!(row.len(), columns.len());
        page.columns().iter_mut().zip(*row).for_each(|(column, value)| column.push(*value));
        page.end_row();
    }
    page.finish()
}

/// The page with these pairs of rows as halves of changed keys.
pub fn with_moves(page: Page, moves: &[(u32, u32)]) -> Page {
    page.with_moves(moves.iter().map(|&(from, to)| Move { from, to }).collect())
}

/// Rows of a query, with `NULL` for null.
pub fn shown(db: &Database, query: &str) -> Vec<String> {
    let text = |value: Option<String>| value.unwrap_or_else(|| "NULL".to_owned());
    let rows = db.client().rows(query).into_iter();
    rows.map(|row| row.into_iter().map(text).collect::<Vec<_>>().join("|")).collect()
}
