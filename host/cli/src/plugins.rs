//! The WebAssembly components that a configuration declares.

use faucet_core::config::document::{Plugin as Declared, Reload};
use faucet_core::config::{LoadedPlugin, Part, PluginLoader};
use faucet_core::error::{Blame, Code, Error, Problem, Result, Retry};
use faucet_registry::{Lock, Resolved, Store, resolve};
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
        let (origin, locked) = origin(name, plugin, folder).map_err(|problem| vec![problem])?;
        let secrets = plugin.secrets.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect();
        Ok(PluginSpec {
            sha256: plugin.sha256.clone().or(locked),
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

/// Where a declared component is; of one from a registry, also the digest that the lock file says.
fn origin(name: &str, plugin: &Declared, folder: &Path) -> Result<(Origin, Option<String>), Problem> {
    match (&plugin.path, &plugin.oci, bundled::bytes(name)) {
        (Some(_), Some(_), _) => {
            Err(Problem::error("oci", "`path` and `oci` both say where the component is").hint("keep one of them"))
        }
        (Some(path), None, _) => Ok((Origin::File(folder.join(path)), None)),
        (None, Some(reference), _) => {
            let resolved = resolved(reference, folder).map_err(|error| at("oci", &error))?;
            let digest = resolved.digest.hex();
            match &plugin.sha256 {
                Some(pin) if !pin.eq_ignore_ascii_case(&digest) => {
                    Err(Problem::error("sha256", format!("faucet.lock says {digest} for {reference}")))
                }
                _ => Ok((Origin::File(resolved.path), Some(digest))),
            }
        }
        (None, None, Some(bytes)) => Ok((Origin::Bundled(bytes), None)),
        (None, None, None) => {
            let problem = Problem::error("", "`path` is missing, and no component of this name comes with faucet");
            Err(problem.hint("name the component's .wasm file: path: ./FILE.wasm; or `oci`, where it is in a registry"))
        }
    }
}

fn resolved(reference: &str, folder: &Path) -> Result<Resolved> {
    resolve(&reference.parse()?, &Lock::read(&lock_file(folder))?, &store()?)
}

/// The lock file for configurations in a folder.
pub fn lock_file(folder: &Path) -> PathBuf {
    folder.join("faucet.lock")
}

/// Where pulled components are kept: `FAUCET_PLUGIN_STORE`, else the user's folder for data.
///
/// # Errors
/// When there is no such folder because `HOME` is not set.
pub fn store() -> Result<Store> {
    let explicit = env::var_os("FAUCET_PLUGIN_STORE").map(PathBuf::from);
    let user = || {
        let base = env::var_os("XDG_DATA_HOME").map(PathBuf::from);
        let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".local/share"));
        base.or_else(home).map(|base| base.join("faucet/plugins"))
    };
    let folder = explicit.or_else(user).ok_or_else(|| {
        Error::new(&NO_STORE, "no folder to keep components in").hint("set FAUCET_PLUGIN_STORE, or HOME")
    })?;
    Ok(Store::at(folder))
}

/// There is nowhere to keep components.
pub static NO_STORE: Code = Code {
    id: "plugin.no_store",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "there is no folder to keep pulled components in",
    help: "Components from registries are kept in `FAUCET_PLUGIN_STORE`, else in `$XDG_DATA_HOME/faucet/plugins`, else in \
           `~/.local/share/faucet/plugins`. None of the variables that say where that is has a value: set one of them.",
};

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
    at(if error.code().id == "plugin.digest_mismatch" { "sha256" } else { "path" }, error)
}

/// An error as a problem of a key.
fn at(key: &str, error: &Error) -> Problem {
    let problem = Problem::error(key, format!("{error} [{}]", error.code().id));
    match error.hint_text() {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}
