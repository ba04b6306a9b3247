//! The configuration.

use faucet_sdk::{Error, Result, config};
use faucet_values::config::OnMissing;
use faucet_values::{Ordered, protect_op};
use regex_lite::Regex;

/// Which columns get which names.
#[config]
pub struct Config {
    /// The new name of each column, by its old name.
    #[serde(default)]
    pub columns: Ordered<String>,
    /// A regular expression: in the name of every column that is not in `columns`, each match is replaced.
    #[serde(default)]
    pub pattern: Option<String>,
    /// What a match becomes; $1 or ${name} is what a group of the pattern matched. An empty text takes the match away.
    #[serde(default)]
    pub replacement: Option<String>,
    /// What to do if a table lacks a column of `columns`. Default: error.
    #[serde(default)]
    pub on_missing: OnMissing,
}

impl Config {
    pub(crate) fn check(&self) -> Result<()> {
        if self.columns.0.is_empty() && self.pattern.is_none() {
            return Err(Error::config("", "renames nothing: give `columns`, or `pattern` and `replacement`"));
        }
        for (at, (old, new)) in self.columns.0.iter().enumerate() {
            let path = format!("columns.{old}");
            protect_op(old, &path)?;
            protect_op(new, &path)?;
            if self.columns.0[..at].iter().any(|(_, other)| other == new) {
                return Err(Error::config(path, format!("gives the name '{new}' a second time")));
            }
        }
        Ok(())
    }

    pub(crate) fn pattern(&self) -> Result<Option<(Regex, String)>> {
        match (&self.pattern, &self.replacement) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(Error::config("replacement", "needs a `pattern`")),
            (Some(_), None) => Err(Error::config("replacement", "is missing: it says what a match becomes")),
            (Some(pattern), Some(replacement)) => match Regex::new(pattern) {
                Ok(regex) => Ok(Some((regex, replacement.clone()))),
                Err(error) => Err(Error::config("pattern", format!("is no regular expression: {error}"))),
            },
        }
    }
}
