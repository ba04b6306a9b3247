//! What becomes of a destination whose columns no longer fit the rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to do when the source's columns change. Columns that the source drops are never dropped at the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SchemaPolicy {
    /// A column that the destination doesn't have, or one whose type is narrower there.
    pub on_drift: OnDrift,
    /// A column whose type at the destination would change some of the source's values, and can't be widened to hold them.
    pub on_incompatible: OnIncompatible,
}

/// What to do about a column that the destination doesn't have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnDrift {
    /// Stop with an error that says which column, before the row is written.
    #[default]
    Fail,
    /// Add it to the destination with the source's type; widen a column where nothing is lost by it; add the labels that an
    /// enum lacks.
    Evolve,
    /// Leave its values out, and say so in the log once for each change of the schema.
    Warn,
    /// Leave its values out.
    Ignore,
    /// Set rows with a value in it aside, in the `dlq`, and write the others.
    Quarantine,
}

impl OnDrift {
    /// Whether a row is written without its values that have no place.
    pub fn leaves_out(self) -> bool {
        matches!(self, OnDrift::Warn | OnDrift::Ignore | OnDrift::Quarantine)
    }
}

/// What to do about a column whose type at the destination doesn't hold every value of the source's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnIncompatible {
    /// Stop with an error that names both types.
    #[default]
    Fail,
    /// Keep the destination's type: each value is compared with what the column makes of it, and written where both are the
    /// same. A row with one that would change goes to the `dlq`, and stops the run if there is none.
    Keep,
}
