//! The configuration of the sink.

use faucet_core::config::Span;
use faucet_core::error::Problem;
use faucet_core::ports::WriteMode;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

use crate::file::check_path;
use crate::sql::{DeleteMarker, OnTruncate};
use crate::sqlite::name::is_same;

/// The `config:` block of the sink `sqlite`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SqliteSinkConfig {
    /// The database file; created when it is missing.
    pub path: PathBuf,
    /// The table, as one name: a dot in it is a part of the name.
    pub table_name: String,
    /// Create the table from the first page if there is none, with declarations that keep every value exact, and a
    /// primary key on `key` (not under `append`).
    #[serde(default = "yes")]
    pub create_table: bool,
    /// `append` adds every row; `upsert` replaces the row with the same `key`; `overwrite` replaces the whole table when
    /// the run ends.
    #[serde(default)]
    pub write_mode: WriteMode,
    /// The columns that tell rows apart. Required by `upsert`.
    #[serde(default)]
    pub key: Vec<String>,
    /// Which rows delete the row with their key. Only under `upsert`.
    #[serde(default)]
    pub delete_marker: Option<DeleteMarker>,
    /// What to do when the source table was truncated (a row that `cdc_unwrap` marked `t`). Default: `truncate`, so that
    /// both stay equal. Only with `delete_marker`.
    #[serde(default)]
    pub on_truncate: Option<OnTruncate>,
    /// How long to wait for a program that holds the database.
    #[serde(default = "super::super::busy_timeout")]
    pub busy_timeout: Span,
}

fn yes() -> bool {
    true
}

impl SqliteSinkConfig {
    /// What a truncate of the source does.
    pub(super) fn on_truncate(&self) -> OnTruncate {
        self.on_truncate.unwrap_or_default()
    }

    /// The column that is not written.
    pub(super) fn marker_column(&self) -> Option<&str> {
        self.delete_marker.as_ref().map(|marker| marker.field.as_str())
    }

    pub(super) fn check(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = check_path(&self.path).into_iter().collect();
        if self.path.as_os_str() == ":memory:" {
            let message = "a database in memory is gone when the run ends";
            problems.push(Problem::error("path", message).hint("name a file"));
        }
        problems.extend(self.check_table());
        problems.extend(self.check_key());
        problems.extend(self.check_mode());
        problems
    }

    fn check_table(&self) -> Option<Problem> {
        let reserved = self.table_name.to_ascii_lowercase().starts_with("sqlite_");
        let ours = is_same(&self.table_name, super::token::TABLE);
        match (self.table_name.as_str(), reserved || ours) {
            ("", _) => Some(Problem::error("table_name", "a table needs a name")),
            (_, true) => Some(Problem::error("table_name", "the name is reserved")),
            (_, false) => None,
        }
    }

    fn check_key(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (index, column) in self.key.iter().enumerate() {
            let path = format!("key[{index}]");
            if column.is_empty() {
                problems.push(Problem::error(path, "a column's name can't be empty"));
            } else if self.key[..index].iter().any(|before| is_same(before, column)) {
                problems.push(Problem::error(path, format!("\"{column}\" is named twice")));
            }
        }
        problems
    }

    fn check_mode(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.write_mode == WriteMode::Upsert && self.key.is_empty() {
            let message = "`write_mode: upsert` needs the columns that tell rows apart";
            problems.push(Problem::error("key", message).hint("add `key: [id]`, the source's primary key"));
        }
        match &self.delete_marker {
            Some(_) if self.write_mode != WriteMode::Upsert => {
                let message = "rows can be deleted only under `write_mode: upsert`";
                problems.push(Problem::error("delete_marker", message).hint("set `write_mode: upsert` and `key`"));
            }
            Some(marker) => problems.extend(marker.problems(&self.key)),
            None if self.on_truncate.is_some() => {
                let message = "without `delete_marker` no row says that the source was truncated";
                problems.push(
                    Problem::error("on_truncate", message).hint("add delete_marker: { field: __op, values: [d] }"),
                );
            }
            None => {}
        }
        problems
    }
}
