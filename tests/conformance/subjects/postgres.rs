//! `postgres`: the table as a destination, the query as an origin.

use async_trait::async_trait;
use faucet_connectors::registry;
use faucet_core::error::Result;
use faucet_core::ports::{
    AnySink, AnySource, Bookmark, Sink, SinkCapabilities, SinkContext, Source, SourceCapabilities, SourceContext,
    WriteMode,
};
use faucet_tests::{Database, fresh_database};
use serde_json::{Value, json};

use crate::origins::Origin;
use crate::rows::Row;
use crate::sinks::Destination;

fn sink() -> Box<dyn AnySink> {
    let found = registry::sinks().into_iter().find(|s| s.name() == "postgres");
    found.expect("it is registered")
}

fn source() -> Box<dyn AnySource> {
    let found = registry::sources().into_iter().find(|s| s.name() == "postgres");
    found.expect("it is registered")
}

struct Table {
    database: Database,
    config: Value,
}

#[async_trait]
impl Destination for Table {
    async fn new(mode: WriteMode) -> Option<Self> {
        let database = fresh_database();
        let mut config = json!({
            "connection_url": database.url(), "table_name": "t", "create_table": true, "write_mode": mode,
        });
        if mode == WriteMode::Upsert {
            config["key"] = json!(["id"]);
            config["delete_marker"] = json!({ "field": "__op", "values": ["d"] });
        }
        assert_eq!(sink().validate(&config), []);
        Some(Self { database, config })
    }

    fn capabilities(&self) -> SinkCapabilities {
        sink().capabilities(&self.config).expect("the configuration is right")
    }

    async fn open(&self) -> Result<Box<dyn Sink>> {
        sink().open(&self.config, SinkContext::default()).await
    }

    async fn rows(&self) -> Vec<Row> {
        let client = self.database.client();
        if client.one("SELECT (to_regclass('t') IS NOT NULL)::text") == "false" {
            return Vec::new();
        }
        let rows = client.rows("SELECT id::text, a FROM t").into_iter();
        let id = |text: Option<String>| text.and_then(|t| t.parse().ok()).expect("the id is a number");
        rows.map(|mut row| (id(row[0].take()), row[1].take())).collect()
    }
}

struct Query {
    database: Database,
}

impl Query {
    fn config(&self) -> Value {
        json!({ "connection_url": self.database.url(), "query": "SELECT id, a FROM t ORDER BY id" })
    }
}

#[async_trait]
impl Origin for Query {
    async fn new(rows: usize) -> Self {
        let database = fresh_database();
        let fill = format!(
            "CREATE TABLE t (id bigint PRIMARY KEY, a text);
             INSERT INTO t SELECT i, 'row ' || i FROM generate_series(0, {rows} - 1) AS i"
        );
        database.client().execute(&fill);
        Self { database }
    }

    fn capabilities(&self) -> SourceCapabilities {
        source().capabilities(&self.config()).expect("the configuration is right")
    }

    async fn open(&self, _: Option<Bookmark>) -> Result<Box<dyn Source>> {
        source().open(&self.config(), SourceContext::default()).await
    }
}

mod sink_promises {
    crate::sinks::sink_suite!(super::Table);
}

mod source_promises {
    crate::origins::source_suite!(super::Query);
}
