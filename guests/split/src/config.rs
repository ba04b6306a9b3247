//! The configuration.

use faucet_sdk::{Error, Result, config};
use faucet_values::config::{OnMissing, check_columns};
use faucet_values::protect_op;

/// What to split, and where the parts go: `into` or `list`.
#[config]
pub struct Config {
    /// The text column to split.
    pub column: String,
    /// What stands between two parts.
    pub separator: String,
    /// Names of the columns for the parts. The last one has all that is left; with fewer parts, the last ones are null.
    #[serde(default)]
    pub into: Option<Vec<String>>,
    /// Name of the column for a JSON list of all parts.
    #[serde(default)]
    pub list: Option<String>,
    /// Take blanks away at both ends of each part. Default: false.
    #[serde(default)]
    pub trim: bool,
    /// Leave the column that is split out of the result. Default: false.
    #[serde(default)]
    pub remove: bool,
    /// What to do if a table lacks the column. Default: error.
    #[serde(default)]
    pub on_missing: OnMissing,
}

/// Where the parts go.
#[derive(Debug)]
pub(crate) enum Target {
    Columns(Vec<String>),
    List(String),
}

impl Target {
    /// The option that names the new columns.
    pub(crate) fn option(&self) -> &'static str {
        match self {
            Self::Columns(_) => "into",
            Self::List(_) => "list",
        }
    }
}

impl Config {
    pub(crate) fn target(&self) -> Result<Target> {
        protect_op(&self.column, "column")?;
        if self.separator.is_empty() {
            return Err(Error::config("separator", "is empty"));
        }
        match (&self.into, &self.list) {
            (Some(names), None) => check_columns(names, "into").map(|()| Target::Columns(names.clone())),
            (None, Some(name)) => protect_op(name, "list").map(|()| Target::List(name.clone())),
            (None, None) | (Some(_), Some(_)) => Err(Error::config("", "needs either `into` or `list`")),
        }
    }
}
