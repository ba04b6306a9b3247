//! What a plugin may do beyond its pages: the `grants:` block, what the plugin asks for, the operator's ceiling, and what
//! is left of the three.

mod ceiling;
mod settle;

pub use ceiling::{CEILING, Ceiling};
pub(crate) use settle::settle;

use crate::outbound::HostPattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a plugin may do beyond its pages, as the configuration grants it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Grants {
    /// Hosts it may send HTTP requests to: `host:port` (the port is 443 unless given), `*.domain:port`, an address, or a
    /// network such as `10.0.0.0/8`. An address that is not public is reached only if an address or a network in this
    /// list names it.
    pub http: Vec<String>,
    /// Folders it may open.
    pub dirs: Vec<DirGrant>,
    /// Environment variables of this process that it may read.
    pub env: Vec<String>,
    /// Names of `secrets` that it may put into requests.
    pub secrets: Vec<String>,
    /// It sees the real time.
    pub clock: bool,
    /// It gets real randomness.
    pub random: bool,
}

/// A folder that a plugin may open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirGrant {
    /// The folder, relative to the folder of the configuration.
    #[schemars(length(min = 1))]
    pub path: PathBuf,
    /// The name under which the plugin sees it. Default: `/` and the last part of `path`.
    pub name: Option<String>,
    /// What it may do there.
    #[serde(default)]
    pub access: Access,
}

/// What may be done in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Read what is there.
    #[default]
    Read,
    /// Also make, change and remove files.
    Write,
}

impl Grants {
    /// JSON Schema of the block.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }
}

impl DirGrant {
    /// The name under which the plugin sees it.
    pub(crate) fn name(&self) -> String {
        let last = || self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        self.name.clone().unwrap_or_else(|| format!("/{}", last()))
    }
}

/// What a plugin asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wants {
    /// Hosts, as patterns.
    pub http: Vec<String>,
    /// Folders, by the name the plugin opens them under.
    pub dirs: Vec<(String, Access)>,
    /// Environment variables.
    pub env: Vec<String>,
    /// Secrets; `*` = all that are granted.
    pub secrets: Vec<String>,
    /// The real time.
    pub clock: bool,
    /// Real randomness.
    pub random: bool,
}

impl Wants {
    /// Whether it asks for nothing.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A folder that a plugin gets.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// The name under which the plugin sees it.
    pub(crate) name: String,
    pub(crate) access: Access,
    /// It would be for writing, but for the operator's ceiling.
    lowered: bool,
}

/// What is left of what a plugin asks for, the configuration grants and the operator allows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Effective {
    pub(crate) http: HttpGrant,
    pub(crate) dirs: Vec<Folder>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) secrets: BTreeMap<String, String>,
    pub(crate) clock: bool,
    pub(crate) random: bool,
    /// What it asks for and is not given, in words for a person.
    pub(crate) missing: Option<String>,
}

/// The three lists that a host has to be on.
#[derive(Debug, Clone, Default)]
pub(crate) struct HttpGrant {
    asked: Vec<HostPattern>,
    granted: Vec<HostPattern>,
    /// None: there is no ceiling.
    ceiling: Option<Vec<HostPattern>>,
    /// Nothing is spoken to, whatever is on the lists.
    closed: bool,
}

impl HttpGrant {
    /// Whether a host may be spoken to; the error says which list it is missing from. `plugin` is the name in the
    /// configuration.
    pub(crate) fn check(&self, plugin: &str, host: &str, port: u16) -> Result<(), String> {
        let listed = |list: &[HostPattern]| list.iter().any(|pattern| pattern.matches(host, port));
        let shown = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        if self.closed {
            return Err(format!(
                "{shown} can't be reached while a plugin is described or checked, whatever is granted"
            ));
        }
        if !listed(&self.granted) {
            return Err(format!("{shown} is not granted: add it to plugins.{plugin}.grants.http"));
        }
        if !listed(&self.asked) {
            return Err(format!("{shown} is granted, but the plugin itself does not ask for it"));
        }
        match &self.ceiling {
            Some(ceiling) if !listed(ceiling) => {
                Err(format!("{shown} is above the ceiling that FAUCET_PLUGIN_CEILING sets on this machine"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether a private address is named by the configuration, and by the ceiling if there is one.
    pub(crate) fn names(&self, address: std::net::IpAddr) -> bool {
        let named = |list: &[HostPattern]| list.iter().any(|pattern| pattern.names(address));
        named(&self.granted) && self.ceiling.as_deref().is_none_or(named)
    }

    /// Whether the ceiling allows a granted host, at least in part.
    fn is_below_ceiling(&self, pattern: &HostPattern) -> bool {
        let allows = |most: &HostPattern| most.covers(pattern) || pattern.covers(most);
        self.ceiling.as_ref().is_none_or(|ceiling| ceiling.iter().any(allows))
    }

    /// Whether there is a ceiling.
    pub(crate) fn is_capped(&self) -> bool {
        self.ceiling.is_some()
    }

    fn is_empty(&self) -> bool {
        self.granted.is_empty() || self.asked.is_empty()
    }
}

impl Effective {
    /// Nothing at all, for calls that must not touch the world.
    pub(crate) fn closed() -> Self {
        Self { http: HttpGrant { closed: true, ..HttpGrant::default() }, ..Self::default() }
    }

    /// One line for each thing that is granted.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.http.is_empty() {
            let granted = self.http.granted.iter().filter(|pattern| self.http.is_below_ceiling(pattern));
            let hosts: Vec<String> = granted.map(ToString::to_string).collect();
            let most = self.http.ceiling.as_ref().map_or("", |_| ", as far as the operator's ceiling goes");
            lines.extend((!hosts.is_empty()).then(|| format!("http {}{most}", hosts.join(", "))));
        }
        for dir in &self.dirs {
            let access = if dir.access == Access::Write { "read and write" } else { "read" };
            let most = if dir.lowered { ", as far as the operator's ceiling goes" } else { "" };
            lines.push(format!("{access} {} as {}{most}", dir.path.display(), dir.name));
        }
        let names = |names: Vec<&String>| names.into_iter().cloned().collect::<Vec<_>>().join(", ");
        if !self.env.is_empty() {
            lines.push(format!("env {}", names(self.env.iter().map(|(name, _)| name).collect())));
        }
        if !self.secrets.is_empty() {
            lines.push(format!("secrets {}", names(self.secrets.keys().collect())));
        }
        lines.extend(self.clock.then(|| "the real time".to_owned()));
        lines.extend(self.random.then(|| "real randomness".to_owned()));
        lines
    }
}

/// The patterns of a list; the error says which one is none.
fn patterns(list: &[String]) -> Result<Vec<HostPattern>, (usize, String)> {
    list.iter().enumerate().map(|(nth, text)| text.parse().map_err(|why| (nth, why))).collect()
}
