//! The configuration.

use faucet_sdk::config;
use faucet_values::config::OnMissing;

/// Which columns to keep.
#[config]
pub struct Config {
    /// Columns to keep; * stands for any characters (addr_*).
    pub columns: Vec<String>,
    /// The order they come in. Default: table.
    #[serde(default)]
    pub order: Order,
    /// Allow to leave out a part of the key; the rows then have none. Default: false.
    #[serde(default)]
    pub allow_key: bool,
    /// What to do if a table lacks one of them, or none matches a pattern. Default: error.
    #[serde(default)]
    pub on_missing: OnMissing,
}

/// The order of the columns that are kept.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// As in the table.
    #[default]
    Table,
    /// As written in `columns`, what a pattern matches in table order.
    Written,
}
