//! Opens the parts of a planned pipeline, each with a word on what was being opened when it fails.

use async_trait::async_trait;
use faucet_core::config::{DeadLettersPlan, Plan, Stage};
use faucet_core::error::Result;
use faucet_core::mirror::Rows;
use faucet_core::model::Page;
use faucet_core::pipeline::{Allowance, Claiming, DeadLetters, Opening, Recipe};
use faucet_core::ports::{
    AnySink, AnySource, AnyTransform, Claim, SchemaPolicy, Sink, SinkContext, Source, SourceContext, Split, Transform,
};
use faucet_core::state::Belongs;
use faucet_registry::Digest;
use serde_json::Value;
use std::sync::Arc;

/// A source, transforms and a sink, as planned.
#[derive(Clone)]
pub struct Planned {
    name: String,
    source: Stage<dyn AnySource>,
    part: Option<Value>,
    transforms: Vec<Stage<dyn AnyTransform>>,
    sink: Stage<dyn AnySink>,
    schema: SchemaPolicy,
    dead_letters: Option<(DeadLettersPlan, Arc<Allowance>)>,
    read_only: bool,
}

impl Planned {
    /// The pipeline as it is written.
    pub fn pipeline(plan: &Plan) -> Self {
        let key = plan.sink.kind.capabilities(&plan.sink.config).map(|c| c.key).unwrap_or_default();
        Self {
            name: plan.name.clone(),
            source: plan.source.clone(),
            part: None,
            transforms: plan.transforms.iter().map(|stage| keyed(stage, &key)).collect(),
            sink: plan.sink.clone(),
            schema: plan.schema,
            dead_letters: plan.dead_letters.clone().map(|queue| (queue.clone(), Allowance::new(queue.max_rows))),
            read_only: false,
        }
    }

    /// The pipeline to look at: its source is opened so that nothing changes upstream.
    pub fn looked_at(plan: &Plan) -> Self {
        Self { read_only: true, ..Self::pipeline(plan) }
    }

    /// What the sink would do with a page; `None` when only the sink knows.
    ///
    /// # Errors
    /// Those of opening the sink and of writing the page, as far as looking tells.
    pub async fn explain(&self, page: Page) -> Result<Option<Vec<String>>> {
        let context = SinkContext { pipeline: self.name.clone(), schema: self.schema, ..SinkContext::default() };
        let explained = self.sink.kind.explain(&self.sink.config, context, page).await;
        explained.map_err(|e| e.context(format!("asking the sink '{}'", self.sink.kind.name())))
    }

    /// The snapshot phase of a mirror: its own source. `cdc_unwrap` has nothing to unwrap there and lets plain rows
    /// through, but for those of a table that it could not unwrap later.
    pub fn snapshot(&self, source: &Stage<dyn AnySource>) -> Self {
        Self { source: source.clone(), ..self.clone() }
    }

    /// A digest of the transforms and the sink with their configurations, too short to tell what is in them.
    pub fn destination(&self) -> String {
        let transforms = self.transforms.iter().map(|stage| (stage.kind.name(), &stage.config));
        let stages = transforms.chain([(self.sink.kind.name(), &self.sink.config)]);
        short_digest(&stages.map(|(name, config)| format!("{name} {config}\n")).collect::<String>())
    }
}

/// What the pipeline's state belongs to.
pub fn belongs(plan: &Plan) -> Belongs {
    let (source, sink) = (&plan.source, &plan.sink);
    Belongs::default().with("pipeline.source", source.kind.name(), &source.kind.schema(), &source.config).with(
        "pipeline.sink",
        sink.kind.name(),
        &sink.kind.schema(),
        &sink.config,
    )
}

/// The first 64 bits of a text's SHA-256, in hex: enough to tell whether it is the same, too little to tell what is in it.
pub fn short_digest(text: &str) -> String {
    let mut digest = Digest::of(text.as_bytes()).hex();
    digest.truncate(16);
    digest
}

/// Whether the sink can hold a claim.
pub fn claiming(plan: &Plan) -> Claiming {
    match plan.sink.kind.capabilities(&plan.sink.config) {
        Ok(sink) if sink.claims => Claiming::Able,
        Ok(_) | Err(_) => Claiming::No,
    }
}

/// A step that takes changes judges a changed key by the columns the sink knows rows by, unless it is told otherwise.
fn keyed(stage: &Stage<dyn AnyTransform>, key: &[String]) -> Stage<dyn AnyTransform> {
    let mut stage = stage.clone();
    if stage.kind.takes_changes() && !key.is_empty() && stage.config.get("key").is_none() {
        stage.config["key"] = key.into();
    }
    stage
}

impl Rows for Planned {
    fn split(&self) -> Option<Box<dyn Split>> {
        self.source.kind.split(&self.source.config, &self.name)
    }

    fn recipe(&self, part: Option<Value>) -> Arc<dyn Recipe> {
        Arc::new(Self { part, ..self.clone() })
    }
}

#[async_trait]
impl Recipe for Planned {
    async fn source(&self, opening: Opening) -> Result<Box<dyn Source>> {
        let context = SourceContext {
            bookmark: opening.bookmark,
            part: self.part.clone(),
            pipeline: self.name.clone(),
            covered: opening.covered,
            read_only: self.read_only,
        };
        let opened = self.source.kind.open(&self.source.config, context).await;
        opened.map_err(|e| e.context(format!("opening the source '{}'", self.source.kind.name())))
    }

    async fn transforms(&self) -> Result<Vec<Box<dyn Transform>>> {
        let mut opened = Vec::with_capacity(self.transforms.len());
        for stage in &self.transforms {
            let transform = stage.kind.open(&stage.config).await;
            opened.push(transform.map_err(|e| e.context(format!("opening the transform '{}'", stage.kind.name())))?);
        }
        Ok(opened)
    }

    async fn sink(&self, claim: Option<&Claim>) -> Result<Box<dyn Sink>> {
        let sets_aside = self.dead_letters.is_some();
        let claim = claim.cloned();
        let context = SinkContext { pipeline: self.name.clone(), schema: self.schema, sets_aside, claim };
        let opened = self.sink.kind.open(&self.sink.config, context).await;
        opened.map_err(|e| e.context(format!("opening the sink '{}'", self.sink.kind.name())))
    }

    async fn dead_letters(&self) -> Result<Option<DeadLetters>> {
        let Some((DeadLettersPlan { sink, .. }, allowance)) = &self.dead_letters else { return Ok(None) };
        let context = SinkContext { pipeline: self.name.clone(), ..SinkContext::default() };
        let opened = sink.kind.open(&sink.config, context).await;
        let sink = opened.map_err(|e| e.context(format!("opening the sink '{}' of the dlq", sink.kind.name())))?;
        Ok(Some(DeadLetters::new(sink, &self.name, allowance.clone())))
    }
}
