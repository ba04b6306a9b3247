//! The WebAssembly components that a configuration declares.

use faucet_core::config::document::{Plugin as Declared, Reload};
use faucet_core::config::{LoadedPlugin, Part, PluginLoader};
use faucet_core::error::{Error, Problem, Result};
use faucet_wasm::{Ceiling, Changing, Grants, Host, HostOptions, Limits, LoadError, Origin, Plugin, PluginSpec, Role};
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
        let loaded = self.load_one(&spec)?;
        let (digest, grants, warnings) = (loaded.digest().to_owned(), loaded.grants(), loaded.warnings().to_vec());
        let part = self.changing(plugin, spec, loaded, folder)?;
        Ok(LoadedPlugin { part, digest, grants, warnings })
    }
}

impl Loader {
    fn load_one(&self, spec: &PluginSpec) -> Result<Plugin, Vec<Problem>> {
        self.host.load(spec).map_err(|error| match error {
            LoadError::Plugin(error) => vec![as_problem(&error)],
            LoadError::Grants(problems) => problems,
        })
    }

    /// The plugin as a part of a pipeline, watched or shadowed where its entry says so.
    fn changing(
        &self,
        declared: &Declared,
        spec: PluginSpec,
        plugin: Plugin,
        folder: &Path,
    ) -> Result<Part, Vec<Problem>> {
        let reload = declared.reload == Reload::OnChange;
        let problem = |key: &str, what: &str| Err(vec![Problem::error(key, what)]);
        match (plugin.role(), reload, &declared.shadow) {
            (_, false, None) => return Ok(plugin.into()),
            (Role::Source | Role::Sink, true, _) => return problem("reload", "only a transform can be loaded again"),
            (Role::Source | Role::Sink, _, Some(_)) => {
                return problem("shadow", "only a transform can have a candidate");
            }
            (Role::Transform, true, _) if declared.sha256.is_some() || declared.path.is_none() => {
                return problem("reload", "what is pinned by `sha256`, or comes with faucet, does not change");
            }
            (Role::Transform, _, _) => {}
        }
        let candidate = |path: &String| {
            let origin = Origin::File(folder.join(path));
            let loaded = self.load_one(&PluginSpec { origin, sha256: None, ..spec.clone() });
            match loaded {
                Ok(plugin) if plugin.role() == Role::Transform => Ok(plugin),
                Ok(_) => Err(vec![Problem::error("shadow", "this is no transform")]),
                Err(problems) => {
                    Err(problems.into_iter().map(|p| Problem { path: "shadow".to_owned(), ..p }).collect())
                }
            }
        };
        let candidate = declared.shadow.as_ref().map(candidate).transpose()?;
        Ok(Part::Transform(Arc::new(Changing::new(self.host.clone(), spec, plugin, reload, candidate))))
    }

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
