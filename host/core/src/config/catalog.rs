//! [`Catalog`]: every `type` a configuration may name.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::document::Plugin;
use crate::error::Problem;
use crate::ports::{AnySink, AnySource, AnyStore, AnyTransform};

/// The connectors, transforms and state stores of this build, each in the order that lists show.
///
/// The registry of connectors lives in another crate; whoever starts faucet puts it here.
#[derive(Clone, Default)]
pub struct Catalog {
    /// The sources.
    pub sources: Vec<Arc<dyn AnySource>>,
    /// The transforms that need no `plugins` entry: native ones and bundled components.
    pub transforms: Vec<Arc<dyn AnyTransform>>,
    /// The sinks.
    pub sinks: Vec<Arc<dyn AnySink>>,
    /// The state stores.
    pub stores: Vec<Arc<dyn AnyStore>>,
    /// What loads the components under `plugins`; without it they are refused.
    pub plugins: Option<Arc<dyn PluginLoader>>,
}

/// Turns entries under `plugins` into connectors and transforms.
pub trait PluginLoader: Send + Sync {
    /// JSON Schema of an entry's `limits`.
    fn limits_schema(&self) -> Value;

    /// JSON Schema of an entry's `grants`.
    fn grants_schema(&self) -> Value;

    /// Reads the component called `name` and asks it to describe itself, so that its configuration is checked like a
    /// native one's. Its path is relative to `folder`. Reads local files; connects nowhere.
    ///
    /// # Errors
    /// What is wrong with the entry, with paths relative to it (`path`, `sha256`, `limits.memory`).
    fn load(&self, name: &str, plugin: &Plugin, folder: &Path) -> Result<LoadedPlugin, Vec<Problem>>;
}

/// A plugin that was loaded.
#[derive(Clone)]
pub struct LoadedPlugin {
    /// What it is to a pipeline.
    pub part: Part,
    /// SHA-256 of the component, in hex.
    pub digest: String,
    /// What it may do beyond its pages, one line each; empty if nothing.
    pub grants: Vec<String>,
    /// What is odd about the entry and keeps nothing from working; paths are relative to it.
    pub warnings: Vec<Problem>,
}

/// What a plugin is to a pipeline.
#[derive(Clone)]
pub enum Part {
    /// Rows come from it.
    Source(Arc<dyn AnySource>),
    /// Rows pass through it.
    Transform(Arc<dyn AnyTransform>),
    /// Rows go to it.
    Sink(Arc<dyn AnySink>),
}

impl Part {
    /// The word for it.
    pub fn role(&self) -> &'static str {
        match self {
            Self::Source(_) => <dyn AnySource>::ROLE,
            Self::Transform(_) => <dyn AnyTransform>::ROLE,
            Self::Sink(_) => <dyn AnySink>::ROLE,
        }
    }

    /// One sentence: what it does.
    pub fn summary(&self) -> String {
        match self {
            Self::Source(source) => source.summary(),
            Self::Transform(transform) => transform.summary(),
            Self::Sink(sink) => sink.summary(),
        }
    }

    /// JSON Schema of its `config:` block.
    pub fn schema(&self) -> Value {
        match self {
            Self::Source(source) => source.schema(),
            Self::Transform(transform) => transform.schema(),
            Self::Sink(sink) => sink.schema(),
        }
    }
}

/// What all kinds of connector have in common for the check of a `{ type, config }` block.
pub(super) trait Kind {
    /// What the kind is called in messages.
    const ROLE: &'static str;

    /// The plugin as this kind, if it is one.
    fn of(part: &Part) -> Option<Arc<Self>>;

    /// The `type` it goes by.
    fn label(&self) -> &str;
    /// JSON Schema of its `config`.
    fn config_schema(&self) -> Value;
    /// What its own check finds.
    fn config_problems(&self, config: &Value) -> Vec<Problem>;
}

macro_rules! kinds {
    ($($port:ident => $role:literal, $part:pat => $found:expr;)*) => {$(
        impl Kind for dyn $port {
            const ROLE: &'static str = $role;

            fn of(part: &Part) -> Option<Arc<Self>> {
                match part {
                    $part => $found,
                    #[allow(unreachable_patterns, reason = "no part is a state store")]
                    _ => None,
                }
            }

            fn label(&self) -> &str {
                self.name()
            }

            fn config_schema(&self) -> Value {
                self.schema()
            }

            fn config_problems(&self, config: &Value) -> Vec<Problem> {
                self.validate(config)
            }
        }
    )*};
}

kinds! {
    AnySource => "source", Part::Source(source) => Some(Arc::clone(source));
    AnyTransform => "transform", Part::Transform(transform) => Some(Arc::clone(transform));
    AnySink => "sink", Part::Sink(sink) => Some(Arc::clone(sink));
    AnyStore => "state store", _ => None;
}

impl Catalog {
    /// In which roles `name` exists, for messages about a name in the wrong place.
    pub(super) fn roles(&self, name: &str) -> Vec<&'static str> {
        let found = [
            (<dyn AnySource>::ROLE, has(&self.sources, name)),
            (<dyn AnyTransform>::ROLE, has(&self.transforms, name)),
            (<dyn AnySink>::ROLE, has(&self.sinks, name)),
            (<dyn AnyStore>::ROLE, has(&self.stores, name)),
        ];
        found.into_iter().filter(|(_, found)| *found).map(|(role, _)| role).collect()
    }
}

fn has<K: Kind + ?Sized>(kinds: &[Arc<K>], name: &str) -> bool {
    kinds.iter().any(|kind| kind.label() == name)
}
