//! Files: `csv` and `jsonl`, as sources and as sinks.
//!
//! A source reads plain rows, without bookmarks: a run reads the whole file. A sink appends or replaces; what a file can
//! and can't promise is written in `output.rs`. Changes that were unwrapped are written as the rows they are, with their
//! `__op`: such a file is a log.

pub mod csv;
pub mod error;
mod input;
pub mod jsonl;
mod output;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod testing;

use faucet_core::error::Problem;
use faucet_core::ports::WriteMode;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

/// What a file sink does with what is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileWriteMode {
    /// Rows are added behind it.
    #[default]
    Append,
    /// The rows of a run take its place when the run ends.
    Overwrite,
}

impl From<FileWriteMode> for WriteMode {
    fn from(mode: FileWriteMode) -> Self {
        match mode {
            FileWriteMode::Append => WriteMode::Append,
            FileWriteMode::Overwrite => WriteMode::Overwrite,
        }
    }
}

/// The lines of a text, without their ends. What is no UTF-8 is shown as such.
pub(crate) fn lines(text: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(text).lines().map(str::to_owned).collect()
}

/// What is wrong with a file's path.
pub(crate) fn check_path(path: &Path) -> Option<Problem> {
    path.as_os_str().is_empty().then(|| Problem::error("path", "a file needs a name"))
}
