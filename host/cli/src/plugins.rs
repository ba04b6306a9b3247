//! The WebAssembly components that a configuration declares.

use faucet_core::config::document::Plugin as Declared;
use faucet_core::config::{LoadedPlugin, PluginLoader};
use faucet_core::error::{Error, Problem, Result};
use faucet_wasm::{Ceiling, Grants, Host, HostOptions, Limits, LoadError, Origin, Plugin, PluginSpec};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

    fn grants_schema(&self) -> Value {
        Grants::schema()
    }

    fn load(&self, name: &str, plugin: &Declared, folder: &Path) -> Result<LoadedPlugin, Vec<Problem>> {
        let spec = self.spec(name, plugin, folder)?;
        let plugin = self.host.load(&spec).map_err(|error| match error {
            LoadError::Plugin(error) => vec![as_problem(&error)],
            LoadError::Grants(problems) => problems,
        })?;
        let (digest, grants, warnings) = (plugin.digest().to_owned(), plugin.grants(), plugin.warnings().to_vec());
        Ok(LoadedPlugin { part: plugin.into(), digest, grants, warnings })
    }
}

impl Loader {
    fn spec(&self, name: &str, plugin: &Declared, folder: &Path) -> Result<PluginSpec, Vec<Problem>> {
        let origin = match (&plugin.path, bundled::bytes(name)) {
            (Some(path), _) => Origin::File(folder.join(path)),
            (None, Some(bytes)) => Origin::Bundled(bytes),
            (None, None) => {
                let problem = Problem::error("", "`path` is missing, and no component of this name comes with faucet");
                return Err(vec![problem.hint("name the component's .wasm file: path: ./FILE.wasm")]);
            }
        };
        let secrets = plugin.secrets.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect();
        Ok(PluginSpec {
            sha256: plugin.sha256.clone(),
            limits: block("limits", plugin.limits.as_ref())?,
            grants: block("grants", plugin.grants.as_ref())?,
            secrets,
            ceiling: ceiling().map_err(|error| vec![Problem::error("", error.to_string())])?,
            folder: folder.to_owned(),
            ..PluginSpec::new(name, origin)
        })
    }

    /// Loads a component that no configuration declares.
    ///
    /// # Errors
    /// As [`Host::load`].
    pub fn component(&self, spec: &PluginSpec) -> Result<Plugin> {
        Ok(self.host.load(spec)?)
    }
}

/// What the operator of this machine allows at most.
///
/// # Errors
/// If there is a ceiling and it can't be read.
pub fn ceiling() -> Result<Ceiling> {
    match env::var_os("FAUCET_PLUGIN_CEILING") {
        Some(file) => Ceiling::read(Path::new(&file)),
        None => Ok(Ceiling::none()),
    }
}

fn block<T: Default + DeserializeOwned>(key: &str, block: Option<&Map<String, Value>>) -> Result<T, Vec<Problem>> {
    let Some(block) = block else { return Ok(T::default()) };
    T::deserialize(Value::Object(block.clone())).map_err(|e| vec![Problem::error(key, e.to_string())])
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
