//! The durable marker that tells a later run where a mirror stands.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use super::partitions::RESYNC;
use crate::error::{Blame, Code, Error, Result, Retry};
use crate::ports::{Bookmark, Earlier, PartitionSet};

/// The value under the marker's key is not a marker.
pub static NOT_A_MARKER: Code = Code {
    id: "mirror.not_a_marker",
    blame: Blame::State,
    retry: Retry::Operator,
    title: "the state store holds something else where the mirror's marker should be",
    help: "The marker says whether the snapshot is done. The value found there was not written by faucet, or by a newer \
           version of it, so faucet won't guess. Restore the state, or begin anew: `faucet mirror drop CONFIG`, then \
           `faucet mirror --replace CONFIG`.",
};

/// A marker without the bookmark that belongs to it.
pub static BOOKMARK_MISSING: Code = Code {
    id: "mirror.bookmark_missing",
    blame: Blame::State,
    retry: Retry::Operator,
    title: "the mirror's marker is there but its bookmark is gone",
    help: "The state store has the mirror's marker but not the position to stream from, so part of the state was \
           removed. Streaming from anywhere else could leave a gap. Restore the state, or begin anew: `faucet \
           mirror drop CONFIG`, then `faucet mirror --replace CONFIG`.",
};

/// Which phase comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The snapshot has to be read, but for the parts that are done.
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
    /// How far a snapshot that is read in parts is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Box<PartsDone>>,
    /// The partitions that were there when the source was last looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions: Option<PartitionSet>,
    /// Why the destination can't be equal to the source any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resync_required: Vec<String>,
}

/// Which parts of a snapshot need not be read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartsDone {
    /// The source's plan of the parts.
    pub plan: Value,
    /// What the rows go through and to, as [`super::Snapshot::destination`] says.
    #[serde(default)]
    pub destination: String,
    /// How many parts there are.
    pub total: u32,
    /// Those that are durable in the destination, each with the stamp of the run that read it.
    pub finished: BTreeMap<u32, Value>,
}

impl PartsDone {
    /// What a later run has to know.
    pub fn earlier(&self) -> Earlier {
        Earlier { plan: self.plan.clone(), finished: self.finished.clone() }
    }
}

impl Marker {
    /// The table joined at `position`; its snapshot comes next.
    pub fn joined(position: &Bookmark) -> Self {
        Self::at(Stage::Snapshot, position)
    }

    /// The snapshot is done.
    pub fn following(position: &Bookmark) -> Self {
        Self::at(Stage::Cdc, position)
    }

    fn at(stage: Stage, position: &Bookmark) -> Self {
        Self { stage, position: position.clone(), snapshot: None, partitions: None, resync_required: Vec::new() }
    }

    /// The same with what `earlier` knows of partitions.
    #[must_use]
    pub fn after(self, earlier: Self) -> Self {
        Self { partitions: earlier.partitions, resync_required: earlier.resync_required, ..self }
    }

    /// Reads the value stored under `key`.
    pub fn parse(key: &str, value: &Value) -> Result<Self> {
        Self::deserialize(value).map_err(|_| {
            Error::new(&NOT_A_MARKER, format!("the value under the state key \"{key}\" is not a marker"))
                .hint(format!("restore the state; or to begin anew {RESYNC}"))
        })
    }

    /// The value to store.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("a bookmark is JSON already")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn markers_of_earlier_releases_are_read_and_unknown_fields_refused() {
        let old = Marker::parse("k", &json!({"stage": "snapshot", "position": 7})).unwrap();
        assert_eq!(old, Marker::joined(&Bookmark(7.into())));
        assert_eq!(old.to_value(), json!({"stage": "snapshot", "position": 7}));
        let done =
            PartsDone { plan: json!("p"), destination: "d".into(), total: 3, finished: [(2, json!("9"))].into() };
        let marker = Marker { snapshot: Some(Box::new(done)), ..old };
        assert_eq!(Marker::parse("k", &marker.to_value()).unwrap(), marker);
        assert!(Marker::parse("k", &json!({"stage": "cdc", "position": 7, "more": 1})).is_err());
    }
}
