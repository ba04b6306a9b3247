//! State stores: where bookmarks and markers live between runs.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::error::{Problem, Result};

/// An opaque version of a stored value; equal versions mean an unchanged value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(pub String);

/// A stored value and its version.
#[derive(Debug, Clone, PartialEq)]
pub struct Versioned {
    /// The value.
    pub value: Value,
    /// Its version, for a later [`Expect::Version`].
    pub version: Version,
}

/// What a put requires of what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// Nothing is stored under the key.
    Absent,
    /// The stored value still has this version.
    Version(Version),
    /// Whatever is there.
    Any,
}

/// A key-value store with compare-and-put.
///
/// `Ok` from `put` and `delete` means durable, where [`StateStore::durable`] says the store is. A value is read back
/// whole as it was put, or not at all: a damaged value is an error, never "nothing stored".
#[async_trait]
pub trait StateStore: Send + Sync {
    /// The value under `key`.
    async fn get(&self, key: &str) -> Result<Option<Versioned>>;

    /// Stores `value` if `expect` holds, and returns its version.
    ///
    /// # Errors
    /// `state.conflict` when `expect` does not hold; nothing was changed then.
    async fn put(&self, key: &str, value: &Value, expect: Expect) -> Result<Version>;

    /// All keys that start with `prefix`, sorted.
    async fn list(&self, prefix: &str) -> Result<Vec<String>>;

    /// Removes the value under `key`, if any.
    async fn delete(&self, key: &str) -> Result<()>;

    /// Whether values outlive the process.
    fn durable(&self) -> bool;
}

/// A kind of state store whose configuration is still JSON: what the registry holds.
#[async_trait]
pub trait AnyStore: Send + Sync {
    /// The `type:` it goes by.
    fn name(&self) -> &'static str;
    /// One line for `faucet list`.
    fn summary(&self) -> &'static str;
    /// JSON Schema of the `config:` block.
    fn schema(&self) -> Value;
    /// See [`StateStore::durable`]; known before a store is opened.
    fn durable(&self) -> bool;
    /// What is wrong with a configuration that passed the check against [`AnyStore::schema`]; no I/O. Paths are
    /// relative to the block.
    fn validate(&self, config: &Value) -> Vec<Problem>;
    /// Opens the store.
    async fn open(&self, config: &Value) -> Result<Arc<dyn StateStore>>;
}
