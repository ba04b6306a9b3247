//! [`MemoryStore`]: state that ends with the process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::Value;

use super::conflict;
use crate::error::Result;
use crate::ports::{Expect, StateStore, Version, Versioned};

/// A store for tests and for runs that need no memory of the last one.
#[derive(Debug, Default)]
pub struct MemoryStore {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    values: BTreeMap<String, Versioned>,
    /// Never repeats, so that a value removed and put again has another version.
    writes: u64,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere can't leave a value half written: each change is one insert or remove.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether `expect` holds for what is stored.
pub(super) fn holds(expect: &Expect, stored: Option<&Version>) -> bool {
    match (expect, stored) {
        (Expect::Any, _) | (Expect::Absent, None) => true,
        (Expect::Absent, Some(_)) | (Expect::Version(_), None) => false,
        (Expect::Version(expected), Some(stored)) => expected == stored,
    }
}

#[async_trait]
impl StateStore for MemoryStore {
    async fn get(&self, key: &str) -> Result<Option<Versioned>> {
        Ok(self.lock().values.get(key).cloned())
    }

    async fn put(&self, key: &str, value: &Value, expect: Expect) -> Result<Version> {
        let mut inner = self.lock();
        if !holds(&expect, inner.values.get(key).map(|stored| &stored.version)) {
            return Err(conflict(key));
        }
        inner.writes += 1;
        let version = Version(inner.writes.to_string());
        inner.values.insert(key.to_owned(), Versioned { value: value.clone(), version: version.clone() });
        Ok(version)
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let inner = self.lock();
        let from = inner.values.range(prefix.to_owned()..);
        Ok(from.take_while(|(key, _)| key.starts_with(prefix)).map(|(key, _)| key.clone()).collect())
    }

    async fn delete(&self, key: &str) -> Result<()> {
        self.lock().values.remove(key);
        Ok(())
    }

    fn durable(&self) -> bool {
        false
    }
}
