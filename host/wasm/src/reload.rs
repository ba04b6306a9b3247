//! A transform whose component may change while it runs: its file is replaced, and the next page goes through the new
//! one; or a candidate is given the same pages, to see what it would make of them.

use crate::host::Host;
use crate::origin::{Origin, PluginSpec};
use crate::plugin::Plugin;
use crate::shadow::Shadow;
use crate::v0_1::Role;
use async_trait::async_trait;
use faucet_core::error::{Error, Problem, Result, Severity};
use faucet_core::model::Page;
use faucet_core::ports::{AnyTransform, Output, Transform};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tracing::{info, warn};

/// How often a file is looked at, at most.
const LOOK: Duration = Duration::from_millis(200);

/// A transform that is loaded again when its file changes, or that has a candidate beside it.
pub struct Changing {
    host: Arc<Host>,
    spec: PluginSpec,
    plugin: Plugin,
    reload: bool,
    candidate: Option<Plugin>,
}

impl Changing {
    /// A loaded transform that is loaded again when the file of `spec` changes, if `reload`, with a candidate beside it,
    /// if there is one.
    pub fn new(host: Arc<Host>, spec: PluginSpec, plugin: Plugin, reload: bool, candidate: Option<Plugin>) -> Self {
        Self { host, spec, plugin, reload, candidate }
    }
}

#[async_trait]
impl AnyTransform for Changing {
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
        let mut problems = self.plugin.check_config(config);
        if let Some(candidate) = &self.candidate {
            let wrong =
                candidate.check_config(config).into_iter().filter(|problem| problem.severity == Severity::Error);
            problems.extend(wrong.map(|problem| {
                let message = format!("the candidate under `shadow` does not accept this: {}", problem.message);
                Problem::error(problem.path, message)
            }));
        }
        problems
    }

    async fn open(&self, config: &Value) -> Result<Box<dyn Transform>> {
        let shadow = self.candidate.as_ref().map(|candidate| Shadow::open(candidate, config)).transpose()?;
        let file = match &self.spec.origin {
            Origin::File(file) if self.reload => Some(File::seen(file.clone())),
            Origin::File(_) | Origin::Bundled(_) => None,
        };
        Ok(Box::new(Running {
            host: self.host.clone(),
            spec: self.spec.clone(),
            config: config.clone(),
            digest: self.plugin.digest().to_owned(),
            current: self.plugin.open(config.clone())?,
            file,
            shadow,
        }))
    }
}

/// A file, and what it was when it was looked at.
struct File {
    path: PathBuf,
    stamp: Option<(SystemTime, u64)>,
    looked: Instant,
}

impl File {
    fn seen(path: PathBuf) -> Self {
        let stamp = stamp(&path);
        Self { path, stamp, looked: Instant::now() }
    }

    /// Whether it is another one than it was; looked at only now and then.
    fn changed(&mut self) -> bool {
        if self.looked.elapsed() < LOOK {
            return false;
        }
        self.looked = Instant::now();
        let now = stamp(&self.path);
        now != std::mem::replace(&mut self.stamp, now)
    }
}

fn stamp(path: &std::path::Path) -> Option<(SystemTime, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

/// A transform that is open.
struct Running {
    host: Arc<Host>,
    spec: PluginSpec,
    config: Value,
    digest: String,
    current: Box<dyn Transform>,
    file: Option<File>,
    shadow: Option<Shadow>,
}

impl Running {
    /// Loads the file again. Whatever is wrong with it, the component that runs goes on.
    async fn reload(&mut self) {
        let (host, spec, config) = (self.host.clone(), self.spec.clone(), self.config.clone());
        let loaded = tokio::task::spawn_blocking(move || replacement(&host, &spec, &config)).await;
        let name = self.spec.name.as_str();
        match loaded {
            Ok(Ok((plugin, _))) if plugin.digest() == self.digest => {}
            Ok(Ok((plugin, transform))) => {
                let (from, to) = (&self.digest[..12], &plugin.digest()[..12]);
                info!("plugin '{name}' was replaced: {from} before, {to} from here on");
                (self.digest, self.current) = (plugin.digest().to_owned(), transform);
            }
            Ok(Err(error)) => {
                let digest = &self.digest[..12];
                warn!("the new file of plugin '{name}' can't be used, {digest} goes on: {error}");
            }
            Err(error) => warn!("plugin '{name}' could not be loaded again: {error}"),
        }
    }
}

/// The component that is in the file now, open with the configuration.
fn replacement(host: &Host, spec: &PluginSpec, config: &Value) -> Result<(Plugin, Box<dyn Transform>), Error> {
    let plugin = host.load(spec)?;
    if plugin.role() != Role::Transform {
        return Err(plugin.not_a_transform());
    }
    let transform = plugin.open(config.clone())?;
    Ok((plugin, transform))
}

#[async_trait]
impl Transform for Running {
    fn name(&self) -> &str {
        &self.spec.name
    }

    fn takes_changes(&self) -> bool {
        false
    }

    async fn apply(&mut self, page: Page) -> Result<Output> {
        if self.file.as_mut().is_some_and(File::changed) {
            self.reload().await;
        }
        let Some(shadow) = &mut self.shadow else { return self.current.apply(page).await };
        let output = self.current.apply(page.clone()).await;
        shadow.compare(page, output.as_ref()).await;
        output
    }
}
