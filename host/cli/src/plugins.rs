//! WebAssembly components as transforms: the ones a configuration declares, and the ones bundled with the binary.

use async_trait::async_trait;
use faucet_core::config::PluginLoader;
use faucet_core::config::document::Plugin as Declared;
use faucet_core::error::{Error, Problem, Result};
use faucet_core::ports::{AnyTransform, Transform};
use faucet_wasm::{Host, HostOptions, Limits, Origin, Plugin, PluginSpec};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::bundled;

/// Loads components; one engine for the process.
#[derive(Clone)]
pub struct Loader {
    host: Arc<Host>,
}

impl Loader {
    /// Starts the engine.
    ///
    /// # Errors
    /// When it can't be.
    pub fn new() -> Result<Self> {
        let host = Host::new(HostOptions { cache_dir: cache_dir() })?;
        Ok(Self { host: Arc::new(host) })
    }
}

/// Where compiled components are kept: `FAUCET_CACHE_DIR`, else the user's cache folder; nowhere when there is none.
fn cache_dir() -> Option<PathBuf> {
    let explicit = env::var_os("FAUCET_CACHE_DIR").map(PathBuf::from);
    let user = || {
        let base = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".cache"));
        base.or_else(home).map(|b| b.join("faucet").join("components"))
    };
    explicit.or_else(user)
}

impl PluginLoader for Loader {
    fn limits_schema(&self) -> Value {
        Limits::schema()
    }

    fn load(&self, name: &str, plugin: &Declared, folder: &Path) -> Result<Arc<dyn AnyTransform>, Vec<Problem>> {
        let limits = limits(plugin.limits.as_ref())?;
        let spec = PluginSpec {
            name: name.to_owned(),
            origin: Origin::File(folder.join(&plugin.path)),
            sha256: plugin.sha256.clone(),
            limits,
        };
        let plugin = self.host.load(&spec).map_err(|e| vec![as_problem(&e)])?;
        Ok(Arc::new(Component { plugin }))
    }
}

fn limits(block: Option<&Map<String, Value>>) -> Result<Limits, Vec<Problem>> {
    let Some(block) = block else { return Ok(Limits::default()) };
    Limits::deserialize(Value::Object(block.clone())).map_err(|e| vec![Problem::error("limits", e.to_string())])
}

/// An entry that can't be loaded, as a problem of the configuration: at the digest when that is what differs.
fn as_problem(error: &Error) -> Problem {
    let path = if error.code().id == "plugin.digest_mismatch" { "sha256" } else { "path" };
    let problem = Problem::error(path, format!("{error} [{}]", error.code().id));
    match error.hint_text() {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

/// A loaded component.
struct Component {
    plugin: Plugin,
}

#[async_trait]
impl AnyTransform for Component {
    fn name(&self) -> &str {
        self.plugin.name()
    }

    fn summary(&self) -> String {
        self.plugin.describe().summary.clone()
    }

    fn schema(&self) -> Value {
        self.plugin.describe().config_schema.clone()
    }

    fn takes_changes(&self) -> bool {
        false
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        self.plugin.check_config(config)
    }

    async fn open(&self, config: &Value) -> Result<Box<dyn Transform>> {
        self.plugin.open(config.clone())
    }
}

/// A component inside the binary; compiled or taken from the cache when it is first needed.
pub struct Bundled {
    name: &'static str,
    bytes: &'static [u8],
    loader: Loader,
    component: OnceLock<Result<Component, String>>,
}

impl Bundled {
    /// Every component this binary carries.
    pub fn all(loader: &Loader) -> Vec<Arc<dyn AnyTransform>> {
        let bundle = |&(name, bytes): &(&'static str, &'static [u8])| -> Arc<dyn AnyTransform> {
            Arc::new(Self { name, bytes, loader: loader.clone(), component: OnceLock::new() })
        };
        bundled::GUESTS.iter().map(bundle).collect()
    }

    fn spec(&self) -> PluginSpec {
        let origin = Origin::Bundled(self.bytes);
        PluginSpec { name: self.name.to_owned(), origin, sha256: None, limits: Limits::default() }
    }

    fn component(&self) -> Option<&Component> {
        let load =
            || self.loader.host.load(&self.spec()).map(|plugin| Component { plugin }).map_err(|e| format!("{e:?}"));
        match self.component.get_or_init(load) {
            Ok(component) => Some(component),
            Err(error) => {
                tracing::warn!(transform = self.name, error, "a bundled component can't be loaded");
                None
            }
        }
    }
}

#[async_trait]
impl AnyTransform for Bundled {
    fn name(&self) -> &str {
        self.name
    }

    fn summary(&self) -> String {
        self.component().map(AnyTransform::summary).unwrap_or_default()
    }

    fn schema(&self) -> Value {
        self.component().map_or_else(|| json!({"type": "object"}), AnyTransform::schema)
    }

    fn takes_changes(&self) -> bool {
        false
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        self.component().map(|c| c.validate(config)).unwrap_or_default()
    }

    async fn open(&self, config: &Value) -> Result<Box<dyn Transform>> {
        match self.component() {
            Some(component) => component.open(config).await,
            // Loading it again gives the error itself.
            None => self.loader.host.load(&self.spec())?.open(config.clone()),
        }
    }
}
