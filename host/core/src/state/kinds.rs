//! The state stores by their `type`.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sealed::{Encryption, Sealer};
use super::{FileStore, MemoryStore, UNKNOWN_STORE};
use crate::error::{Error, Problem, Result, UNCHECKED_CONFIG};
use crate::ports::{AnyStore, StateStore};

/// `type: memory` has no keys.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryConfig {}

/// The `config` of `type: file`.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileConfig {
    /// The folder that holds one file for each key. It is made if it isn't there.
    #[schemars(length(min = 1))]
    pub path: String,
    /// Encrypts the files.
    pub encryption: Option<Encryption>,
}

/// The stores that need no server, in the order that lists show.
pub fn stores() -> Vec<Arc<dyn AnyStore>> {
    vec![Arc::new(FileKind), Arc::new(MemoryKind)]
}

/// Opens the store `kind` of [`stores`] with its `config`, which was checked.
///
/// # Errors
/// `state.unknown_store`, or what opening it fails with.
pub async fn open(kind: &str, config: &Value) -> Result<Arc<dyn StateStore>> {
    let stores = stores();
    let Some(store) = stores.iter().find(|store| store.name() == kind) else {
        let known: Vec<&str> = stores.iter().map(|store| store.name()).collect();
        return Err(Error::new(&UNKNOWN_STORE, format!("there is no state store of type '{kind}'"))
            .hint(format!("known are: {}", known.join(", "))));
    };
    store.open(config).await
}

struct MemoryKind;

#[async_trait]
impl AnyStore for MemoryKind {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn summary(&self) -> &'static str {
        "Forgets when the process ends; for tests and one-shot runs"
    }

    fn schema(&self) -> Value {
        schema_for!(MemoryConfig).to_value()
    }

    fn durable(&self) -> bool {
        false
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        MemoryConfig::deserialize(config).err().map(|e| Problem::error("", e.to_string())).into_iter().collect()
    }

    async fn open(&self, _: &Value) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(MemoryStore::new()))
    }
}

struct FileKind;

#[async_trait]
impl AnyStore for FileKind {
    fn name(&self) -> &'static str {
        "file"
    }

    fn summary(&self) -> &'static str {
        "One file for each key in a folder of this machine, written atomically, encrypted on request"
    }

    fn schema(&self) -> Value {
        schema_for!(FileConfig).to_value()
    }

    fn durable(&self) -> bool {
        true
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        match FileConfig::deserialize(config) {
            Ok(config) => config.encryption.map(|encryption| weak_keys(&encryption)).unwrap_or_default(),
            Err(e) => vec![Problem::error("", e.to_string())],
        }
    }

    async fn open(&self, config: &Value) -> Result<Arc<dyn StateStore>> {
        // Nothing of the config is repeated in the message: it holds keys.
        let config = FileConfig::deserialize(config)
            .map_err(|_| Error::new(&UNCHECKED_CONFIG, "the config of the state store was not checked"))?;
        let sealer = config.encryption.as_ref().map(Sealer::new);
        Ok(Arc::new(FileStore::open(config.path, sealer).await?))
    }
}

/// The shortest key text that can hold 128 random bits.
const SHORTEST_KEY: usize = 16;

fn weak_keys(encryption: &Encryption) -> Vec<Problem> {
    let mut problems = Vec::new();
    if encryption.key.chars().count() < SHORTEST_KEY {
        let message = format!("the key is shorter than {SHORTEST_KEY} characters");
        let hint = "it is not stretched like a password: use random text, such as `openssl rand -base64 32` prints";
        problems.push(Problem::warning("encryption.key", message).hint(hint));
    }
    if encryption.previous_keys.contains(&encryption.key) {
        problems
            .push(Problem::warning("encryption.previous_keys", "holds the current key too").hint("remove it there"));
    }
    problems
}
