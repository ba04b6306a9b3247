//! The configuration of `jsonl`.

use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

use crate::file::FileWriteMode;
use crate::pages::{DEFAULT_BATCH_SIZE, DeclaredColumns};

/// The `config:` block of the source `jsonl`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonlSourceConfig {
    /// The file.
    #[schemars(extend("x-identity" = true))]
    pub path: PathBuf,
    /// Kinds of members, such as `{ amount: decimal, paid_at: timestamptz }`. Those of other members are found from their
    /// values.
    #[serde(default)]
    pub columns: DeclaredColumns,
    /// Rows in a page.
    #[serde(default = "batch_size")]
    pub batch_size: usize,
}

/// The `config:` block of the sink `jsonl`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonlSinkConfig {
    /// The file.
    #[schemars(extend("x-identity" = true))]
    pub path: PathBuf,
    /// What happens to rows that are in the file: `append` keeps them, `overwrite` replaces them when the run ends.
    #[serde(default)]
    pub write_mode: FileWriteMode,
}

fn batch_size() -> usize {
    DEFAULT_BATCH_SIZE
}
