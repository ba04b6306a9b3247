//! Plugins as the connectors and transforms of a pipeline.

use crate::check::{Able, Refusal};
use crate::plugin::Plugin;
use crate::v0_1::{PluginSink, PluginSource, Role, SourceCapture};
use async_trait::async_trait;
use faucet_core::config::Part;
use faucet_core::error::{Problem, Result};
use faucet_core::model::Page;
use faucet_core::ports::{
    AnySink, AnySource, AnyTransform, Capture, Sink, SinkCapabilities, SinkContext, Source, SourceCapabilities,
    SourceContext, Split, Transform,
};
use serde_json::Value;
use std::sync::Arc;

impl From<Plugin> for Part {
    fn from(plugin: Plugin) -> Self {
        match plugin.role() {
            Role::Source => Self::Source(Arc::new(SourcePlugin(plugin))),
            Role::Transform => Self::Transform(Arc::new(TransformPlugin(plugin))),
            Role::Sink => Self::Sink(Arc::new(SinkPlugin(plugin))),
        }
    }
}

/// A plugin that is a transform.
#[derive(Debug)]
struct TransformPlugin(Plugin);

#[async_trait]
impl AnyTransform for TransformPlugin {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn summary(&self) -> String {
        self.0.describe().summary.clone()
    }

    fn schema(&self) -> Value {
        self.0.describe().config_schema.clone()
    }

    fn takes_changes(&self) -> bool {
        false
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        self.0.check_config(config)
    }

    async fn open(&self, config: &Value) -> Result<Box<dyn Transform>> {
        self.0.open(config.clone())
    }
}

/// A plugin that is a source.
#[derive(Debug)]
struct SourcePlugin(Plugin);

#[async_trait]
impl AnySource for SourcePlugin {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn summary(&self) -> String {
        self.0.describe().summary.clone()
    }

    fn schema(&self) -> Value {
        self.0.describe().config_schema.clone()
    }

    fn capabilities(&self, config: &Value) -> Result<SourceCapabilities, Vec<Problem>> {
        self.0.shared().check(&config.to_string()).map(Able::source).map_err(Refusal::problems)
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        self.0.check_config(config)
    }

    async fn open(&self, config: &Value, context: SourceContext) -> Result<Box<dyn Source>> {
        let (shared, config) = (self.0.shared(), config.to_string());
        let open = move || PluginSource::open(shared, &config, context.bookmark.as_ref());
        Ok(Box::new(apart(open).await?))
    }

    fn capture(&self, config: &Value) -> Option<Box<dyn Capture>> {
        let able = self.capabilities(config).is_ok_and(|able| able.capture);
        able.then(|| Box::new(SourceCapture::new(self.0.shared(), config.to_string())) as Box<dyn Capture>)
    }

    fn split(&self, _: &Value, _: &str) -> Option<Box<dyn Split>> {
        None
    }
}

/// A plugin that is a sink.
#[derive(Debug)]
struct SinkPlugin(Plugin);

#[async_trait]
impl AnySink for SinkPlugin {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn summary(&self) -> String {
        self.0.describe().summary.clone()
    }

    fn schema(&self) -> Value {
        self.0.describe().config_schema.clone()
    }

    fn capabilities(&self, config: &Value) -> Result<SinkCapabilities, Vec<Problem>> {
        self.0.shared().check(&config.to_string()).map(Able::sink).map_err(Refusal::problems)
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        self.0.check_config(config)
    }

    async fn open(&self, config: &Value, context: SinkContext) -> Result<Box<dyn Sink>> {
        let (shared, config) = (self.0.shared(), config.to_string());
        let open = move || PluginSink::open(shared, &config, &context);
        Ok(Box::new(apart(open).await?))
    }

    async fn explain(&self, _: &Value, _: SinkContext, _: Page) -> Result<Option<Vec<String>>> {
        Ok(None)
    }
}

/// Runs what may wait long off the threads that drive tasks.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
