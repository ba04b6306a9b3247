//! Who to be to a registry: the first of the environment, docker's configuration and podman's that has something to say.
//!
//! No error, and nothing that is printed for debugging, holds a secret or the content of a file.

mod config;
mod helper;

use crate::fault::CREDENTIALS;
use crate::read_bounded;
use crate::reference::Reference;
use config::{Config, Found};
use faucet_core::error::{Error, Result};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Files beyond this are no configuration.
const LARGEST: u64 = 1 << 20;

/// How long a credential helper may take. It may ask a person.
const HELPER_PATIENCE: Duration = Duration::from_secs(60);

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one place that sends it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What to show to a registry that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// Nothing.
    Anonymous,
    /// A name and a password, or a token in the place of one.
    Password {
        /// The name.
        user: String,
        /// The password.
        password: Secret,
    },
    /// What docker calls an identity token: it is exchanged for tokens of short life.
    Identity(Secret),
}

/// Where credentials are looked for.
///
/// ```
/// use faucet_registry::Credentials;
/// let variables = |name: &str| match name {
///     "FAUCET_REGISTRY_USER" => Some("robot".into()),
///     "FAUCET_REGISTRY_PASSWORD" => Some("hunter2".into()),
///     _ => None,
/// };
/// let credentials = Credentials::from_variables(variables).unwrap();
/// assert!(!format!("{credentials:?}").contains("hunter2"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    own: Option<Own>,
    files: Vec<PathBuf>,
    path: Option<OsString>,
    patience: Duration,
}

/// Credentials out of faucet's own variables.
#[derive(Debug, Clone)]
struct Own {
    /// The only registry they are for.
    host: Option<String>,
    credential: Credential,
}

impl Credentials {
    /// None for anybody.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// Those of this process's user: [`Credentials::from_variables`] over the environment.
    ///
    /// # Errors
    /// `registry.credentials`.
    pub fn of_this_user() -> Result<Self> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// Those that `variable`, an environment, leads to:
    ///
    /// 1. `FAUCET_REGISTRY_USER` and `FAUCET_REGISTRY_PASSWORD`; for one registry alone if `FAUCET_REGISTRY_HOST` names it,
    /// 2. `$DOCKER_CONFIG/config.json`, or `~/.docker/config.json`,
    /// 3. `$REGISTRY_AUTH_FILE`, or podman's `$XDG_RUNTIME_DIR/containers/auth.json` and
    ///    `~/.config/containers/auth.json`.
    ///
    /// No file is opened yet.
    ///
    /// # Errors
    /// `registry.credentials`: one of the first two variables without the other, or a value that is not UTF-8.
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let folder = |name: &str, below: &str| set(name).map(|folder| Path::new(&folder).join(below));
        let docker = folder("DOCKER_CONFIG", "config.json").or_else(|| folder("HOME", ".docker/config.json"));
        let podman = match set("REGISTRY_AUTH_FILE") {
            Some(file) => vec![PathBuf::from(file)],
            None => [("XDG_RUNTIME_DIR", "containers/auth.json"), ("HOME", ".config/containers/auth.json")]
                .into_iter()
                .filter_map(|(name, below)| folder(name, below))
                .collect(),
        };
        let files = docker.into_iter().chain(podman).collect();
        Ok(Self { own: own(&set)?, files, path: set("PATH"), patience: HELPER_PATIENCE })
    }

    /// How long a credential helper may take; a minute unless set.
    #[must_use]
    pub fn helper_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Whether every registry that asks would be shown the same password. With one registry that is what was meant; with
    /// several, one of them would get what belongs to another.
    pub(crate) fn are_for_anybody(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.host.is_none())
    }

    /// What to show to the registry of `reference`.
    ///
    /// # Errors
    /// `registry.credentials`: a file that can't be read or understood, or a helper that fails.
    pub async fn find(&self, reference: &Reference) -> Result<Credential> {
        if let Some(own) = &self.own
            && own.host.as_deref().is_none_or(|host| host.eq_ignore_ascii_case(reference.registry()))
        {
            return Ok(own.credential.clone());
        }
        for file in &self.files {
            if let Some(credential) = self.in_file(file, reference).await? {
                return Ok(credential);
            }
        }
        Ok(Credential::Anonymous)
    }

    async fn in_file(&self, file: &Path, reference: &Reference) -> Result<Option<Credential>> {
        let bytes = match read_bounded(file, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(broken(file, &error.to_string())),
        };
        let config = Config::read(&bytes).map_err(|why| broken(file, &why))?;
        match config.find(reference).map_err(|why| broken(file, &why))? {
            Found::Nothing => Ok(None),
            Found::Credential(credential) => Ok(Some(credential)),
            Found::Helper { name, server } => {
                helper::ask(&name, &server, self.path.as_deref(), self.patience).await.map_err(|e| {
                    e.context(format!("looking for credentials, because '{}' names a helper", file.display()))
                })
            }
        }
    }
}

/// A file that isn't there, or whose folder isn't one.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn broken(file: &Path, why: &str) -> Error {
    Error::new(&CREDENTIALS, format!("'{}': {why}", file.display()))
}

fn own(set: &impl Fn(&str) -> Option<OsString>) -> Result<Option<Own>> {
    let text = |name: &str| match set(name).map(OsString::into_string) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => Err(Error::new(&CREDENTIALS, format!("{name} is not UTF-8"))),
    };
    let half = |set: &str, missing: &str| Error::new(&CREDENTIALS, format!("{set} is set, and {missing} is not"));
    match (text("FAUCET_REGISTRY_USER")?, text("FAUCET_REGISTRY_PASSWORD")?) {
        (None, None) => Ok(None),
        (Some(_), None) => Err(half("FAUCET_REGISTRY_USER", "FAUCET_REGISTRY_PASSWORD")),
        (None, Some(_)) => Err(half("FAUCET_REGISTRY_PASSWORD", "FAUCET_REGISTRY_USER")),
        (Some(user), Some(password)) => {
            let credential = Credential::Password { user, password: Secret::new(password) };
            Ok(Some(Own { host: text("FAUCET_REGISTRY_HOST")?, credential }))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
