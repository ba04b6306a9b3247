//! The configuration.

use faucet_sdk::{Error, Result, config};
use faucet_values::config::{OnMissing, check_columns};

/// Which JSON columns to flatten, and how.
#[config]
pub struct Config {
    /// JSON columns to flatten; * stands for any characters. Default: all JSON columns.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
    /// What stands between the parts of a new name. Default: _
    #[serde(default)]
    pub separator: Option<String>,
    /// How many levels of objects become columns; an object further down stays JSON. At most 64. Default: 10.
    #[serde(default)]
    pub max_depth: Option<u32>,
    /// How many columns may be made of one. Default: 500.
    #[serde(default)]
    pub max_columns: Option<u32>,
    /// The kinds of the new columns. Default: infer.
    #[serde(default)]
    pub kinds: Kinds,
    /// Keep the JSON columns beside the new ones. Default: false.
    #[serde(default)]
    pub keep: bool,
    /// What to do if a table lacks a column of `columns`. Default: error.
    #[serde(default)]
    pub on_missing: OnMissing,
}

/// The kinds of the new columns.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Kinds {
    /// What all values of a page are: boolean, int64, decimal, text, or json for lists and where they differ.
    #[default]
    Infer,
    /// Always text, so that a column never changes its kind.
    Text,
}

/// Nesting deeper than this is not followed, whatever the configuration says: each level is a call.
const DEEPEST: u32 = 64;

impl Config {
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(columns) = &self.columns {
            check_columns(columns, "columns")?;
        }
        if self.depth() == 0 || self.depth() > DEEPEST {
            return Err(Error::config("max_depth", format!("must be from 1 to {DEEPEST}")));
        }
        Ok(())
    }

    pub(crate) fn depth(&self) -> u32 {
        self.max_depth.unwrap_or(10)
    }

    pub(crate) fn most(&self) -> usize {
        self.max_columns.unwrap_or(500) as usize
    }

    pub(crate) fn separator(&self) -> &str {
        self.separator.as_deref().unwrap_or("_")
    }
}
