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

/// Turns entries under `plugins` into transforms.
pub trait PluginLoader: Send + Sync {
    /// JSON Schema of an entry's `limits`.
    fn limits_schema(&self) -> Value;

    /// Reads the component called `name` and asks it to describe itself, so that its configuration is checked like a
    /// native one's. Its path is relative to `folder`. Reads local files; connects nowhere.
    ///
    /// # Errors
    /// What is wrong with the entry, with paths relative to it (`path`, `sha256`, `limits.memory`).
    fn load(&self, name: &str, plugin: &Plugin, folder: &Path) -> Result<Arc<dyn AnyTransform>, Vec<Problem>>;
}

/// What all kinds of connector have in common for the check of a `{ type, config }` block.
pub(super) trait Kind {
    /// What the kind is called in messages.
    const ROLE: &'static str;

    /// The `type` it goes by.
    fn label(&self) -> &str;
    /// JSON Schema of its `config`.
    fn config_schema(&self) -> Value;
    /// What its own check finds.
    fn config_problems(&self, config: &Value) -> Vec<Problem>;
}

macro_rules! kinds {
    ($($port:ident => $role:literal),*) => {$(
        impl Kind for dyn $port {
            const ROLE: &'static str = $role;

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

kinds!(AnySource => "source", AnyTransform => "transform", AnySink => "sink", AnyStore => "state store");

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
