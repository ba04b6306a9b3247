//! The configuration.

use faucet_sdk::{Kind, config};
use faucet_values::config::KindName;

/// Which list to explode.
#[config]
pub struct Config {
    /// The column with the lists: JSON, or text that is JSON.
    pub column: String,
    /// Name of the column for the elements, which takes the place of the lists. Default: the same name.
    #[serde(default)]
    pub into: Option<String>,
    /// The kind of the elements. Default: json.
    #[serde(default)]
    pub kind: Option<KindName>,
    /// Name of a column for the number of the element in its list, from 1. It becomes the last part of the key, and a
    /// table with a key needs it.
    #[serde(default)]
    pub index: Option<String>,
    /// What to do with a row whose list is empty, null or absent. Default: keep.
    #[serde(default)]
    pub on_empty: OnEmpty,
    /// What to do with a value that is no list, or has an element of another kind. Default: fail.
    #[serde(default)]
    pub on_error: OnError,
}

/// What to do with a row whose list has no elements.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum OnEmpty {
    /// Keep it, without an element: null, and number 0.
    #[default]
    Keep,
    /// Leave it out.
    Drop,
}

/// What to do with a value that is no list, or has an element of another kind.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// Fail the page.
    #[default]
    Fail,
    /// Report the row as failed, and go on with the others.
    Reject,
}

impl Config {
    /// Name of the column for the elements.
    pub(crate) fn elements(&self) -> &str {
        self.into.as_ref().unwrap_or(&self.column)
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind.map_or(Kind::Json, Kind::from)
    }
}
