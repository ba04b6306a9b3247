//! What a pipeline's state belongs to: the keys of its source and its sink that say what is read and where it goes.
//!
//! A bookmark means something only for the rows it was counted in and the destination they went to. With another path or
//! another table under the same name, a run would go on from a place that was never reached there, and what is before it
//! would be missing without a word.
//!
//! A configuration's JSON Schema marks such keys with `x-identity`. Of their values digests are kept, no values.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

use super::escape::hex;
use super::{Marker, StateKey};
use crate::error::{Blame, Code, Error, Result, Retry};
use crate::ports::{Expect, StateStore};

/// The configuration names another source or destination than the state is about.
pub static NOT_THIS_PIPELINE: Code = Code {
    id: "state.not_this_pipeline",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the stored bookmark belongs to another source or destination",
    help: "The pipeline has a stored bookmark, and since then a key changed that says which rows it reads or where they go. \
           Rows before the bookmark would be missing in the new place. Change the key back; or give the pipeline another \
           `name`, under which it starts from the beginning. A mirror is made anew by `faucet mirror drop CONFIG`, then \
           `faucet mirror --replace CONFIG`.",
};

/// Digests of the identifying keys, by their paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Belongs(BTreeMap<String, String>);

impl Belongs {
    /// Adds a stage: its type, and those keys of its configuration that `schema` marks.
    #[must_use]
    pub fn with(mut self, path: &str, kind: &str, schema: &Value, config: &Value) -> Self {
        self.0.insert(format!("{path}.type"), digest(&Value::from(kind)));
        let marked = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (key, _) in marked.filter(|(_, about)| about.get("x-identity") == Some(&Value::Bool(true))) {
            let value = config.get(key).unwrap_or(&Value::Null);
            self.0.insert(format!("{path}.config.{key}"), digest(value));
        }
        self
    }

    /// Compares with what is stored for the pipeline called `name`, and stores it where nothing is. `begun` says that there
    /// is a bookmark.
    ///
    /// # Errors
    /// `state.not_this_pipeline`, and those of the store.
    pub async fn check(&self, store: &dyn StateStore, name: &str, begun: bool) -> Result<()> {
        let key = StateKey::pipeline_marker(name, Marker::Identity);
        let stored = store.get(key.as_str()).await?;
        let known = stored.as_ref().and_then(|stored| stored.value.as_object()).cloned().unwrap_or_default();
        if begun && let Some(path) = self.changed_since(&known) {
            let what = format!("`{path}` is another than when the stored bookmark of '{name}' was made");
            return Err(Error::new(&NOT_THIS_PIPELINE, what).hint(
                "change it back, or give the pipeline another `name`, under which it starts from the beginning",
            ));
        }
        let now: Map<String, Value> =
            self.0.iter().map(|(path, digest)| (path.clone(), digest.as_str().into())).collect();
        if now == known {
            return Ok(());
        }
        let expect = stored.map_or(Expect::Absent, |stored| Expect::Version(stored.version));
        store.put(key.as_str(), &Value::Object(now), expect).await.map(drop)
    }

    /// The first key that had another value. One that nothing is known of is no other.
    fn changed_since(&self, known: &Map<String, Value>) -> Option<&str> {
        let differs = |(path, digest): &(&String, &String)| known.get(*path).is_some_and(|before| before != *digest);
        self.0.iter().find(differs).map(|(path, _)| path.as_str())
    }
}

/// The first 64 bits of a SHA-256: enough to tell another value, too little to tell which. An address counts without user,
/// password and query, which may change and mean the same place.
fn digest(value: &Value) -> String {
    let text = match value.as_str().map(url::Url::parse) {
        Some(Ok(mut url)) if url.has_host() => {
            url.set_query(None);
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.to_string()
        }
        _ => value.to_string(),
    };
    hex(&Sha256::digest(text.as_bytes())[..8])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::state::MemoryStore;
    use serde_json::json;

    fn belongs(path: &str, batch: u32) -> Belongs {
        let schema = json!({"properties": {"path": {"x-identity": true}, "batch": {}}});
        Belongs::default().with("pipeline.sink", "jsonl", &schema, &json!({"path": path, "batch": batch}))
    }

    #[tokio::test]
    async fn another_destination_is_refused_once_there_is_a_bookmark() {
        let store = MemoryStore::default();
        belongs("a", 1).check(&store, "p", false).await.unwrap();
        belongs("b", 1).check(&store, "p", false).await.unwrap();
        belongs("b", 2).check(&store, "p", true).await.unwrap();
        let error = belongs("a", 1).check(&store, "p", true).await.unwrap_err();
        assert_eq!(error.code().id, "state.not_this_pipeline");
        assert!(error.to_string().contains("`pipeline.sink.config.path`"), "{error}");
        belongs("b", 1).check(&store, "p", true).await.unwrap();
        let stored = store.get("p::__identity__").await.unwrap().unwrap();
        assert!(!stored.value.to_string().contains("\"b\""), "no value is kept: {}", stored.value);
    }

    #[test]
    fn credentials_and_queries_of_an_address_may_change() {
        let url = |text: &str| digest(&Value::from(text));
        assert_eq!(url("https://u:p@h/orders?key=1"), url("https://h/orders?key=2"));
        assert_ne!(url("https://h/orders"), url("https://h/customers"));
    }
}
