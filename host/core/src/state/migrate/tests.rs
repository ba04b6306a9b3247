use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use metrics::{Counter, CounterFn, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use serde_json::{Value, json};

use super::super::MemoryStore;
use super::*;
use crate::ports::{Version, Versioned};

/// A memory store that says it is durable, and lets somebody else write just before a put.
#[derive(Default)]
struct Lasting {
    inner: MemoryStore,
    intruder: Mutex<Option<Value>>,
}

#[async_trait]
impl StateStore for Lasting {
    async fn get(&self, key: &str) -> Result<Option<Versioned>> {
        self.inner.get(key).await
    }

    async fn put(&self, key: &str, value: &Value, expect: Expect) -> Result<Version> {
        let intruder = self.intruder.lock().unwrap().take();
        if let Some(value) = intruder {
            self.inner.put(key, &value, Expect::Any).await?;
        }
        self.inner.put(key, value, expect).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        self.inner.list(prefix).await
    }

    async fn delete(&self, key: &str) -> Result<()> {
        self.inner.delete(key).await
    }

    fn durable(&self) -> bool {
        true
    }
}

/// Counts increments of the migration counter by outcome.
#[derive(Default)]
struct Counts {
    moved: Arc<Count>,
    raced: Arc<Count>,
}

#[derive(Default)]
struct Count(AtomicU64);

impl CounterFn for Count {
    fn increment(&self, value: u64) {
        self.0.fetch_add(value, Ordering::Relaxed);
    }

    fn absolute(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

impl Recorder for Counts {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        assert_eq!(key.name(), "faucet_state_key_migrations_total");
        let label = key.labels().next().unwrap();
        match (label.key(), label.value()) {
            ("outcome", "moved") => Counter::from_arc(Arc::clone(&self.moved)),
            ("outcome", "raced") => Counter::from_arc(Arc::clone(&self.raced)),
            other => panic!("unknown label {other:?}"),
        }
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// Runs a migration of the parent 42 and returns its outcome with the counts of moves and races.
fn run(store: &Lasting) -> (Migration, u64, u64) {
    let counts = Counts::default();
    let key = StateKey::row("n", "r").child(&json!(42)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let outcome = metrics::with_local_recorder(&counts, || runtime.block_on(migrate(store, &key)).unwrap());
    (outcome, counts.moved.0.load(Ordering::Relaxed), counts.raced.0.load(Ordering::Relaxed))
}

fn put(store: &Lasting, key: &str, value: Value) {
    futures_block(store.inner.put(key, &value, Expect::Any)).unwrap();
}

fn get(store: &Lasting, key: &str) -> Option<Value> {
    futures_block(store.get(key)).unwrap().map(|stored| stored.value)
}

fn futures_block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

#[test]
fn a_value_under_an_earlier_key_moves_once() {
    let store = Lasting::default();
    put(&store, "n::r::42", json!("old"));
    assert_eq!(run(&store), (Migration::Moved("n::r::42".to_owned()), 1, 0));
    assert_eq!(get(&store, "n::r::_n.42"), Some(json!("old")));
    assert_eq!(get(&store, "n::r::42"), None);
    assert_eq!(run(&store), (Migration::Nothing, 0, 0));
}

#[test]
fn a_current_value_is_left_alone() {
    let store = Lasting::default();
    put(&store, "n::r::42", json!("old"));
    put(&store, "n::r::_n.42", json!("new"));
    assert_eq!(run(&store), (Migration::Nothing, 0, 0));
    assert_eq!(get(&store, "n::r::_n.42"), Some(json!("new")));
}

#[test]
fn a_concurrent_writer_wins() {
    let store = Lasting { intruder: Mutex::new(Some(json!("fresh"))), ..Lasting::default() };
    put(&store, "n::r::42", json!("old"));
    assert_eq!(run(&store), (Migration::Raced, 0, 1));
    assert_eq!(get(&store, "n::r::_n.42"), Some(json!("fresh")));
    assert_eq!(get(&store, "n::r::42"), Some(json!("old")), "nothing was claimed, so nothing is removed");
}

#[test]
fn a_store_that_forgets_is_not_searched() {
    let store = MemoryStore::new();
    let key = StateKey::row("n", "r").child(&json!(42)).unwrap();
    futures_block(store.put("n::r::42", &json!("old"), Expect::Any)).unwrap();
    assert_eq!(futures_block(migrate(&store, &key)).unwrap(), Migration::Nothing);
}
