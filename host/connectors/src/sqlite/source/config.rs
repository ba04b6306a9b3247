//! The configuration of the source.

use faucet_core::config::Span;
use faucet_core::error::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

use crate::file::check_path;
use crate::pages::{DEFAULT_BATCH_SIZE, DeclaredColumns, check_batch_size};
use crate::sqlite::name::quoted;

/// The `config:` block of the source `sqlite`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SqliteSourceConfig {
    /// The database file.
    pub path: PathBuf,
    /// The query whose rows are read. Either this or `table`.
    #[serde(default)]
    pub query: Option<String>,
    /// The table or view whose rows are read, all columns of it.
    #[serde(default)]
    pub table: Option<String>,
    /// Kinds of columns, such as `{ paid_at: timestamptz }`, where the declared types don't say them.
    #[serde(default)]
    pub columns: DeclaredColumns,
    /// Rows in a page.
    #[serde(default = "batch_size")]
    pub batch_size: usize,
    /// How long to wait for a program that holds the database.
    #[serde(default = "super::super::busy_timeout")]
    pub busy_timeout: Span,
}

fn batch_size() -> usize {
    DEFAULT_BATCH_SIZE
}

impl SqliteSourceConfig {
    /// The query to run.
    pub(super) fn sql(&self) -> String {
        match (&self.query, &self.table) {
            (Some(query), _) => query.clone(),
            (None, table) => format!("SELECT * FROM {}", quoted(table.as_deref().unwrap_or_default())),
        }
    }

    pub(super) fn check(&self) -> Vec<Problem> {
        let mut problems: Vec<_> =
            check_path(&self.path).into_iter().chain(check_batch_size(self.batch_size)).collect();
        match (&self.query, &self.table) {
            (None, None) => problems.push(
                Problem::error("", "nothing says which rows to read").hint("add `table: NAME` or `query: SELECT ...`"),
            ),
            (Some(_), Some(_)) => {
                problems.push(Problem::error("table", "`query` says already which rows to read").hint("leave one out"));
            }
            (Some(text), None) if text.trim().is_empty() => {
                problems.push(Problem::error("query", "the query is empty"));
            }
            (Some(_), None) | (None, Some(_)) => {}
        }
        problems
    }
}
