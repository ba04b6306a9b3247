//! `faucet plugin build`: runs the tool of a project's language, and makes a component of what comes out.

mod c;
mod component;
mod go;
mod javascript;
mod link;
mod python;
mod rust;
mod tool;

use std::path::Path;

use super::project::{Language, Project};
use crate::args::{Global, ProjectArgs};
use crate::display::Failure;
use tool::Tool;

/// Builds the project.
pub fn execute(global: &Global, args: &ProjectArgs) -> Result<(), Failure> {
    let project = Project::open(&args.folder)?;
    build(&project)?;
    if !global.quiet {
        println!("{}", project.component().display());
    }
    Ok(())
}

/// Builds a project; the component is then at [`Project::component`].
pub fn build(project: &Project) -> Result<(), Failure> {
    match project.manifest.language {
        Language::Rust => rust::build(project),
        Language::C => c::build(project),
        Language::Go => go::build(project),
        Language::Python => python::build(project),
        Language::Js | Language::Ts => javascript::build(project),
    }
}

/// Puts the finished component in its place at once, so that whoever watches it never sees half of one.
fn place(built: &Path, project: &Project) -> Result<(), Failure> {
    place_bytes(&read(built)?, project)
}

/// Makes a component of the core module that a tool wrote, and puts it in its place.
fn place_module(module: &Path, project: &Project) -> Result<(), Failure> {
    place_bytes(&component::from_module(read(module)?, project.manifest.kind)?, project)
}

/// What a tool wrote.
fn read(built: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(built).map_err(|error| Failure::Usage(format!("{}: {error}", built.display())))
}

/// A folder for what a build makes on its way.
fn scratch() -> Result<tempfile::TempDir, Failure> {
    tempfile::tempdir().map_err(|error| Failure::Usage(format!("a folder for temporary files: {error}")))
}

fn place_bytes(bytes: &[u8], project: &Project) -> Result<(), Failure> {
    let component = project.component();
    let failed = |error: std::io::Error| Failure::Usage(format!("{}: {error}", component.display()));
    let beside = component.with_extension("wasm.new");
    std::fs::write(&beside, bytes).map_err(failed)?;
    std::fs::rename(&beside, &component).map_err(failed)
}
