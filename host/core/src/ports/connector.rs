//! Connectors: named kinds of source and sink with a configuration of their own.

use async_trait::async_trait;
use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::marker::PhantomData;

use super::{Bookmark, Capture, Claim, Covered, Finding, SchemaPolicy, Sink, Source, Split, WriteMode};
use crate::error::{Problem, Result};
use crate::model::Page;

/// What a source can do under a given configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceCapabilities {
    /// It delivers pages of changes rather than plain rows.
    pub changes: bool,
    /// It can capture its position ([`SourceConnector::capture`] answers).
    pub capture: bool,
    /// Every commit boundary carries a bookmark, and a stream opened at it continues identically: what exactly-once
    /// delivery needs.
    pub replayable: bool,
    /// Its rows can be read in parts ([`SourceConnector::split`] answers).
    pub split: bool,
}

/// What a sink can do under a given configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SinkCapabilities {
    /// How this configuration writes.
    pub write_mode: WriteMode,
    /// The configured key's columns; empty without one.
    pub key: Vec<String>,
    /// The column whose values mark deletes, if one is configured.
    pub delete_marker: Option<String>,
    /// The write modes the connector offers under some configuration.
    pub modes: Vec<WriteMode>,
    /// A commit makes all its rows visible at once or none.
    pub transactional: bool,
    /// A commit can store a token in the same transaction ([`Sink::last_token`] answers).
    pub tokens: bool,
    /// It can hold a claim ([`Sink::claim`]) and compares the tokens of its commits with what is there.
    pub claims: bool,
    /// It can add columns, or has none that are fixed.
    pub evolves: bool,
    /// It can set single rows aside and write the others ([`SinkContext::sets_aside`]).
    pub sets_aside: bool,
    /// Several of its sinks may write to the destination at once.
    pub parallel: bool,
}

/// What a source is opened with besides its configuration.
#[derive(Debug, Clone, Default)]
pub struct SourceContext {
    /// Where to resume; `None` starts at the beginning.
    pub bookmark: Option<Bookmark>,
    /// The part to read, as planned by the source's [`Split`]; `None` reads everything.
    pub part: Option<Value>,
    /// The pipeline's name, for names the upstream shows (`application_name`).
    pub pipeline: String,
    /// What a mirror recorded of the source when it began: what a stream tells of may be gone from the source by now.
    pub covered: Option<Covered>,
    /// The stream is only looked at: nothing is made upstream (a missing replication slot stays missing), and nothing will be
    /// confirmed.
    pub read_only: bool,
}

/// What a sink is opened with besides its configuration.
#[derive(Debug, Clone, Default)]
pub struct SinkContext {
    /// The pipeline's name, for names the destination shows.
    pub pipeline: String,
    /// What to do when rows have columns that the destination lacks.
    pub schema: SchemaPolicy,
    /// Rows that can't be written are set aside ([`Sink::set_aside`]) instead of failing their page.
    pub sets_aside: bool,
    /// The run that the sink belongs to, where it claims the destination. Every commit then checks that the claim stands.
    pub claim: Option<Claim>,
}

/// A kind of source: parse (serde), validate (pure), open (I/O).
#[async_trait]
pub trait SourceConnector: Send + Sync + 'static {
    /// Its `config:` block; unknown keys refused.
    type Config: DeserializeOwned + JsonSchema + Send + Sync;
    /// The `type:` it goes by.
    const NAME: &'static str;
    /// One line for `faucet list`.
    const SUMMARY: &'static str;

    /// What it can do under `config`.
    fn capabilities(config: &Self::Config) -> SourceCapabilities;

    /// What is wrong with `config`; no I/O. Paths are relative to the block.
    fn validate(config: &Self::Config) -> Vec<Problem>;

    /// Connects and positions the stream.
    async fn open(config: Self::Config, context: SourceContext) -> Result<Box<dyn Source>>;

    /// The ability to capture a position, where the connector has it.
    fn capture(config: Self::Config) -> Option<Box<dyn Capture>>;

    /// The ability to be read in parts, where the connector has it. `pipeline` is as in [`SourceContext`].
    fn split(_config: Self::Config, _pipeline: &str) -> Option<Box<dyn Split>> {
        None
    }
}

/// A kind of sink: parse (serde), validate (pure), open (I/O).
#[async_trait]
pub trait SinkConnector: Send + Sync + 'static {
    /// Its `config:` block; unknown keys refused.
    type Config: DeserializeOwned + JsonSchema + Send + Sync;
    /// The `type:` it goes by.
    const NAME: &'static str;
    /// One line for `faucet list`.
    const SUMMARY: &'static str;

    /// What it can do under `config`.
    fn capabilities(config: &Self::Config) -> SinkCapabilities;

    /// What is wrong with `config`; no I/O. Paths are relative to the block.
    fn validate(config: &Self::Config) -> Vec<Problem>;

    /// Connects and prepares the destination.
    async fn open(config: Self::Config, context: SinkContext) -> Result<Box<dyn Sink>>;

    /// Looks at all that writing with `config` depends on, and changes nothing. `pipeline` is as in [`SinkContext`].
    ///
    /// # Errors
    /// When nothing can be looked at. What is wrong with the things themselves is a [`Finding`].
    async fn examine(_config: Self::Config, _pipeline: &str) -> Result<Vec<Finding>> {
        Ok(Vec::new())
    }

    /// What writing `page` would have the destination do, in order: its statements, or the lines of a file. Looks at the
    /// destination and changes nothing there.
    ///
    /// # Errors
    /// As far as looking tells, those of opening the sink and of writing the page.
    async fn explain(config: Self::Config, context: SinkContext, page: Page) -> Result<Vec<String>>;
}

/// A [`SourceConnector`] whose configuration is still JSON: what the registry holds, and what a plugin becomes once it is
/// loaded.
///
/// `Err` from the methods that take a configuration lists why it could not be parsed; a configuration that passed the
/// check against [`AnySource::schema`] parses.
#[async_trait]
pub trait AnySource: Send + Sync {
    /// See [`SourceConnector::NAME`].
    fn name(&self) -> &str;
    /// See [`SourceConnector::SUMMARY`].
    fn summary(&self) -> String;
    /// JSON Schema of the `config:` block.
    fn schema(&self) -> Value;
    /// See [`SourceConnector::capabilities`].
    fn capabilities(&self, config: &Value) -> Result<SourceCapabilities, Vec<Problem>>;
    /// Parses and validates.
    fn validate(&self, config: &Value) -> Vec<Problem>;
    /// See [`SourceConnector::open`].
    async fn open(&self, config: &Value, context: SourceContext) -> Result<Box<dyn Source>>;
    /// See [`SourceConnector::capture`].
    fn capture(&self, config: &Value) -> Option<Box<dyn Capture>>;
    /// See [`SourceConnector::split`].
    fn split(&self, config: &Value, pipeline: &str) -> Option<Box<dyn Split>>;
}

/// A [`SinkConnector`] whose configuration is still JSON: what the registry holds, and what a plugin becomes once it is
/// loaded.
#[async_trait]
pub trait AnySink: Send + Sync {
    /// See [`SinkConnector::NAME`].
    fn name(&self) -> &str;
    /// See [`SinkConnector::SUMMARY`].
    fn summary(&self) -> String;
    /// JSON Schema of the `config:` block.
    fn schema(&self) -> Value;
    /// See [`SinkConnector::capabilities`].
    fn capabilities(&self, config: &Value) -> Result<SinkCapabilities, Vec<Problem>>;
    /// Parses and validates.
    fn validate(&self, config: &Value) -> Vec<Problem>;
    /// See [`SinkConnector::open`].
    async fn open(&self, config: &Value, context: SinkContext) -> Result<Box<dyn Sink>>;
    /// See [`SinkConnector::examine`].
    async fn examine(&self, _config: &Value, _pipeline: &str) -> Result<Vec<Finding>> {
        Ok(Vec::new())
    }
    /// See [`SinkConnector::explain`]. `None` when only the sink itself knows.
    async fn explain(&self, config: &Value, context: SinkContext, page: Page) -> Result<Option<Vec<String>>>;
}

/// Puts a source connector behind [`AnySource`].
pub fn erase_source<C: SourceConnector>() -> Box<dyn AnySource> {
    Box::new(Erased::<C>(PhantomData))
}

/// Puts a sink connector behind [`AnySink`].
pub fn erase_sink<C: SinkConnector>() -> Box<dyn AnySink> {
    Box::new(Erased::<C>(PhantomData))
}

struct Erased<C>(PhantomData<fn() -> C>);

#[async_trait]
impl<C: SourceConnector> AnySource for Erased<C> {
    fn name(&self) -> &str {
        C::NAME
    }

    fn summary(&self) -> String {
        C::SUMMARY.to_owned()
    }

    fn schema(&self) -> Value {
        schema_for!(C::Config).to_value()
    }

    fn capabilities(&self, config: &Value) -> Result<SourceCapabilities, Vec<Problem>> {
        parse::<C::Config>(config).map(|c| C::capabilities(&c))
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        parse::<C::Config>(config).map_or_else(|problems| problems, |c| C::validate(&c))
    }

    async fn open(&self, config: &Value, context: SourceContext) -> Result<Box<dyn Source>> {
        C::open(parse(config).map_err(unparsed)?, context).await
    }

    fn capture(&self, config: &Value) -> Option<Box<dyn Capture>> {
        C::capture(parse(config).ok()?)
    }

    fn split(&self, config: &Value, pipeline: &str) -> Option<Box<dyn Split>> {
        C::split(parse(config).ok()?, pipeline)
    }
}

#[async_trait]
impl<C: SinkConnector> AnySink for Erased<C> {
    fn name(&self) -> &str {
        C::NAME
    }

    fn summary(&self) -> String {
        C::SUMMARY.to_owned()
    }

    fn schema(&self) -> Value {
        schema_for!(C::Config).to_value()
    }

    fn capabilities(&self, config: &Value) -> Result<SinkCapabilities, Vec<Problem>> {
        parse::<C::Config>(config).map(|c| C::capabilities(&c))
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        parse::<C::Config>(config).map_or_else(|problems| problems, |c| C::validate(&c))
    }

    async fn open(&self, config: &Value, context: SinkContext) -> Result<Box<dyn Sink>> {
        C::open(parse(config).map_err(unparsed)?, context).await
    }

    async fn examine(&self, config: &Value, pipeline: &str) -> Result<Vec<Finding>> {
        C::examine(parse(config).map_err(unparsed)?, pipeline).await
    }

    async fn explain(&self, config: &Value, context: SinkContext, page: Page) -> Result<Option<Vec<String>>> {
        C::explain(parse(config).map_err(unparsed)?, context, page).await.map(Some)
    }
}

fn parse<T: DeserializeOwned>(config: &Value) -> Result<T, Vec<Problem>> {
    T::deserialize(config).map_err(|e| vec![Problem::error("", e.to_string())])
}

fn unparsed(problems: Vec<Problem>) -> crate::error::Error {
    let what = problems.into_iter().map(|p| p.message).collect::<Vec<_>>().join("; ");
    crate::error::Error::new(&crate::error::UNCHECKED_CONFIG, what)
}
