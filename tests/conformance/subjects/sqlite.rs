//! `sqlite`.

use async_trait::async_trait;
use faucet_connectors::sqlite::{SqliteSink, SqliteSinkConfig, SqliteSource, SqliteSourceConfig};
use faucet_core::error::Result;
use faucet_core::ports::{
    Bookmark, Sink, SinkCapabilities, SinkConnector, SinkContext, Source, SourceCapabilities, SourceConnector,
    SourceContext, WriteMode,
};
use faucet_tests::Scratch;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::origins::Origin;
use crate::rows::Row;
use crate::sinks::Destination;

struct SqliteDestination {
    folder: Scratch,
    config: Value,
}

impl SqliteDestination {
    fn config(&self) -> SqliteSinkConfig {
        let config: SqliteSinkConfig = serde_json::from_value(self.config.clone()).expect("the configuration is right");
        assert_eq!(SqliteSink::validate(&config), []);
        config
    }
}

#[async_trait]
impl Destination for SqliteDestination {
    async fn new(mode: WriteMode) -> Option<Self> {
        let folder = Scratch::new("conformance-sqlite");
        let mut config = json!({ "path": folder.path().join("t.db"), "table_name": "t", "write_mode": mode });
        if mode == WriteMode::Upsert {
            config["key"] = json!(["id"]);
            config["delete_marker"] = json!({ "field": "__op", "values": ["d"] });
        }
        Some(Self { folder, config })
    }

    fn capabilities(&self) -> SinkCapabilities {
        SqliteSink::capabilities(&self.config())
    }

    async fn open(&self) -> Result<Box<dyn Sink>> {
        SqliteSink::open(self.config(), SinkContext::default()).await
    }

    async fn rows(&self) -> Vec<Row> {
        let connection = Connection::open(self.folder.path().join("t.db")).expect("the file can be opened");
        let there = "SELECT count(*) FROM sqlite_master WHERE name = 't'";
        if connection.query_row(there, [], |row| row.get::<_, i64>(0)) == Ok(0) {
            return Vec::new();
        }
        let mut statement = connection.prepare("SELECT id, a FROM t").expect("the table has both columns");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("the query runs");
        rows.collect::<rusqlite::Result<_>>().expect("each row has a number and a text")
    }
}

struct SqliteOrigin {
    folder: Scratch,
}

#[async_trait]
impl Origin for SqliteOrigin {
    async fn new(rows: usize) -> Self {
        let folder = Scratch::new("conformance-sqlite");
        let connection = Connection::open(folder.path().join("t.db")).expect("the file can be made");
        let fill = format!(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)
             INSERT INTO t SELECT i, 'row ' || i FROM n LIMIT {rows}"
        );
        connection.execute_batch(&fill).expect("the table is filled");
        Self { folder }
    }

    fn capabilities(&self) -> SourceCapabilities {
        SqliteSource::capabilities(&self.config())
    }

    async fn open(&self, _: Option<Bookmark>) -> Result<Box<dyn Source>> {
        SqliteSource::open(self.config(), SourceContext::default()).await
    }
}

impl SqliteOrigin {
    fn config(&self) -> SqliteSourceConfig {
        let config = json!({ "path": self.folder.path().join("t.db"), "table": "t" });
        serde_json::from_value(config).expect("the configuration is right")
    }
}

mod sink {
    crate::sinks::sink_suite!(super::SqliteDestination);
}

mod source {
    crate::origins::source_suite!(super::SqliteOrigin);
}
