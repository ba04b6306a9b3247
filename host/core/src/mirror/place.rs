//! What the state store holds of a mirror: its marker and its bookmark.

use std::sync::Arc;

use super::marker::{BOOKMARK_MISSING, Marker};
use super::survey::RESYNC;
use crate::error::{Error, Result};
use crate::pipeline::ack::Keeper;
use crate::pipeline::writers_key;
use crate::ports::{Bookmark, StateStore};
use crate::state::{self, OneWriter, StateKey};

/// Where a mirror's stream keeps its bookmark.
pub fn keeper(store: &Arc<dyn StateStore>, name: &str) -> Keeper {
    Keeper { store: store.clone(), key: StateKey::cdc(name) }
}

/// The key of a mirror's marker.
pub fn marker_key(name: &str) -> StateKey {
    StateKey::pipeline_marker(name, state::Marker::Replication)
}

/// The store as this run has it for itself: from now on another run of the mirror called `name` is noticed.
///
/// # Errors
/// Failures of the store.
pub async fn take_over(store: Arc<dyn StateStore>, name: &str) -> Result<Arc<dyn StateStore>> {
    let store = OneWriter::new(store);
    let stream = StateKey::cdc(name);
    store.take_over(&[marker_key(name), writers_key(&stream), stream]).await?;
    Ok(Arc::new(store))
}

/// The stored marker and bookmark of the mirror called `name`, if it ran before.
///
/// # Errors
/// `mirror.bookmark_missing`, `mirror.not_a_marker`, and failures of the store.
pub async fn stored(store: &Arc<dyn StateStore>, name: &str) -> Result<Option<(Marker, Bookmark)>> {
    let key = marker_key(name);
    let Some(stored) = store.get(key.as_str()).await? else { return Ok(None) };
    let marker = Marker::parse(key.as_str(), &stored.value)?;
    let keeper = keeper(store, name);
    let progress = keeper.load().await?.ok_or_else(|| {
        let what = format!("the state has \"{}\" but nothing under \"{}\"", key.as_str(), keeper.key.as_str());
        Error::new(&BOOKMARK_MISSING, what).hint(format!("restore the state; or to begin anew {RESYNC}"))
    })?;
    Ok(Some((marker, progress.bookmark)))
}

/// Removes all that is stored of the mirror called `name`: the next one starts with a snapshot.
///
/// # Errors
/// Failures of the store.
pub async fn forget(store: &dyn StateStore, name: &str) -> Result<()> {
    // The marker first: without it the bookmark means nothing, and a crash between the two leaves a fresh start.
    store.delete(marker_key(name).as_str()).await?;
    store.delete(StateKey::cdc(name).as_str()).await?;
    store.delete(StateKey::pipeline_marker(name, state::Marker::Identity).as_str()).await?;
    store.delete(writers_key(&StateKey::cdc(name)).as_str()).await
}
