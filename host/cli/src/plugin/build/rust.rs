//! Rust: Cargo makes a component by itself.

use std::path::PathBuf;

use super::{Tool, place};
use crate::display::Failure;
use crate::plugin::project::Project;

const TARGET: &str = "wasm32-wasip2";

/// Builds it in release, into `CARGO_TARGET_DIR` or the project's own target folder.
pub fn build(project: &Project) -> Result<(), Failure> {
    let install = "install Rust from https://rustup.rs, then run: rustup target add wasm32-wasip2";
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| project.folder.join("target"), PathBuf::from);
    let target = std::path::absolute(&target).unwrap_or(target);
    Tool::new("cargo", install)
        .args(["build", "--quiet", "--release", "--target", TARGET, "--target-dir"])
        .args([&target])
        .run(&project.folder)?;
    place(&target.join(TARGET).join("release").join(format!("{}.wasm", project.manifest.name)), project)
}
