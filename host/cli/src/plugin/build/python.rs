//! Python: componentize-py packs the plugin with its own Python.

use std::path::Path;

use super::{Tool, place, scratch};
use crate::display::Failure;
use crate::plugin::project::{Language, Project};

const INSTALL: &str = "install Python 3.10 or later";

/// Builds what is in `src`. The tool goes into the project's `.venv` when it is built for the first time.
pub fn build(project: &Project) -> Result<(), Failure> {
    let sdk = Path::new(Language::Python.vendored());
    let python = Path::new(".venv/bin/python");
    if !project.folder.join(python).exists() {
        Tool::new("python3", INSTALL).args(["-m", "venv", ".venv"]).run(&project.folder)?;
    }
    let python = std::path::absolute(project.folder.join(python)).unwrap_or_else(|_| python.to_owned());
    let has_tool = Tool::new(&python, INSTALL).args(["-c", "import componentize_py"]).works();
    if !has_tool {
        let requirements = sdk.join("requirements.txt");
        let install = Tool::new(&python, INSTALL).args(["-m", "pip", "install", "--quiet", "-r"]);
        install.args([requirements]).run(&project.folder)?;
    }
    let scratch = scratch()?;
    let component = scratch.path().join("plugin.wasm");
    Tool::new(&python, INSTALL)
        .args([sdk.join("build.py").as_path(), "--src".as_ref(), "src".as_ref()])
        .args(["--world", project.manifest.kind.name()])
        .args(["--wit".as_ref(), sdk.join("wit").as_path(), "--out".as_ref(), component.as_path()])
        .run(&project.folder)?;
    place(&component, project)
}
