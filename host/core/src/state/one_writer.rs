//! [`OneWriter`]: a store as one run sees it, which notices when somebody else writes the run's keys.
//!
//! A run takes its keys over once, at its start. From then on every value it reads or replaces has to be the one it
//! left there. A process that was stopped for a while, and started a second time meanwhile, so learns at its next look
//! that it has lost its place, and writes nothing over what its successor wrote.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::Value;

use super::{CONFLICT, StateKey, conflict};
use crate::error::Result;
use crate::ports::{Expect, StateStore, Version, Versioned};

/// A store that one run has for itself. [`Expect::Any`] means what this run left there.
pub struct OneWriter {
    store: Arc<dyn StateStore>,
    known: Mutex<BTreeMap<String, Known>>,
}

/// What this run knows of a key.
#[derive(Debug, Clone, Default)]
struct Known {
    /// The version that was read or written last; `None` when there was no value.
    version: Option<Version>,
    /// What was put without an answer: it may be there or not.
    doubtful: Option<Value>,
}

impl OneWriter {
    /// Over `store`; knows of no key yet.
    pub fn new(store: Arc<dyn StateStore>) -> Self {
        Self { store, known: Mutex::default() }
    }

    /// Gives the values under `keys` new versions, so that a run that still knows the old ones can't replace them, and
    /// remembers where nothing is.
    ///
    /// # Errors
    /// Failures of the store.
    pub async fn take_over(&self, keys: &[StateKey]) -> Result<()> {
        for key in keys {
            while !self.took(key.as_str()).await? {}
        }
        Ok(())
    }

    /// One try; it fails when the value was replaced in the moment between.
    async fn took(&self, key: &str) -> Result<bool> {
        let Some(Versioned { value, version }) = self.store.get(key).await? else {
            self.learn(key, None);
            return Ok(true);
        };
        match self.store.put(key, &value, Expect::Version(version)).await {
            Ok(version) => {
                self.learn(key, Some(version));
                Ok(true)
            }
            Err(error) if error.code() == &CONFLICT => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        // Each change is one insert.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, key: &str) -> Option<Known> {
        self.lock().get(key).cloned()
    }

    fn learn(&self, key: &str, version: Option<Version>) {
        self.lock().insert(key.to_owned(), Known { version, doubtful: None });
    }

    /// Checks that what is stored is what this run left, or a put of its own whose answer was lost.
    fn recognise(&self, key: &str, stored: Option<&Versioned>) -> Result<()> {
        let version = stored.map(|stored| stored.version.clone());
        let is_own = self.known(key).is_none_or(|known| {
            known.version == version || stored.is_some_and(|stored| known.doubtful.as_ref() == Some(&stored.value))
        });
        if !is_own {
            return Err(conflict(key));
        }
        self.learn(key, version);
        Ok(())
    }

    /// The expectation that stands for what this run left. What it has not seen, or is in doubt about, is read first.
    async fn as_left(&self, key: &str) -> Result<Expect> {
        let known = match self.known(key) {
            Some(known) if known.doubtful.is_none() => known,
            _ => {
                self.recognise(key, self.store.get(key).await?.as_ref())?;
                self.known(key).unwrap_or_default()
            }
        };
        Ok(known.version.map_or(Expect::Absent, Expect::Version))
    }
}

#[async_trait]
impl StateStore for OneWriter {
    async fn get(&self, key: &str) -> Result<Option<Versioned>> {
        let stored = self.store.get(key).await?;
        self.recognise(key, stored.as_ref())?;
        Ok(stored)
    }

    async fn put(&self, key: &str, value: &Value, expect: Expect) -> Result<Version> {
        let expect = match expect {
            Expect::Any => self.as_left(key).await?,
            Expect::Absent | Expect::Version(_) => expect,
        };
        let put = self.store.put(key, value, expect).await;
        match &put {
            Ok(version) => self.learn(key, Some(version.clone())),
            Err(error) if error.code() == &CONFLICT => {}
            Err(_) => {
                if let Some(known) = self.lock().get_mut(key) {
                    known.doubtful = Some(value.clone());
                }
            }
        }
        put
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        self.store.list(prefix).await
    }

    async fn delete(&self, key: &str) -> Result<()> {
        self.store.delete(key).await?;
        self.learn(key, None);
        Ok(())
    }

    fn durable(&self) -> bool {
        self.store.durable()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;
    use crate::error::Error;
    use crate::state::{MemoryStore, UNAVAILABLE};

    fn key() -> StateKey {
        StateKey::cdc("m")
    }

    async fn run_on(store: &Arc<MemoryStore>) -> OneWriter {
        let run = OneWriter::new(store.clone());
        run.take_over(&[key()]).await.unwrap();
        run
    }

    async fn put(run: &OneWriter, value: u64) -> Result<(), &'static str> {
        run.put(key().as_str(), &json!(value), Expect::Any).await.map(drop).map_err(|e| e.code().id)
    }

    #[tokio::test]
    async fn a_run_that_was_overtaken_neither_writes_nor_goes_by_what_it_reads() {
        let store = Arc::new(MemoryStore::new());
        let first = run_on(&store).await;
        put(&first, 1).await.unwrap();
        put(&first, 2).await.unwrap();
        let second = run_on(&store).await;
        assert_eq!(put(&first, 3).await, Err("state.conflict"), "taking over is enough");
        assert_eq!(first.get(key().as_str()).await.unwrap_err().code().id, "state.conflict");
        put(&second, 4).await.unwrap();
        assert_eq!(store.get(key().as_str()).await.unwrap().unwrap().value, json!(4));
    }

    #[tokio::test]
    async fn of_two_that_found_nothing_one_begins() {
        let store = Arc::new(MemoryStore::new());
        let (first, second) = (run_on(&store).await, run_on(&store).await);
        put(&second, 1).await.unwrap();
        assert_eq!(put(&first, 2).await, Err("state.conflict"));
        store.delete(key().as_str()).await.unwrap();
        assert_eq!(put(&second, 3).await, Err("state.conflict"), "a key that was removed is somebody's doing too");
    }

    /// Loses the answers to its puts while told to.
    #[derive(Default)]
    struct Deaf {
        store: MemoryStore,
        loses: AtomicBool,
    }

    #[async_trait]
    impl StateStore for Deaf {
        async fn get(&self, key: &str) -> Result<Option<Versioned>> {
            self.store.get(key).await
        }

        async fn put(&self, key: &str, value: &Value, expect: Expect) -> Result<Version> {
            let put = self.store.put(key, value, expect).await;
            match self.loses.load(Relaxed) {
                true => Err(Error::new(&UNAVAILABLE, "no answer")),
                false => put,
            }
        }

        async fn list(&self, prefix: &str) -> Result<Vec<String>> {
            self.store.list(prefix).await
        }

        async fn delete(&self, key: &str) -> Result<()> {
            self.store.delete(key).await
        }

        fn durable(&self) -> bool {
            true
        }
    }

    #[tokio::test]
    async fn a_put_whose_answer_was_lost_is_recognised() {
        let store = Arc::new(Deaf::default());
        let run = OneWriter::new(store.clone());
        run.take_over(&[key()]).await.unwrap();
        for (lost, then) in [(1, 2), (3, 4)] {
            store.loses.store(true, Relaxed);
            assert_eq!(put(&run, lost).await, Err("state.unavailable"));
            store.loses.store(false, Relaxed);
            if lost == 3 {
                assert_eq!(run.get(key().as_str()).await.unwrap().unwrap().value, json!(3));
            }
            put(&run, then).await.unwrap();
        }
        store.loses.store(true, Relaxed);
        assert_eq!(put(&run, 5).await, Err("state.unavailable"));
        store.loses.store(false, Relaxed);
        store.put(key().as_str(), &json!(6), Expect::Any).await.unwrap();
        assert_eq!(put(&run, 7).await, Err("state.conflict"), "another's value is none of its own");
    }
}
