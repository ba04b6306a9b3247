//! What the stages of a pipeline mean for each other: the rules that no schema can say and no connector can see.
//!
//! Each rule is a pure function of [`Facts`] and needs no connection. A rule that needs a stage which could not be found
//! or parsed says nothing; what is wrong with that stage is reported already.

mod dlq;
mod mirror;
mod settings;
mod stages;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use super::document::Document;
use super::plan::Purpose;
use super::stages::Stages;
use crate::delivery::{self, Delivery, Mechanism, gate};
use crate::error::Problem;
use crate::ports::{SinkCapabilities, SourceCapabilities};

/// What the rules go by.
pub(super) struct Facts<'a> {
    document: &'a Document,
    purpose: Purpose,
    stages: &'a Stages,
    source: Option<SourceCapabilities>,
    sink: Option<SinkCapabilities>,
    snapshot: Option<SourceCapabilities>,
}

impl<'a> Facts<'a> {
    /// Asks the stages of `document` what they can do.
    pub(super) fn new(document: &'a Document, purpose: Purpose, stages: &'a Stages) -> Self {
        let config = |spec: &super::document::ConnectorSpec| serde_json::Value::Object(spec.config.clone());
        let pipeline = &document.pipeline;
        let source = stages.source.as_ref().and_then(|kind| kind.capabilities(&config(&pipeline.source)).ok());
        let sink = stages.sink.as_ref().and_then(|kind| kind.capabilities(&config(&pipeline.sink)).ok());
        let snapshot = document.mirror().zip(stages.snapshot.as_ref());
        let snapshot =
            snapshot.and_then(|((mirror, _), kind)| kind.capabilities(&config(&mirror.snapshot.source)).ok());
        Self { document, purpose, stages, source, sink, snapshot }
    }

    /// The path of the state block, or of where it is missing.
    fn store_path(&self) -> &'static str {
        self.document.store().map_or("pipeline", |(_, path)| path)
    }

    /// Where bookmarks are kept; `None` when the block's type is unknown.
    fn store(&self) -> Option<gate::Store> {
        match (self.document.store(), &self.stages.store) {
            (None, _) => Some(gate::Store::None),
            (Some(_), Some(kind)) if kind.durable() => Some(gate::Store::Durable),
            (Some(_), Some(_)) => Some(gate::Store::Volatile),
            (Some(_), None) => None,
        }
    }

    /// Whether the source delivers changes; `false` when that is unknown.
    fn changes(&self) -> bool {
        self.source.is_some_and(|source| source.changes)
    }
}

/// Applies every rule. Without a mechanism the configuration can't run.
pub(super) fn check(facts: &Facts<'_>) -> (Vec<Problem>, Option<Mechanism>) {
    let mut problems = settings::check(facts);
    problems.extend(stages::check(facts));
    problems.extend(mirror::check(facts));
    problems.extend(dlq::check(facts));
    let mechanism = match mechanism(facts) {
        Some(Ok(mechanism)) => Some(mechanism),
        Some(Err(obstacles)) => {
            problems.extend(obstacles);
            None
        }
        None => None,
    };
    (problems, mechanism)
}

fn mechanism(facts: &Facts<'_>) -> Option<Result<Mechanism, Vec<Problem>>> {
    if facts.document.delivery == Delivery::AtLeastOnce {
        return Some(Ok(Mechanism::AtLeastOnce));
    }
    Some(delivery::decide(&gate::Facts {
        delivery: facts.document.delivery,
        source_name: &facts.document.pipeline.source.kind,
        source: facts.source?,
        sink_name: &facts.document.pipeline.sink.kind,
        sink: facts.sink.as_ref()?,
        store: facts.store()?,
        store_path: facts.store_path(),
    }))
}
