//! The configuration.

use faucet_sdk::config;
use faucet_sdk::serde_json::Value as Json;

/// Which rows to keep.
#[config]
pub struct Config {
    /// The column to look at.
    pub field: String,
    /// How to compare it.
    pub op: Comparison,
    /// What to compare it with: a number, text or truth value; a list of them for in and not_in; nothing for is_null
    /// and not_null. Write an exact decimal with more than 15 digits as text.
    #[serde(default)]
    pub value: Option<Json>,
    /// What to do with a change that did not send the field (an unchanged TOAST value). Default: reject.
    #[serde(default)]
    pub on_absent: Absent,
    /// What to do if a table has no such column. Default: error.
    #[serde(default)]
    pub on_missing: Missing,
}

/// How to compare. Null meets no comparison except is_null, as in SQL.
#[config]
#[derive(Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Not equal, and not null.
    Ne,
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
    /// Greater than.
    Gt,
    /// Greater than or equal.
    Ge,
    /// Equal to one of a list.
    In,
    /// Equal to none of a list, and not null.
    NotIn,
    /// Null.
    IsNull,
    /// Not null.
    NotNull,
    /// The text contains a text.
    Contains,
    /// The text starts with a text.
    StartsWith,
    /// The text ends with a text.
    EndsWith,
    /// The text matches a regular expression somewhere.
    Matches,
}

/// What to do with a change that did not send the field.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Absent {
    /// Report the row as failed: whether it belongs at the destination can't be known.
    #[default]
    Reject,
    /// Let it through.
    Pass,
    /// Leave it out.
    Drop,
}

/// What to do about a table that has no such column.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Fail.
    #[default]
    Error,
    /// Let the whole page through.
    Pass,
}
