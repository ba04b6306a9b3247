//! The configuration of `csv`.

use faucet_core::error::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

use super::record::Dialect;
use crate::file::{FileWriteMode, check_path};
use crate::pages::{DEFAULT_BATCH_SIZE, DeclaredColumns, check_batch_size};

/// The `config:` block of the source `csv`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CsvSourceConfig {
    /// The file.
    #[schemars(extend("x-identity" = true))]
    pub path: PathBuf,
    /// Whether the first line names the columns. Otherwise they are called column_1, column_2 and so on.
    #[serde(default = "yes")]
    pub has_header: bool,
    /// The character between fields.
    #[serde(default = "comma")]
    pub delimiter: String,
    /// The character around fields.
    #[serde(default = "quote")]
    pub quote: String,
    /// How a null is written. Only a field without quotes is a null: a quoted one is always text. Empty by default.
    #[serde(default)]
    pub null_value: String,
    /// Kinds of columns, such as `{ id: int64, paid_at: timestamptz }`. Others are text.
    #[serde(default)]
    pub columns: DeclaredColumns,
    /// Rows in a page.
    #[serde(default = "batch_size")]
    pub batch_size: usize,
}

/// The `config:` block of the sink `csv`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CsvSinkConfig {
    /// The file.
    #[schemars(extend("x-identity" = true))]
    pub path: PathBuf,
    /// Whether the first line names the columns.
    #[serde(default = "yes")]
    pub has_header: bool,
    /// The character between fields.
    #[serde(default = "comma")]
    pub delimiter: String,
    /// The character around fields.
    #[serde(default = "quote")]
    pub quote: String,
    /// How a null is written, without quotes. A text that reads the same is put in quotes.
    #[serde(default)]
    pub null_value: String,
    /// What happens to rows that are in the file: `append` keeps them, `overwrite` replaces them when the run ends.
    #[serde(default)]
    pub write_mode: FileWriteMode,
}

fn yes() -> bool {
    true
}

fn comma() -> String {
    ",".to_owned()
}

fn quote() -> String {
    "\"".to_owned()
}

fn batch_size() -> usize {
    DEFAULT_BATCH_SIZE
}

impl CsvSourceConfig {
    pub(super) fn dialect(&self) -> Result<Dialect, Vec<Problem>> {
        dialect(&self.delimiter, &self.quote, &self.null_value)
    }

    pub(super) fn check(&self) -> Vec<Problem> {
        let mut problems = self.dialect().err().unwrap_or_default();
        problems.extend(check_path(&self.path));
        problems.extend(check_batch_size(self.batch_size));
        problems
    }
}

impl CsvSinkConfig {
    pub(super) fn dialect(&self) -> Result<Dialect, Vec<Problem>> {
        dialect(&self.delimiter, &self.quote, &self.null_value)
    }

    pub(super) fn check(&self) -> Vec<Problem> {
        let mut problems = self.dialect().err().unwrap_or_default();
        problems.extend(check_path(&self.path));
        problems
    }
}

/// The characters, checked against each other.
pub(crate) fn dialect(delimiter: &str, quote: &str, null_value: &str) -> Result<Dialect, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut character = |path: &str, text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Some(*byte),
        _ => {
            let problem = Problem::error(path, "it has to be one ASCII character other than a line end");
            problems.push(problem.hint("for a tab write \"\\t\""));
            None
        }
    };
    let found = (character("delimiter", delimiter), character("quote", quote));
    if let (Some(delimiter), Some(quote)) = found {
        if delimiter == quote {
            problems.push(Problem::error("quote", "it can't be the delimiter at the same time"));
        }
        let special = |c: char| c.is_ascii() && [delimiter, quote, b'\n', b'\r'].contains(&(c as u8));
        if null_value.contains(special) {
            problems.push(Problem::error("null_value", "it can't have a delimiter, a quote or a line end in it"));
        }
        if problems.is_empty() {
            return Ok(Dialect { delimiter, quote });
        }
    }
    Err(problems)
}
