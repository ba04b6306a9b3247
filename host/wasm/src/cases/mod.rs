//! Golden cases: what a plugin makes of what, written as JSON, run in the real host.
//!
//! A case of a **transform** says which pages and rejected rows become of a page, or which words are in the error:
//!
//! ```json
//! {"case": "text is redacted", "config": {"columns": ["email"]},
//!  "page": {"table": "public.users", "key": ["id"], "columns": [
//!    {"name": "id", "kind": "int64", "values": [1]},
//!    {"name": "email", "kind": "text", "values": ["a@b"]}]},
//!  "pages": [{"table": "public.users", "key": ["id"], "columns": [
//!    {"name": "id", "kind": "int64", "values": [1]},
//!    {"name": "email", "kind": "text", "values": ["***"]}]}]}
//! ```
//!
//! A case of a **source** has no `page`: its `pages` are what the source delivers until it ends, with `ops` and `before`
//! where they are pages of changes. A case of a **sink** has `write`, a list of pages, and `files`, what is then in the
//! folders that it asks for. Every kind may end in `error`, a part of the message. [`page`] says how values are written.

mod page;
mod run;

pub(crate) use page::{hex, unhex};
pub use page::{page_from_json, page_to_json};
pub use run::{Verdict, run};

use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;

/// One golden case.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it shows.
    pub case: String,
    /// The plugin's configuration.
    #[serde(default)]
    pub config: Value,
    /// For a transform: the page that goes in.
    pub page: Option<Value>,
    /// The pages that come out of a transform or a source.
    #[serde(default)]
    pub pages: Vec<Value>,
    /// The rows that are rejected: `{"row": 1, "reason": ".."}`.
    #[serde(default)]
    pub rejected: Vec<Value>,
    /// For a sink: the pages that are written, and then committed.
    #[serde(default)]
    pub write: Vec<Value>,
    /// For a sink: the files that are there then, by the name under which the plugin sees them, and their text.
    #[serde(default)]
    pub files: Map<String, Value>,
    /// A part of the error that it ends in.
    pub error: Option<String>,
}

/// Reads the cases of a file or of all `.json` files of a folder, in the order of their names.
///
/// # Errors
/// Which file can't be read, and why.
pub fn read(path: &Path) -> Result<Vec<Case>, String> {
    let mut files = vec![path.to_owned()];
    if path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
        files = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
    }
    let mut cases = Vec::new();
    for file in files {
        let at = |why: String| format!("{}: {why}", file.display());
        let text = std::fs::read_to_string(&file).map_err(|error| at(error.to_string()))?;
        let found: Vec<Case> = serde_json::from_str(&text).map_err(|error| at(error.to_string()))?;
        cases.extend(found);
    }
    Ok(cases)
}
