//! The durable marker that tells a later run where a mirror stands.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

use super::survey::RESYNC;
use crate::error::{Blame, Code, Error, Result, Retry};
use crate::ports::{Bookmark, Covered, Earlier};

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
    /// What the stream covers, as it was when the source was last looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered: Option<Covered>,
    /// What earlier releases knew of the source.
    #[serde(default, skip_serializing)]
    partitions: Option<Value>,
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
        Self {
            stage,
            position: position.clone(),
            snapshot: None,
            covered: None,
            partitions: None,
            resync_required: Vec::new(),
        }
    }

    /// The same with what `earlier` knows of the source.
    #[must_use]
    pub fn after(self, earlier: Self) -> Self {
        Self { covered: earlier.covered, resync_required: earlier.resync_required, ..self }
    }

    /// Reads the value stored under `key`.
    pub fn parse(key: &str, value: &Value) -> Result<Self> {
        let parsed = Self::deserialize(value);
        let mut marker = parsed.map_err(|_| {
            Error::new(&NOT_A_MARKER, format!("the value under the state key \"{key}\" is not a marker"))
                .hint(format!("restore the state; or to begin anew {RESYNC}"))
        })?;
        if let Some(partitions) = marker.partitions.take() {
            marker.covered.get_or_insert(Covered { table: None, record: json!({ "partitions": partitions }) });
        }
        Ok(marker)
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
        let knows = json!({"stage": "cdc", "position": 7, "partitions": {"9": {"name": "p", "file": 3}}});
        let covered = Marker::parse("k", &knows).unwrap().covered.unwrap();
        assert_eq!(covered.record, json!({"partitions": {"9": {"name": "p", "file": 3}}}));
    }
}
