//! What every state store has to do, as checks that any store's tests can run.
//!
//! [`conforms`] runs them all over a store that can be opened several times. [`follows_model`] runs a list of operations
//! against a store and a map, for property tests. Both panic with what went wrong.
#![allow(clippy::unwrap_used)] // This is test code that other crates use.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::CONFLICT;
use crate::ports::{Expect, StateStore, Version};

/// Runs every check. `open` opens the same store anew each time, except that a store which isn't durable may give the
/// same one; the store is empty at first.
pub async fn conforms<F, Fut>(open: F)
where
    F: Fn() -> Fut,
    Fut: Future<Output = Arc<dyn StateStore>>,
{
    let store = open().await;
    expectations(store.as_ref()).await;
    values_come_back_whole(store.as_ref()).await;
    lists(store.as_ref()).await;
    versions_do_not_come_back(store.as_ref()).await;
    if store.durable() {
        outlives(&open).await;
    }
    one_winner(&open).await;
}

async fn expectations(store: &dyn StateStore) {
    assert_eq!(store.get("e").await.unwrap(), None);
    let first = store.put("e", &json!(1), Expect::Absent).await.unwrap();
    refused(store, "e", Expect::Absent).await;
    let stored = store.get("e").await.unwrap().unwrap();
    assert_eq!((stored.value, &stored.version), (json!(1), &first));
    let second = store.put("e", &json!(2), Expect::Version(first.clone())).await.unwrap();
    assert_ne!(first, second);
    refused(store, "e", Expect::Version(first.clone())).await;
    assert_eq!(store.get("e").await.unwrap().unwrap().value, json!(2), "a refused put changes nothing");
    store.put("e", &json!(3), Expect::Any).await.unwrap();
    refused(store, "e", Expect::Version(second.clone())).await;
    store.delete("e").await.unwrap();
    assert_eq!(store.get("e").await.unwrap(), None);
    refused(store, "e", Expect::Version(second)).await;
    assert_eq!(store.get("e").await.unwrap(), None, "a refused put makes nothing");
    store.delete("e").await.unwrap();
    store.put("e", &json!(4), Expect::Any).await.unwrap();
    store.delete("e").await.unwrap();
}

async fn refused(store: &dyn StateStore, key: &str, expect: Expect) {
    let error = store.put(key, &json!("refused"), expect.clone()).await.unwrap_err();
    assert_eq!(error.code(), &CONFLICT, "{expect:?}: {error:?}");
}

async fn values_come_back_whole(store: &dyn StateStore) {
    let long = "x".repeat(100_000);
    let values = [
        json!(null),
        json!({"lsn": "16/B374D848", "nested": [1, -2.5, true, null, {"": ""}]}),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(0.1),
        json!("é\u{0}\n\"\\"),
        json!(long),
        json!({"b": 1, "a": 2}),
    ];
    let keys = ["plain", "a::b", "postgres-cdc:slot", "é/../ ", "UPPER", "upper", ".hidden", "%41", "~"];
    for key in keys {
        for value in &values {
            store.put(key, value, Expect::Any).await.unwrap();
            assert_eq!(&store.get(key).await.unwrap().unwrap().value, value, "{key}");
        }
    }
    for key in keys {
        store.delete(key).await.unwrap();
    }
}

async fn lists(store: &dyn StateStore) {
    let long = format!("list::{}", "long".repeat(100));
    let keys = ["list::b", "list::a", "list", "list:", "other", "list::%", long.as_str()];
    for key in keys {
        store.put(key, &json!(key), Expect::Absent).await.unwrap();
    }
    assert_eq!(store.list("list::").await.unwrap(), ["list::%", "list::a", "list::b", long.as_str()]);
    assert_eq!(store.list("nothing").await.unwrap(), [""; 0]);
    assert_eq!(store.list("").await.unwrap().len(), keys.len());
    assert_eq!(store.get(&long).await.unwrap().unwrap().value, json!(long));
    for key in keys {
        store.delete(key).await.unwrap();
    }
    assert_eq!(store.list("").await.unwrap(), [""; 0]);
}

/// A lease that was given up and taken by somebody else must not be renewed by its first holder.
async fn versions_do_not_come_back(store: &dyn StateStore) {
    let before = store.put("v", &json!("same"), Expect::Absent).await.unwrap();
    store.delete("v").await.unwrap();
    let after = store.put("v", &json!("same"), Expect::Absent).await.unwrap();
    assert_ne!(before, after);
    refused(store, "v", Expect::Version(before)).await;
    store.delete("v").await.unwrap();
}

async fn outlives<F, Fut>(open: &F)
where
    F: Fn() -> Fut,
    Fut: Future<Output = Arc<dyn StateStore>>,
{
    let version = open().await.put("o", &json!({"kept": true}), Expect::Absent).await.unwrap();
    let reopened = open().await;
    let stored = reopened.get("o").await.unwrap().unwrap();
    assert_eq!((stored.value, stored.version), (json!({"kept": true}), version));
    reopened.delete("o").await.unwrap();
}

/// Many writers raise a number by compare-and-put; no raise is lost, and each claim of an absent key has one winner.
async fn one_winner<F, Fut>(open: &F)
where
    F: Fn() -> Fut,
    Fut: Future<Output = Arc<dyn StateStore>>,
{
    const WRITERS: usize = 8;
    const RAISES: u64 = 5;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let store = open().await;
        writers.spawn(async move {
            let claimed = store.put("claim", &json!(writer), Expect::Absent).await.is_ok();
            for _ in 0..RAISES {
                raise(store.as_ref()).await;
            }
            claimed
        });
    }
    let claims = writers.join_all().await;
    assert_eq!(claims.into_iter().filter(|claimed| *claimed).count(), 1, "one writer claims the key");
    let store = open().await;
    let total = store.get("count").await.unwrap().unwrap().value;
    assert_eq!(total, json!(WRITERS as u64 * RAISES), "no raise is lost");
    store.delete("claim").await.unwrap();
    store.delete("count").await.unwrap();
}

async fn raise(store: &dyn StateStore) {
    loop {
        let stored = store.get("count").await.unwrap();
        let (now, expect) = match stored {
            Some(stored) => (stored.value.as_u64().unwrap(), Expect::Version(stored.version)),
            None => (0, Expect::Absent),
        };
        match store.put("count", &json!(now + 1), expect).await {
            Ok(_) => return,
            Err(error) if error.code() == &CONFLICT => tokio::task::yield_now().await,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// One step of [`follows_model`]. Keys are few, so that steps meet.
#[derive(Debug, Clone)]
pub enum Step {
    /// A put that takes whatever is there.
    Put(String, Value),
    /// A put that takes nothing there.
    Claim(String, Value),
    /// A put that takes the version seen last.
    Replace(String, Value),
    /// A removal.
    Delete(String),
    /// A read.
    Get(String),
    /// A listing.
    List(String),
}

/// Runs `steps` against an empty store and against a map, and compares every answer. The store is empty again after.
pub async fn follows_model(store: &dyn StateStore, steps: Vec<Step>) {
    let mut model: BTreeMap<String, (Value, Version)> = BTreeMap::new();
    for step in steps {
        match step {
            Step::Put(key, value) => {
                let version = store.put(&key, &value, Expect::Any).await.unwrap();
                model.insert(key, (value, version));
            }
            Step::Claim(key, value) => match store.put(&key, &value, Expect::Absent).await {
                Ok(version) => assert!(model.insert(key, (value, version)).is_none()),
                Err(error) => assert!(error.code() == &CONFLICT && model.contains_key(&key)),
            },
            Step::Replace(key, value) => {
                let seen = model.get(&key).map_or_else(|| Version("none".to_owned()), |(_, version)| version.clone());
                match store.put(&key, &value, Expect::Version(seen)).await {
                    Ok(version) => assert!(model.insert(key, (value, version)).is_some()),
                    Err(error) => assert!(error.code() == &CONFLICT && !model.contains_key(&key)),
                }
            }
            Step::Delete(key) => {
                store.delete(&key).await.unwrap();
                model.remove(&key);
            }
            Step::Get(key) => {
                let stored = store.get(&key).await.unwrap().map(|stored| (stored.value, stored.version));
                assert_eq!(stored.as_ref(), model.get(&key));
            }
            Step::List(prefix) => {
                let keys: Vec<&String> = model.keys().filter(|key| key.starts_with(&prefix)).collect();
                assert_eq!(store.list(&prefix).await.unwrap().iter().collect::<Vec<_>>(), keys);
            }
        }
    }
    for key in model.keys() {
        store.delete(key).await.unwrap();
    }
}
