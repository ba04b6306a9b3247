//! The durable marker that tells a later run where a mirror stands.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Blame, Code, Error, Result, Retry};
use crate::ports::Bookmark;

/// The value under the marker's key is not a marker.
pub static NOT_A_MARKER: Code = Code {
    id: "mirror.not_a_marker",
    blame: Blame::State,
    retry: Retry::Operator,
    title: "the state store holds something else where the mirror's marker should be",
    help: "The marker says whether the snapshot is done. The value found there was not written by faucet, or by a newer \
           version of it, so faucet won't guess. Restore the state, or remove the mirror's keys (`NAME::__replication__` \
           and `NAME::cdc`) to snapshot again from the beginning.",
};

/// A marker without the bookmark that belongs to it.
pub static BOOKMARK_MISSING: Code = Code {
    id: "mirror.bookmark_missing",
    blame: Blame::State,
    retry: Retry::Operator,
    title: "the mirror's marker is there but its bookmark is gone",
    help: "The state store has the mirror's marker but not the position to stream from, so part of the state was \
           removed. Streaming from anywhere else could leave a gap. Restore the state, or remove the marker \
           (`NAME::__replication__`) too to snapshot again.",
};

/// Which phase comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The snapshot has to be read, from its beginning.
    Snapshot,
    /// The snapshot is done; changes are streamed.
    Cdc,
}

/// The marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marker {
    /// Which phase comes next.
    pub stage: Stage,
    /// The position captured before the snapshot; kept when a snapshot is redone, and for the record afterwards.
    pub position: Bookmark,
}

impl Marker {
    /// The table joined at `position`; its snapshot comes next.
    pub fn joined(position: &Bookmark) -> Self {
        Self { stage: Stage::Snapshot, position: position.clone() }
    }

    /// The snapshot is done.
    pub fn following(position: &Bookmark) -> Self {
        Self { stage: Stage::Cdc, position: position.clone() }
    }

    /// Reads the value stored under `key`.
    pub fn parse(key: &str, value: &Value) -> Result<Self> {
        Self::deserialize(value)
            .map_err(|_| Error::new(&NOT_A_MARKER, format!("the value under the state key \"{key}\" is not a marker")))
    }

    /// The value to store.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("a bookmark is JSON already")
    }
}
