//! docker's `config.json` and podman's `auth.json`, which are one format.
//!
//! Keys of `auths` are hosts, in podman's file also `host/namespace/repository`, and in files of old `https://host/v1/`.

use super::{Credential, Secret};
use crate::reference::Reference;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What docker calls its own registry in these files and to helpers.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The keys that matter. The others are about containers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Config {
    #[serde(default)]
    auths: BTreeMap<String, Auth>,
    #[serde(default)]
    cred_helpers: BTreeMap<String, String>,
    #[serde(default)]
    creds_store: String,
}

#[derive(Deserialize)]
struct Auth {
    #[serde(default)]
    auth: String,
    #[serde(default)]
    username: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    identitytoken: String,
}

/// What a file says of a registry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    Credential(Credential),
    /// Ask `docker-credential-NAME` about `server`.
    Helper {
        name: String,
        server: String,
    },
}

impl Config {
    /// Says where the file is broken, and nothing of what is in it: the parser's words may quote a password.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|error| {
            let what = if error.is_data() { "has a value of the wrong type" } else { "is not JSON" };
            format!("{what} at line {}, column {}", error.line(), error.column())
        })
    }

    /// A helper for the registry, then an entry of its own, then the helper for all, as docker has it.
    pub(super) fn find(self, reference: &Reference) -> Result<Found, String> {
        let helpers = self.cred_helpers.iter().filter(|(_, name)| !name.is_empty());
        if let Some((server, name)) = nearest(helpers, reference) {
            return Ok(Found::Helper { name: name.clone(), server: server.clone() });
        }
        let filled = self.auths.iter().filter(|(_, auth)| auth.says_something());
        if let Some((key, auth)) = nearest(filled, reference) {
            return auth.credential().map(Found::Credential).map_err(|why| format!("the entry for '{key}' {why}"));
        }
        if self.creds_store.is_empty() {
            return Ok(Found::Nothing);
        }
        let is_hub = names(reference.registry()) == names(DOCKER_HUB);
        let server = if is_hub { DOCKER_HUB } else { reference.registry() };
        Ok(Found::Helper { name: self.creds_store, server: server.to_owned() })
    }
}

impl Auth {
    /// Docker leaves empty entries where a helper has the secret.
    fn says_something(&self) -> bool {
        [&self.auth, &self.username, &self.password, &self.identitytoken].iter().any(|text| !text.is_empty())
    }

    fn credential(&self) -> Result<Credential, &'static str> {
        if !self.identitytoken.is_empty() {
            return Ok(Credential::Identity(Secret::new(&self.identitytoken)));
        }
        if self.auth.is_empty() {
            return Ok(Credential::Password { user: self.username.clone(), password: Secret::new(&self.password) });
        }
        let decoded = BASE64.decode(&self.auth).map_err(|_| "has an 'auth' that is not Base64")?;
        let text = String::from_utf8(decoded).map_err(|_| "has an 'auth' that is not UTF-8")?;
        let (user, password) = text.split_once(':').ok_or("has an 'auth' without a colon between name and password")?;
        Ok(Credential::Password { user: user.to_owned(), password: Secret::new(password.trim_end_matches('\0')) })
    }
}

/// The entry with the longest key that the reference lies under.
fn nearest<'a, T>(
    entries: impl Iterator<Item = (&'a String, &'a T)>,
    reference: &Reference,
) -> Option<(&'a String, &'a T)> {
    let whole = format!("{}/{}", names(reference.registry()), reference.repository());
    let covers = |key: &str| whole == key || whole.strip_prefix(key).is_some_and(|rest| rest.starts_with('/'));
    entries.filter(|(key, _)| covers(&names(key))).max_by_key(|(key, _)| names(key).len())
}

/// A key without its scheme and API path, in lower case, with one name for Docker Hub.
fn names(key: &str) -> String {
    let key = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://")).unwrap_or(key);
    let key = key.trim_end_matches('/');
    let key = key.strip_suffix("/v1").or_else(|| key.strip_suffix("/v2")).unwrap_or(key).to_ascii_lowercase();
    let (host, path) = key.split_once('/').map_or((key.as_str(), ""), |(host, path)| (host, path));
    let host = if matches!(host, "docker.io" | "registry-1.docker.io") { "index.docker.io" } else { host };
    if path.is_empty() { host.to_owned() } else { format!("{host}/{path}") }
}
