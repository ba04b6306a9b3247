//! Golden cases: files with a configuration, a page and what must come out.

use super::run;
use crate::{Result, Transform};
use serde_json::{Value as Json, json};
use std::path::Path;

/// Runs every `*.json` in the folder `cases` of a guest. A file is one case or a list of them:
///
/// ```json
/// { "case": "what it shows", "config": {}, "page": { "table": "t", "columns": [] },
///   "pages": [ ], "rejected": [ ], "error": "text of the failure instead" }
/// ```
///
/// # Panics
/// If a case comes out otherwise, or there is none.
pub fn run_cases<T: Transform>(folder: impl AsRef<Path>) {
    let mut count = 0;
    let folder = folder.as_ref();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|ext| ext == "json")) {
        let text = std::fs::read_to_string(path).expect("a readable file");
        let json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in cases(json) {
            check::<T>(path, &case);
            count += 1;
        }
    }
    assert!(count > 0, "no cases in {}", folder.display());
}

fn cases(json: Json) -> Vec<Json> {
    match json {
        Json::Array(cases) => cases,
        case => vec![case],
    }
}

fn check<T: Transform>(path: &Path, case: &Json) {
    let at = format!("{}: {}", path.display(), case["case"].as_str().unwrap_or("?"));
    let got = seen(run::<T>(&case["config"], &case["page"]));
    let want = match case.get("error") {
        Some(error) => json!({ "error": error }),
        None => {
            let rejected = case.get("rejected").cloned().unwrap_or_else(|| json!([]));
            json!({ "pages": case["pages"], "rejected": rejected })
        }
    };
    assert!(got == want, "{at}\n  got  {got}\n  want {want}");
}

fn seen(result: Result<Json>) -> Json {
    result.unwrap_or_else(|error| json!({ "error": error.to_string() }))
}
