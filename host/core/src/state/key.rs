//! [`StateKey`]: the name a bookmark or a marker is kept under.
//!
//! Every key is built from its components here and rendered one way:
//!
//! | Key | Holds |
//! |---|---|
//! | `{name}::{row_id}` | a row's bookmark |
//! | `{name}::{row_id}::{parent_key}` | a child's bookmark, one for each parent record |
//! | `{name}::{row_id}::{alias:value/...}` | one tuple of a product |
//! | `{name}::{row_id}::{shard_id}` | one shard of a sharded run |
//! | `{tenant}::{name}::{row_id}` | a tenant's bookmark |
//! | `{name}::backfill::{range_hash}::{unit}` | one unit of a backfill |
//! | `{name}::cdc`, `{name}::{table_id}` | a mirror's stream, one of its tables |
//! | `{key}::__status__` and the like | an invocation's markers |
//! | `{name}::__replication__` and the like | a pipeline's markers |
//!
//! Text made only of letters, digits and `_ - . : /`, without `::` and at most 64 characters long, stands for itself.
//! Other text becomes a readable beginning, `~`, and a hash; `~` can't occur in the first kind, so the two never meet.
//! A parent's key that isn't text is tagged by its type (`_n.42`, `_b.true`), and text that looks like a tag or a marker
//! is tagged `_s.`: no two different values share a bookmark.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::UNUSABLE_KEY;
use super::escape::hex;
use crate::error::{Error, Result};

/// The version of the rendering. Scheme 2 hashed unsafe text, 3 tagged values that aren't text, 4 tagged text that
/// looks like a marker.
pub const KEY_SCHEME_VERSION: u32 = 4;

/// The longest text that stands for itself, in characters.
const LONGEST_PLAIN: usize = 64;

/// How much of other text stays readable, in characters.
const READABLE: usize = 32;

/// How many hexadecimal digits of a hash are kept: 96 bits.
const HASH_DIGITS: usize = 24;

/// Between components.
const SEPARATOR: &str = "::";

/// A key, and what earlier schemes called it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateKey {
    current: String,
    /// The newest first.
    earlier: Vec<String>,
}

/// What is kept about an invocation or a pipeline beside its bookmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker<'a> {
    /// When it last kept its promise of freshness.
    Sla,
    /// What its data looked like.
    Profiling,
    /// How its last run went.
    Status,
    /// Which process runs it.
    Lease,
    /// Which run wrote last to its destination.
    Writer,
    /// What undoes its runs, or the run with this id.
    Rollback(Option<&'a str>),
    /// What its bookmark belongs to.
    Identity,
    /// The phase of a mirror.
    Replication,
    /// A backfill of the range with this hash.
    Backfill(&'a str),
    /// A backfill started over the API, of the range with this hash.
    ServeBackfill(&'a str),
}

impl StateKey {
    /// A row's bookmark: `{name}::{row_id}`.
    pub fn row(name: &str, row_id: &str) -> Self {
        Self::of([text(name), text(row_id)])
    }

    /// A mirror's stream: `{name}::cdc`.
    pub fn cdc(name: &str) -> Self {
        Self::of([text(name), "cdc".to_owned()])
    }

    /// One table of a mirror: `{name}::{table_id}`. A table called `cdc` is tagged, so that it isn't taken for the
    /// stream.
    pub fn table(name: &str, table_id: &str) -> Self {
        let table = if matches!(table_id, "cdc" | "backfill") { format!("_s.{table_id}") } else { text(table_id) };
        Self::of([text(name), table])
    }

    /// One unit of a backfill: `{name}::backfill::{range_hash}::{unit}`.
    pub fn backfill(name: &str, range_hash: &str, unit: &str) -> Self {
        Self::of([text(name), "backfill".to_owned(), text(range_hash), text(unit)])
    }

    /// A marker of a whole pipeline: `{name}::__replication__`.
    pub fn pipeline_marker(name: &str, marker: Marker<'_>) -> Self {
        Self::of([text(name)]).marker(marker)
    }

    /// A source connector's own key, such as `postgres-cdc:orders_slot`.
    pub fn natural(connector: &str, id: &str) -> Self {
        Self::of([format!("{}:{}", text(connector), text(id))])
    }

    /// A child's bookmark for one parent record: this key, then the parent's key.
    ///
    /// # Errors
    /// `state.unusable_key` when the parent's key is null, empty, a list or a mapping.
    pub fn child(&self, parent: &Value) -> Result<Self> {
        let (current, earlier) = parent_key(parent)?;
        let mut key = self.then(&current);
        // What an earlier scheme called the parent's key under what this scheme calls the row.
        key.earlier.splice(0..0, earlier.iter().map(|earlier| join(&self.current, earlier)));
        Ok(key)
    }

    /// One tuple of a product: this key, then `{alias:value/...}`.
    ///
    /// # Errors
    /// As [`StateKey::child`], for each value.
    pub fn product<'v>(&self, tuple: impl IntoIterator<Item = (&'v str, &'v Value)>) -> Result<Self> {
        let parts: Result<Vec<String>> = tuple
            .into_iter()
            .map(|(alias, value)| {
                let (current, _) = parent_key(value)?;
                Ok(format!("{}:{}", within_tuple(alias, alias), within_tuple(&current, &value.to_string())))
            })
            .collect();
        Ok(self.then(&parts?.join("/")))
    }

    /// One shard of a sharded run: this key, then the shard's id.
    #[must_use]
    pub fn shard(&self, shard_id: &str) -> Self {
        self.then(&text(shard_id))
    }

    /// The same key for a tenant: the tenant's id, then this key.
    #[must_use]
    pub fn in_tenant(&self, tenant: &str) -> Self {
        let tenant = text(tenant);
        let earlier = self.earlier.iter().map(|earlier| join(&tenant, earlier)).collect();
        Self { current: join(&tenant, &self.current), earlier }
    }

    /// A marker of what this key names.
    #[must_use]
    pub fn marker(&self, marker: Marker<'_>) -> Self {
        match marker {
            Marker::Sla => self.then("__sla__"),
            Marker::Profiling => self.then("__profiling__"),
            Marker::Status => self.then("__status__"),
            Marker::Lease => self.then("__lease__"),
            Marker::Writer => self.then("__writer__"),
            Marker::Rollback(None) => self.then("__rollback__"),
            Marker::Rollback(Some(run)) => self.then("__rollback__").then(&text(run)),
            Marker::Identity => self.then("__identity__"),
            Marker::Replication => self.then("__replication__"),
            Marker::Backfill(hash) => self.then("__backfill__").then(&text(hash)),
            Marker::ServeBackfill(hash) => self.then("__serve_backfill__").then(&text(hash)),
        }
    }

    /// The key, with `older` as further names to look under when nothing is stored under this one. For rows that were
    /// renamed: the keys of their `legacy_state_ids`.
    #[must_use]
    pub fn with_older(mut self, older: impl IntoIterator<Item = StateKey>) -> Self {
        for key in older {
            self.earlier.push(key.current);
            self.earlier.extend(key.earlier);
        }
        self.earlier.retain(|earlier| *earlier != self.current);
        self
    }

    /// The key as stores take it.
    pub fn as_str(&self) -> &str {
        &self.current
    }

    /// What earlier schemes called it, the newest first.
    pub fn earlier(&self) -> &[String] {
        &self.earlier
    }

    fn of<const N: usize>(components: [String; N]) -> Self {
        Self { current: components.join(SEPARATOR), earlier: Vec::new() }
    }

    fn then(&self, component: &str) -> Self {
        let earlier = self.earlier.iter().map(|earlier| join(earlier, component)).collect();
        Self { current: join(&self.current, component), earlier }
    }
}

impl std::fmt::Display for StateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.current)
    }
}

fn join(first: &str, second: &str) -> String {
    format!("{first}{SEPARATOR}{second}")
}

/// Text as a component.
fn text(text: &str) -> String {
    // A colon at either end would run into the separator.
    if is_plain(text) && !text.starts_with(':') && !text.ends_with(':') { text.to_owned() } else { hashed(text) }
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_PLAIN && text.bytes().all(is_key_character) && !text.contains(SEPARATOR)
}

fn is_key_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte)
}

/// A readable beginning of `text`, and a hash of all of it.
fn hashed(text: &str) -> String {
    let readable: String = text
        .chars()
        .take(READABLE)
        .map(|c| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' })
        .collect();
    let hash = hex(&Sha256::digest(text.as_bytes()));
    format!("{readable}~{}", &hash[..HASH_DIGITS])
}

/// A component of a tuple: without the characters that hold tuples together.
fn within_tuple(rendered: &str, original: &str) -> String {
    if rendered.contains([':', '/']) || rendered.is_empty() { hashed(original) } else { rendered.to_owned() }
}

/// A parent's key as a component, and what earlier schemes made of it.
fn parent_key(parent: &Value) -> Result<(String, Vec<String>)> {
    match parent {
        Value::Number(number) => Ok((format!("_n.{number}"), vec![number.to_string()])),
        Value::Bool(flag) => Ok((format!("_b.{flag}"), vec![flag.to_string()])),
        Value::String(key) if key.is_empty() => Err(unusable("empty")),
        // Its earlier key was the marker itself, which must not be moved away.
        Value::String(key) if is_marker(key) => Ok((format!("_s.{key}"), Vec::new())),
        Value::String(key) if is_tagged(key) => Ok((text(&format!("_s.{key}")), vec![key.clone()])),
        Value::String(key) => {
            let current = text(key);
            let earlier = if current == *key { Vec::new() } else { vec![key.clone()] };
            Ok((current, earlier))
        }
        Value::Null => Err(unusable("null")),
        Value::Array(_) => Err(unusable("a list")),
        Value::Object(_) => Err(unusable("a mapping")),
    }
}

/// Whether text looks like a marker: `__lease__`.
fn is_marker(key: &str) -> bool {
    let inner = key.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"));
    inner.is_some_and(|inner| !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
}

/// Whether text starts like a tag: `_n.`.
fn is_tagged(key: &str) -> bool {
    matches!(key.as_bytes(), [b'_', letter, b'.', ..] if letter.is_ascii_lowercase())
}

fn unusable(what: &str) -> Error {
    Error::new(&UNUSABLE_KEY, format!("a parent record's key is {what}"))
        .hint("choose a key field that every parent record has, or filter such records out")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
