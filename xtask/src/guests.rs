//! `cargo xtask guests`: builds the first-party components.

use std::path::PathBuf;

use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::{process, setup, workspace};

/// Builds them and says where they are.
pub fn run() -> Result<()> {
    for component in build()? {
        println!("{}", component.display());
    }
    Ok(())
}

/// Builds every component in `guests/` and returns their paths. The folder that holds them,
/// `TARGET/wasm32-wasip2/release`, is where tests look for them.
pub fn build() -> Result<Vec<PathBuf>> {
    let manifest = workspace::root().join("guests/Cargo.toml");
    if !manifest.is_file() {
        return Ok(Vec::new());
    }
    let mut command = process::cargo(&["build", "--quiet", "--release", "--target", setup::wasm::TARGET]);
    command.arg("--manifest-path").arg(&manifest).arg("--message-format=json-render-diagnostics");
    command.env("RUSTC", setup::wasm::rustc()?).stderr(std::process::Stdio::inherit());
    // The fallback compiler may be older than the one this repository is written for.
    command.arg("--ignore-rust-version");
    // The toolchain's lint driver and wrappers belong to another compiler than the fallback.
    command.env_remove("RUSTC_WORKSPACE_WRAPPER");
    let text = process::output(&mut command)?;
    let components = components(&text);
    if components.is_empty() {
        return Err(Failure::new("the guests workspace built no component"));
    }
    Ok(components)
}

fn components(messages: &str) -> Vec<PathBuf> {
    let parsed = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let files = parsed.flat_map(|m| m["filenames"].as_array().cloned().unwrap_or_default());
    let paths = files.filter_map(|f| f.as_str().map(PathBuf::from));
    paths.filter(|p| p.extension().is_some_and(|e| e == "wasm")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_told_from_libraries() {
        let messages = r#"{"reason":"compiler-artifact","filenames":["/t/libserde.rlib","/t/libserde.rmeta"]}
{"reason":"compiler-artifact","filenames":["/t/wasm32-wasip2/release/mask.wasm","/t/libmask.rlib"]}"#;
        assert_eq!(components(messages), [PathBuf::from("/t/wasm32-wasip2/release/mask.wasm")]);
    }
}
