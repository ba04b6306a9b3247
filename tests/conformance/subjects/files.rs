//! `csv` and `jsonl`.

use async_trait::async_trait;
use faucet_connectors::file::csv::{CsvSink, CsvSinkConfig, CsvSource, CsvSourceConfig};
use faucet_connectors::file::jsonl::{JsonlSink, JsonlSinkConfig, JsonlSource, JsonlSourceConfig};
use faucet_core::error::Result;
use faucet_core::ports::{
    Bookmark, Sink, SinkCapabilities, SinkConnector, SinkContext, Source, SourceCapabilities, SourceConnector,
    SourceContext, WriteMode,
};
use faucet_tests::Scratch;
use serde_json::{Value, json};

use crate::origins::Origin;
use crate::rows::{Row, rows_of};
use crate::sinks::Destination;

const RIGHT: &str = "the configuration is right";

/// A configuration of the file `t`, with more keys.
fn config(folder: &Scratch, more: Value) -> Value {
    let mut config = json!({ "path": folder.path().join("t") });
    for (key, value) in more.as_object().expect("more keys") {
        config[key] = value.clone();
    }
    config
}

/// All rows of a file, read by the source of the same format.
async fn read(mut source: Box<dyn Source>) -> Vec<Row> {
    let mut rows = Vec::new();
    while let Some(batch) = source.next().await.expect("the file can be read") {
        rows.extend(batch.pages.iter().flat_map(rows_of));
    }
    rows
}

struct Csv {
    folder: Scratch,
    mode: WriteMode,
}

impl Csv {
    fn source(&self) -> CsvSourceConfig {
        let columns = json!({ "columns": { "id": "int64" } });
        serde_json::from_value(config(&self.folder, columns)).expect(RIGHT)
    }

    fn sink(&self) -> CsvSinkConfig {
        serde_json::from_value(config(&self.folder, json!({ "write_mode": self.mode }))).expect(RIGHT)
    }
}

#[async_trait]
impl Destination for Csv {
    async fn new(mode: WriteMode) -> Option<Self> {
        (mode != WriteMode::Upsert).then(|| Self { folder: Scratch::new("conformance-csv"), mode })
    }

    fn capabilities(&self) -> SinkCapabilities {
        CsvSink::capabilities(&self.sink())
    }

    async fn open(&self) -> Result<Box<dyn Sink>> {
        CsvSink::open(self.sink(), SinkContext::default()).await
    }

    async fn rows(&self) -> Vec<Row> {
        if self.folder.read("t").is_empty() {
            return Vec::new();
        }
        read(CsvSource::open(self.source(), SourceContext::default()).await.expect("the file opens")).await
    }
}

#[async_trait]
impl Origin for Csv {
    async fn new(rows: usize) -> Self {
        let folder = Scratch::new("conformance-csv");
        let lines: String = (0..rows).map(|id| format!("{id},row {id}\n")).collect();
        folder.write("t", format!("id,a\n{lines}"));
        Self { folder, mode: WriteMode::Append }
    }

    fn capabilities(&self) -> SourceCapabilities {
        CsvSource::capabilities(&self.source())
    }

    async fn open(&self, _: Option<Bookmark>) -> Result<Box<dyn Source>> {
        CsvSource::open(self.source(), SourceContext::default()).await
    }
}

struct Jsonl {
    folder: Scratch,
    mode: WriteMode,
}

impl Jsonl {
    fn sink(&self) -> JsonlSinkConfig {
        serde_json::from_value(config(&self.folder, json!({ "write_mode": self.mode }))).expect(RIGHT)
    }

    fn source(&self) -> JsonlSourceConfig {
        serde_json::from_value(config(&self.folder, json!({}))).expect(RIGHT)
    }
}

#[async_trait]
impl Destination for Jsonl {
    async fn new(mode: WriteMode) -> Option<Self> {
        (mode != WriteMode::Upsert).then(|| Self { folder: Scratch::new("conformance-jsonl"), mode })
    }

    fn capabilities(&self) -> SinkCapabilities {
        JsonlSink::capabilities(&self.sink())
    }

    async fn open(&self) -> Result<Box<dyn Sink>> {
        JsonlSink::open(self.sink(), SinkContext::default()).await
    }

    async fn rows(&self) -> Vec<Row> {
        if self.folder.read("t").is_empty() {
            return Vec::new();
        }
        read(JsonlSource::open(self.source(), SourceContext::default()).await.expect("the file opens")).await
    }
}

#[async_trait]
impl Origin for Jsonl {
    async fn new(rows: usize) -> Self {
        let folder = Scratch::new("conformance-jsonl");
        let lines: String = (0..rows).map(|id| format!("{{\"id\":{id},\"a\":\"row {id}\"}}\n")).collect();
        folder.write("t", lines);
        Self { folder, mode: WriteMode::Append }
    }

    fn capabilities(&self) -> SourceCapabilities {
        JsonlSource::capabilities(&self.source())
    }

    async fn open(&self, _: Option<Bookmark>) -> Result<Box<dyn Source>> {
        JsonlSource::open(self.source(), SourceContext::default()).await
    }
}

mod csv_sink {
    crate::sinks::sink_suite!(super::Csv);
}

mod csv_source {
    crate::origins::source_suite!(super::Csv);
}

mod jsonl_sink {
    crate::sinks::sink_suite!(super::Jsonl);
}

mod jsonl_source {
    crate::origins::source_suite!(super::Jsonl);
}
