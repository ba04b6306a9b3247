//! `faucet plugin build`: runs the tool of a project's language, and makes a component of what comes out.

mod component;
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
        Language::C | Language::Go | Language::Python | Language::Js | Language::Ts => unimplemented!(),
    }
}

/// Puts the finished component in its place at once, so that whoever watches it never sees half of one.
fn place(built: &Path, project: &Project) -> Result<(), Failure> {
    let bytes = std::fs::read(built).map_err(|error| Failure::Usage(format!("{}: {error}", built.display())))?;
    place_bytes(&bytes, project)
}

fn place_bytes(bytes: &[u8], project: &Project) -> Result<(), Failure> {
    let component = project.component();
    let failed = |error: std::io::Error| Failure::Usage(format!("{}: {error}", component.display()));
    let beside = component.with_extension("wasm.new");
    std::fs::write(&beside, bytes).map_err(failed)?;
    std::fs::rename(&beside, &component).map_err(failed)
}
