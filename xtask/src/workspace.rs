//! Where things are in the checkout and in the target folder.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::{process, setup};

/// The root of the checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in a folder of the workspace")
}

/// The target folder: `CARGO_TARGET_DIR`, else `target` in the checkout.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => std::path::absolute(&folder).unwrap_or_else(|_| folder.into()),
        None => root().join("target"),
    }
}

/// A folder of ours in the target folder, made if it isn't there.
pub fn scratch(name: &str) -> Result<PathBuf> {
    let folder = target().join("xtask").join(name);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Names of all test targets (`--test NAME`) in the workspace.
pub fn test_targets() -> Result<Vec<String>> {
    let text = process::output(&mut process::cargo(&["metadata", "--format-version=1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&text).map_err(|e| Failure::new(format!("cargo metadata: {e}")))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|p| p["targets"].as_array().into_iter().flatten());
    let tests = targets.filter(|t| t["kind"].as_array().is_some_and(|k| k.iter().any(|k| k == "test")));
    Ok(tests.filter_map(|t| t["name"].as_str().map(str::to_owned)).collect())
}

/// Builds with these arguments for `cargo build` and returns the path of the `faucet` binary it made.
///
/// Always the whole workspace: building one package alone picks other features for shared dependencies, and so
/// compiles them once more.
pub fn build_faucet(arguments: &[&str]) -> Result<PathBuf> {
    // The binary carries components.
    setup::wasm::ensure()?;
    let mut command = process::cargo(&["build", "--quiet", "--workspace", "--message-format=json-render-diagnostics"]);
    command.args(arguments).stderr(std::process::Stdio::inherit());
    let text = process::output(&mut command)?;
    executable(&text, "faucet").ok_or_else(|| Failure::new("cargo built no `faucet` binary"))
}

/// The path cargo reports for binary `name`, not for its unit tests.
fn executable(messages: &str, name: &str) -> Option<PathBuf> {
    let parsed = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ours = parsed.filter(|m| m["target"]["name"] == name && m["profile"]["test"] == false);
    ours.filter_map(|m| m["executable"].as_str().map(PathBuf::from)).next_back()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_is_told_from_its_unit_tests() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"faucet"},"profile":{"test":false},"executable":"/t/faucet"}
{"reason":"compiler-artifact","target":{"name":"faucet"},"profile":{"test":true},"executable":"/t/deps/faucet-1"}
{"reason":"compiler-artifact","target":{"name":"faucet_core"},"profile":{"test":false},"executable":null}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages, "faucet").unwrap(), PathBuf::from("/t/faucet"));
    }

    #[test]
    fn this_crate_knows_its_workspace() {
        assert!(root().join("xtask/src/workspace.rs").is_file());
        assert!(test_targets().unwrap().contains(&"harness".to_owned()));
    }
}
