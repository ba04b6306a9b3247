//! Moving state from where an earlier release kept it.
//!
//! When a key holds nothing, its earlier names are looked under, and the first value found moves to the current name.
//! The claim is a compare-and-put on "nothing there", so a bookmark that another run has written meanwhile is never
//! overwritten; the earlier key is removed only after that. A crash in between leaves the value under both names, and
//! the current one is used from then on.

use super::{CONFLICT, StateKey};
use crate::error::Result;
use crate::ports::{Expect, StateStore};

/// Counts moves by `outcome`: `moved`, or `raced` when somebody else wrote first.
pub const MIGRATIONS_TOTAL: &str = "faucet_state_key_migrations_total";

/// What a migration did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Migration {
    /// The key has a value of its own, or no earlier name has one, or the store forgets anyway.
    Nothing,
    /// The value moved from this key.
    Moved(String),
    /// Somebody else wrote the key first; their value stays.
    Raced,
}

/// Moves the value of `key` from an earlier name to the current one, if there is reason to.
///
/// # Errors
/// Whatever the store fails with.
pub async fn migrate(store: &dyn StateStore, key: &StateKey) -> Result<Migration> {
    if !store.durable() || key.earlier().is_empty() || store.get(key.as_str()).await?.is_some() {
        return Ok(Migration::Nothing);
    }
    for earlier in key.earlier() {
        let Some(stored) = store.get(earlier).await? else { continue };
        match store.put(key.as_str(), &stored.value, Expect::Absent).await {
            Ok(_) => {
                store.delete(earlier).await?;
                count("moved");
                tracing::info!(from = %earlier, to = %key, "moved state to its current key");
                return Ok(Migration::Moved(earlier.clone()));
            }
            Err(error) if error.code() == &CONFLICT => {
                count("raced");
                tracing::info!(from = %earlier, to = %key, "state was not moved: another run wrote the current key first");
                return Ok(Migration::Raced);
            }
            Err(error) => return Err(error.context(format!("moving state from '{earlier}' to '{key}'"))),
        }
    }
    Ok(Migration::Nothing)
}

fn count(outcome: &'static str) {
    metrics::counter!(MIGRATIONS_TOTAL, "outcome" => outcome).increment(1);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
