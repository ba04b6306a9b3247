//! The operator's ceiling: what plugins on a machine may do at most.

use super::{Access, DirGrant, patterns};
use crate::limits::Limits;
use crate::outbound::HostPattern;
use faucet_core::error::{Blame, Code, Error, Result, Retry};
use serde::Deserialize;
use std::path::Path;

/// The operator's ceiling can't be read.
pub static CEILING: Code = Code {
    id: "plugin.ceiling",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "the ceiling for plugins can't be read",
    help: "`FAUCET_PLUGIN_CEILING` names a YAML file that says what plugins on this machine may do at most, whatever a \
           configuration grants: `http`, `dirs`, `env`, `secrets`, `clock`, `random` and `limits`, as in a plugin's entry. \
           While the variable is set and the file can't be read, no plugin is loaded.",
};

/// What plugins on this machine may do at most.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ceiling {
    http: Vec<String>,
    dirs: Vec<DirGrant>,
    env: Vec<String>,
    secrets: Vec<String>,
    clock: bool,
    random: bool,
    limits: Limits,
    /// There is no ceiling.
    #[serde(skip)]
    unbounded: bool,
}

/// A list of names in a ceiling.
#[derive(Debug, Clone, Copy)]
pub(super) enum Names {
    Env,
    Secrets,
}

impl Default for Ceiling {
    fn default() -> Self {
        let (http, dirs, env, secrets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { http, dirs, env, secrets, clock: false, random: false, limits: no_limits(), unbounded: false }
    }
}

fn no_limits() -> Limits {
    Limits {
        memory_mb: u32::MAX,
        deadline_ms: None,
        output_ratio: u32::MAX,
        log_lines: u32::MAX,
        http_requests_per_minute: u32::MAX,
        http_response_mb: u32::MAX,
    }
}

impl Ceiling {
    /// Nothing above the configuration.
    pub fn none() -> Self {
        Self { unbounded: true, ..Self::default() }
    }

    /// Reads the operator's file.
    ///
    /// # Errors
    /// `plugin.ceiling`: while it can't be read, nothing may be loaded.
    pub fn read(file: &Path) -> Result<Self> {
        let failed = |why: String| {
            let what = format!("FAUCET_PLUGIN_CEILING names {}: {why}", file.display());
            Error::new(&CEILING, what).hint("mend the file, or unset the variable")
        };
        let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
        // `limits` that are left out have no ceiling.
        let mut tree: serde_json::Value = serde_yaml::from_str(&text).map_err(|error| failed(error.to_string()))?;
        if tree.is_null() {
            tree = serde_json::json!({});
        }
        if !tree.is_object() {
            return Err(failed("it is no mapping".to_owned()));
        }
        if let Some(given) = tree.get_mut("limits").and_then(|limits| limits.as_object_mut()) {
            let all = serde_json::to_value(no_limits()).unwrap_or_default();
            for (key, value) in all.as_object().into_iter().flatten() {
                given.entry(key.clone()).or_insert(value.clone());
            }
        }
        let ceiling: Self = serde_json::from_value(tree).map_err(|error| failed(error.to_string()))?;
        patterns(&ceiling.http).map_err(|(_, why)| failed(why))?;
        Ok(ceiling)
    }

    /// The most that a plugin may use.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The hosts that plugins may reach; none: any.
    pub(super) fn http(&self) -> Option<Vec<HostPattern>> {
        (!self.unbounded).then(|| patterns(&self.http).unwrap_or_default())
    }

    pub(super) fn allows_clock(&self) -> bool {
        self.unbounded || self.clock
    }

    pub(super) fn allows_random(&self) -> bool {
        self.unbounded || self.random
    }

    /// The most that may be done in a folder; none: nothing.
    pub(super) fn access(&self, dir: &Path) -> Option<Access> {
        if self.unbounded {
            return Some(Access::Write);
        }
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let dir = real(dir);
        self.dirs.iter().filter(|most| dir.starts_with(real(&most.path))).map(|most| most.access).max()
    }

    pub(super) fn allows_name(&self, names: Names, name: &str) -> bool {
        let list = match names {
            Names::Env => &self.env,
            Names::Secrets => &self.secrets,
        };
        self.unbounded || named(list, name)
    }
}

/// Whether a list names it.
pub(super) fn named(list: &[String], name: &str) -> bool {
    list.iter().any(|listed| listed == name || listed == "*")
}
