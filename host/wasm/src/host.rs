//! Loads plugins.

use crate::cache::Cache;
use crate::capability::{Surroundings, World};
use crate::check::Answers;
use crate::engine::Runtime;
use crate::fault::{INVALID_CONFIG, NOT_A_COMPONENT, NOT_OFFERED, Subject, WRONG_VERSION, WRONG_WORLD};
use crate::grant::settle;
use crate::limits::{Limits, PATIENT, QUICK};
use crate::origin::{Loaded, PluginSpec};
use crate::plugin::{Plugin, Shared};
use crate::ready::Ready;
use crate::v0_1::{PACKAGE, Pre, Role, VERSION, listed};
use faucet_core::error::{Error, Problem, Result};
use std::path::PathBuf;
use std::sync::Arc;
use wasmtime::component::{Component, InstancePre};

/// How plugins are loaded.
#[derive(Debug, Clone, Default)]
pub struct HostOptions {
    /// Folder in which compiled plugins are kept, made if it is not there; none = every process compiles anew.
    pub cache_dir: Option<PathBuf>,
}

/// Loads plugins, all on one engine.
pub struct Host {
    runtime: Arc<Runtime>,
    cache: Option<Cache>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("cache", &self.cache).finish_non_exhaustive()
    }
}

impl Host {
    /// Starts the engine.
    ///
    /// # Errors
    /// `plugin.engine` if this machine can't run one. A cache that can't be used is a warning in the log.
    pub fn new(options: HostOptions) -> Result<Self> {
        let runtime = Arc::new(Runtime::new()?);
        let cache = options.cache_dir.and_then(|folder| Cache::open(folder, &runtime.engine));
        Ok(Self { runtime, cache })
    }

    /// Reads a plugin, checks it against its pin, compiles it or takes its compiled form from the cache, asks it what it
    /// is, and settles what it may do.
    ///
    /// # Errors
    /// Says which plugin, and what about it: its file, its digest, its sort, its version, its imports, its first call, or
    /// its grants.
    pub fn load(&self, spec: &PluginSpec) -> Result<Plugin, LoadError> {
        let (component, digest) = self.component(spec)?;
        let subject = Subject { name: spec.name.clone(), digest };
        let (role, version) = self.role(&subject, &component)?;
        let pre = self.link(&subject, &component)?;
        let pre = Pre::new(pre, role).map_err(|error| not_a_plugin(&subject, &error.root_cause().to_string()))?;
        let usual = if role == Role::Transform { QUICK } else { PATIENT };
        let limits = spec.limits.capped(spec.ceiling.limits(), usual);
        let (runtime, world) = (self.runtime.clone(), self.world(spec, limits));
        let mut shared =
            Shared { runtime, world, answers: Answers::default(), subject, version, pre, ready: Ready::default() };
        let description = shared.describe()?;
        let settled = settle(&description.wants, &spec.grants, &spec.secrets, &spec.ceiling, &spec.folder);
        let (mut effective, warnings) = settled.map_err(LoadError::Grants)?;
        effective.missing = warnings.iter().find(|warning| warning.path == "grants").map(|warning| {
            let name = &spec.name;
            warning.message.replace("`grants.", &format!("`plugins.{name}.grants."))
        });
        shared.world.grants = Arc::new(effective);
        Ok(Plugin::new(shared, description, warnings))
    }

    fn world(&self, spec: &PluginSpec, limits: Limits) -> World {
        let tls = self.runtime.tls.clone();
        World {
            plugin: spec.name.clone(),
            limits,
            grants: Arc::default(),
            traffic: Arc::default(),
            names: Arc::default(),
            tls,
        }
    }

    /// The component and its digest.
    fn component(&self, spec: &PluginSpec) -> Result<(Component, String)> {
        let engine = &self.runtime.engine;
        let found = spec.find(self.cache.as_ref())?;
        if let Some(component) = self.cache.as_ref().and_then(|cache| cache.load(engine, &found.digest)) {
            return Ok((component, found.digest));
        }
        let Loaded { bytes, digest } = if found.bytes.is_some() { found } else { spec.read()? };
        let component = Component::from_binary(engine, bytes.as_deref().unwrap_or_default()).map_err(|error| {
            let what = format!("plugin '{}' is no valid component: {}", spec.name, error.root_cause());
            Error::new(&NOT_A_COMPONENT, what).hint("build the plugin again, or copy its file again")
        })?;
        if let Some(cache) = &self.cache {
            cache.keep(&digest, &component);
        }
        Ok((component, digest))
    }

    /// What the component is: it must export one of the interfaces, in a version that this host speaks.
    fn role(&self, subject: &Subject, component: &Component) -> Result<(Role, String)> {
        let exports = Pre::exports(component, &self.runtime.engine);
        let versions: Vec<(Role, &str)> = Role::ALL
            .iter()
            .flat_map(|role| exports.iter().filter_map(|export| Some((*role, version_of(export, role.interface())?))))
            .collect();
        match versions.as_slice() {
            [] => {
                let exported = if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") };
                Err(not_a_plugin(subject, &format!("it exports {exported}")))
            }
            [(role, version)] if understood(version) => Ok((*role, (*version).to_owned())),
            [(_, version)] => Err(wrong_version(subject, version)),
            _ => Err(not_a_plugin(subject, "it exports more than one of the interfaces")),
        }
    }

    fn link(&self, subject: &Subject, component: &Component) -> Result<InstancePre<Surroundings>> {
        self.runtime.linker.instantiate_pre(component).map_err(|error| {
            let imports = component.component_type();
            let imports = imports.imports(&self.runtime.engine);
            let newer = imports.filter(|(name, _)| name.starts_with(PACKAGE)).find_map(|(name, _)| {
                name.rsplit_once('@').map(|(_, version)| version.to_owned()).filter(|version| version != VERSION)
            });
            match newer {
                Some(version) => wrong_version(subject, &version),
                None => Error::new(&NOT_OFFERED, format!("{subject} can't be linked: {error:#}")),
            }
        })
    }
}

/// The version at the end of `export`, if it is the interface `interface`.
fn version_of<'a>(export: &'a str, interface: &str) -> Option<&'a str> {
    export.strip_prefix(interface)?.strip_prefix('@')
}

/// Before 1.0, versions with the same minor number are of one track.
fn understood(version: &str) -> bool {
    let track = |version: &str| version.rsplit_once('.').map(|(track, _)| track.to_owned());
    track(version) == track(VERSION)
}

fn wrong_version(subject: &Subject, version: &str) -> Error {
    let what = format!("{subject} was built for {PACKAGE} {version}, and this faucet understands {VERSION}");
    Error::new(&WRONG_VERSION, what).hint("build the plugin with the SDK of this faucet, or use another faucet")
}

fn not_a_plugin(subject: &Subject, why: &str) -> Error {
    let what = format!("{subject} is no plugin: {why}");
    let wanted = Role::ALL.map(|role| format!("a {} exports {}@{VERSION}", role.name(), role.interface()));
    Error::new(&WRONG_WORLD, what).hint(wanted.join(", "))
}

/// Why a plugin was not loaded.
#[derive(Debug)]
pub enum LoadError {
    /// What is wrong with the component.
    Plugin(Error),
    /// What is wrong with its grants; paths start at its entry.
    Grants(Vec<Problem>),
}

impl From<Error> for LoadError {
    fn from(error: Error) -> Self {
        Self::Plugin(error)
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Plugin(error) => error,
            LoadError::Grants(problems) => Error::new(&INVALID_CONFIG, listed(&problems)),
        }
    }
}
