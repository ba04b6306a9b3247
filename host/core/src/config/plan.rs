//! [`Plan`]: a configuration with nothing left to look up.

use std::sync::Arc;

use serde_json::Value;

use super::Redactor;
use super::catalog::LoadedPlugin;
use super::document::{Execution, MirrorMode, Observability};
use crate::delivery::Mechanism;
use crate::ports::{AnySink, AnySource, AnyStore, AnyTransform, SchemaPolicy};

/// One stage: what it is, and its checked configuration.
pub struct Stage<K: ?Sized> {
    /// The connector, transform or store.
    pub kind: Arc<K>,
    /// Its `config`, interpolated, of the right types and free of problems.
    pub config: Value,
}

impl<K: ?Sized> Clone for Stage<K> {
    fn clone(&self) -> Self {
        Self { kind: Arc::clone(&self.kind), config: self.config.clone() }
    }
}

/// A configuration that passed every check that needs no connection.
#[derive(Clone)]
pub struct Plan {
    /// The pipeline's name, which its state keys start with.
    pub name: String,
    /// Where rows come from.
    pub source: Stage<dyn AnySource>,
    /// What happens to them, in order.
    pub transforms: Vec<Stage<dyn AnyTransform>>,
    /// Where they go.
    pub sink: Stage<dyn AnySink>,
    /// Where bookmarks are kept; `None` keeps none.
    pub store: Option<Stage<dyn AnyStore>>,
    /// Where rows go that can't be written.
    pub dead_letters: Option<DeadLettersPlan>,
    /// How the mirror begins and goes on. Always there for [`Purpose::Mirror`], never for [`Purpose::Run`].
    pub mirror: Option<MirrorPlan>,
    /// What happens when the source's columns change.
    pub schema: SchemaPolicy,
    /// How rows get their effect once, or that they may get it twice.
    pub mechanism: Mechanism,
    /// How the pipeline runs.
    pub execution: Execution,
    /// What it says while it runs.
    pub observability: Observability,
    /// Keeps the configuration's secrets out of messages.
    pub redactor: Redactor,
    /// The plugins it declares.
    pub plugins: Vec<PluginPlan>,
}

/// An entry under `plugins`.
#[derive(Clone)]
pub struct PluginPlan {
    /// The name it goes by.
    pub name: String,
    /// What was loaded.
    pub plugin: LoadedPlugin,
}

/// The `dlq` block of a plan.
#[derive(Clone)]
pub struct DeadLettersPlan {
    /// What keeps the rows.
    pub sink: Stage<dyn AnySink>,
    /// Most rows within an hour.
    pub max_rows: u64,
}

/// The `mirror` block of a plan.
#[derive(Clone)]
pub struct MirrorPlan {
    /// What the mirror does.
    pub mode: MirrorMode,
    /// Whether it goes on until stopped.
    pub continuous: bool,
    /// What reads the rows that are already there.
    pub snapshot: Stage<dyn AnySource>,
    /// How many ranges they are read in; `None` goes by size.
    pub shards: Option<u32>,
    /// How many ranges are read at once.
    pub concurrency: u32,
}

/// What a configuration is loaded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// `faucet run`, which ignores `mirror`.
    Run,
    /// `faucet mirror`, which needs it.
    Mirror,
    /// `faucet validate`, which checks all that is there.
    Validate,
}
