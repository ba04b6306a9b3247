//! Connectors that do nothing, with every ability the rules look at.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::document::Plugin;
use super::{Catalog, LoadedPlugin, Part, PluginLoader, Span, Surroundings};
use crate::error::{Error, Problem, Result, UNCHECKED_CONFIG};
use crate::model::Page;
use crate::ports::{
    AnyStore, AnyTransform, Capture, Sink, SinkCapabilities, SinkConnector, SinkContext, Source, SourceCapabilities,
    SourceConnector, SourceContext, StateStore, Transform, WriteMode, erase_sink, erase_source,
};

fn inert<T>() -> Result<T> {
    Err(Error::new(&UNCHECKED_CONFIG, "fixtures don't open"))
}

/// `query`: plain rows.
pub struct Query;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
pub struct QueryConfig {
    /// Where the database is.
    connection_url: String,
    /// What to read.
    query: String,
    #[serde(default)]
    fetch_size: Option<u32>,
}

#[async_trait]
impl SourceConnector for Query {
    type Config = QueryConfig;
    const NAME: &'static str = "query";
    const SUMMARY: &'static str = "plain rows";

    fn capabilities(config: &QueryConfig) -> SourceCapabilities {
        SourceCapabilities { split: config.query == "table", ..SourceCapabilities::default() }
    }

    fn validate(config: &QueryConfig) -> Vec<Problem> {
        let bad = !config.connection_url.contains("://");
        bad.then(|| Problem::error("connection_url", format!("`{}` is not a URL", config.connection_url)))
            .into_iter()
            .collect()
    }

    async fn open(_: QueryConfig, _: SourceContext) -> Result<Box<dyn Source>> {
        inert()
    }

    fn capture(_: QueryConfig) -> Option<Box<dyn Capture>> {
        None
    }
}

/// `stream-cdc`: changes.
pub struct Stream;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
pub struct StreamConfig {
    connection_url: String,
    #[serde(default)]
    slot_type: SlotType,
    #[serde(default)]
    idle_timeout: Option<Span>,
}

#[derive(Default, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SlotType {
    #[default]
    Permanent,
    Temporary,
}

#[async_trait]
impl SourceConnector for Stream {
    type Config = StreamConfig;
    const NAME: &'static str = "stream-cdc";
    const SUMMARY: &'static str = "changes";

    fn capabilities(config: &StreamConfig) -> SourceCapabilities {
        let capture = config.slot_type == SlotType::Permanent;
        SourceCapabilities { changes: true, capture, replayable: true, split: false }
    }

    fn validate(_: &StreamConfig) -> Vec<Problem> {
        Vec::new()
    }

    async fn open(_: StreamConfig, _: SourceContext) -> Result<Box<dyn Source>> {
        inert()
    }

    fn capture(_: StreamConfig) -> Option<Box<dyn Capture>> {
        None
    }
}

/// `table`: upserts, tokens.
pub struct Table;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
pub struct TableConfig {
    connection_url: String,
    table_name: String,
    #[serde(default)]
    write_mode: WriteMode,
    #[serde(default)]
    key: Vec<String>,
    delete_marker: Option<DeleteMarker>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct DeleteMarker {
    field: String,
    values: Vec<String>,
}

#[async_trait]
impl SinkConnector for Table {
    type Config = TableConfig;
    const NAME: &'static str = "table";
    const SUMMARY: &'static str = "a table";

    fn capabilities(config: &TableConfig) -> SinkCapabilities {
        SinkCapabilities {
            write_mode: config.write_mode,
            key: config.key.clone(),
            delete_marker: config.delete_marker.as_ref().map(|marker| marker.field.clone()),
            modes: vec![WriteMode::Append, WriteMode::Upsert, WriteMode::Overwrite],
            transactional: true,
            tokens: true,
            claims: false,
            evolves: true,
            sets_aside: true,
            parallel: config.write_mode != WriteMode::Overwrite,
        }
    }

    fn validate(_: &TableConfig) -> Vec<Problem> {
        Vec::new()
    }

    async fn open(_: TableConfig, _: SinkContext) -> Result<Box<dyn Sink>> {
        inert()
    }

    async fn explain(_: TableConfig, _: SinkContext, _: Page) -> Result<Vec<String>> {
        inert()
    }
}

/// `lines`: appends only.
pub struct Lines;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
pub struct LinesConfig {
    path: String,
}

#[async_trait]
impl SinkConnector for Lines {
    type Config = LinesConfig;
    const NAME: &'static str = "lines";
    const SUMMARY: &'static str = "a file";

    fn capabilities(_: &LinesConfig) -> SinkCapabilities {
        SinkCapabilities { modes: vec![WriteMode::Append], ..SinkCapabilities::default() }
    }

    fn validate(_: &LinesConfig) -> Vec<Problem> {
        Vec::new()
    }

    async fn open(_: LinesConfig, _: SinkContext) -> Result<Box<dyn Sink>> {
        inert()
    }

    async fn explain(_: LinesConfig, _: SinkContext, _: Page) -> Result<Vec<String>> {
        inert()
    }
}

/// A transform of any name.
pub struct Step {
    name: String,
    takes_changes: bool,
}

#[async_trait]
impl AnyTransform for Step {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> String {
        "a step".to_owned()
    }

    fn schema(&self) -> Value {
        let columns = json!({ "type": "array", "items": { "$ref": "#/$defs/Column" } });
        let name = if self.takes_changes { "key" } else { "columns" };
        json!({
            "type": "object", "properties": { name: columns }, "additionalProperties": false,
            "$defs": { "Column": { "type": "string", "minLength": 1 } },
        })
    }

    fn takes_changes(&self) -> bool {
        self.takes_changes
    }

    fn validate(&self, _: &Value) -> Vec<Problem> {
        Vec::new()
    }

    async fn open(&self, _: &Value) -> Result<Box<dyn Transform>> {
        inert()
    }
}

/// A store of any name.
pub struct Store {
    name: &'static str,
    durable: bool,
}

#[async_trait]
impl AnyStore for Store {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        "a store"
    }

    fn schema(&self) -> Value {
        let properties = if self.durable { json!({ "path": { "type": "string" } }) } else { json!({}) };
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    }

    fn durable(&self) -> bool {
        self.durable
    }

    fn validate(&self, _: &Value) -> Vec<Problem> {
        Vec::new()
    }

    async fn open(&self, _: &Value) -> Result<Arc<dyn StateStore>> {
        inert()
    }
}

/// Loads every plugin whose path isn't `missing.wasm`.
pub struct Loader;

impl PluginLoader for Loader {
    fn limits_schema(&self) -> Value {
        json!({
            "type": "object", "additionalProperties": false,
            "properties": { "memory_mb": { "type": "integer", "minimum": 1 } },
        })
    }

    fn grants_schema(&self) -> Value {
        json!({ "type": "object", "additionalProperties": false, "properties": { "clock": { "type": "boolean" } } })
    }

    fn load(&self, name: &str, plugin: &Plugin, _: &Path) -> Result<LoadedPlugin, Vec<Problem>> {
        let part = match plugin.path.as_deref().unwrap_or(name) {
            "missing.wasm" => {
                return Err(vec![Problem::error("path", "can't read the component 'missing.wasm': no such file")]);
            }
            "source.wasm" => Part::Source(erase_source::<Query>().into()),
            "sink.wasm" => Part::Sink(erase_sink::<Lines>().into()),
            _ => Part::Transform(Arc::new(Step { name: name.to_owned(), takes_changes: false })),
        };
        Ok(LoadedPlugin { part, digest: "0".repeat(64), grants: Vec::new(), warnings: Vec::new() })
    }
}

pub fn catalog() -> Catalog {
    let step =
        |name: &str, takes_changes| Arc::new(Step { name: name.to_owned(), takes_changes }) as Arc<dyn AnyTransform>;
    Catalog {
        sources: vec![erase_source::<Query>().into(), erase_source::<Stream>().into()],
        transforms: vec![step("cdc_unwrap", true), step("mask", false)],
        sinks: vec![erase_sink::<Table>().into(), erase_sink::<Lines>().into()],
        stores: vec![
            Arc::new(Store { name: "memory", durable: false }),
            Arc::new(Store { name: "file", durable: true }),
        ],
        plugins: Some(Arc::new(Loader)),
    }
}

/// The environment of the tests: `URL` with a password, `PORT`, nothing else.
pub struct Outside;

impl Surroundings for Outside {
    fn variable(&self, name: &str) -> Result<Option<String>, String> {
        Ok(match name {
            "URL" => Some("postgres://app:hunter22@db/shop".to_owned()),
            "PORT" => Some("5432".to_owned()),
            "WORD" => Some("not-a-url-but-secret".to_owned()),
            _ => None,
        })
    }

    fn file(&self, _: &Path) -> Result<String, String> {
        Err("No such file or directory".to_owned())
    }
}
