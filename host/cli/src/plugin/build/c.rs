//! C: one command of zig's C compiler, which brings the headers and libraries of WASI along.

use std::ffi::OsString;
use std::path::Path;

use super::{Tool, place_module, scratch};
use crate::display::Failure;
use crate::plugin::project::{Language, Project};

const INSTALL: &str = "pip install ziglang==0.17.1, or put zig on the PATH";

/// Compiles every `.c` file of the project's folder, with the SDK's.
pub fn build(project: &Project) -> Result<(), Failure> {
    let sdk = Path::new(Language::C.vendored());
    let world = sdk.join(project.manifest.kind.name());
    let scratch = scratch()?;
    let module = scratch.path().join("core.wasm");
    let mut arguments: Vec<OsString> = ["-target", "wasm32-wasi", "-mexec-model=reactor", "-O2", "-flto", "-s"]
        .iter()
        // zig's own stack is 16 MiB, and counts against the plugin's memory.
        .chain(&["-Wl,-z,stack-size=1048576"])
        .map(OsString::from)
        .collect();
    arguments.extend(["-I".into(), sdk.into(), "-I".into(), world.clone().into(), "-o".into(), module.clone().into()]);
    for folder in [Path::new("."), &sdk.join("src"), &world] {
        arguments.extend(sources(project, folder)?);
    }
    zig().args(arguments).run(&project.folder)?;
    place_module(&module, project)
}

/// The `.c` files of a folder of the project, relative to the project.
fn sources(project: &Project, folder: &Path) -> Result<Vec<OsString>, Failure> {
    let path = project.folder.join(folder);
    let entries = path.read_dir().map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    let names = entries.flatten().map(|entry| folder.join(entry.file_name()));
    let mut files: Vec<OsString> =
        names.filter(|name| name.extension().is_some_and(|extension| extension == "c")).map(Into::into).collect();
    files.sort();
    Ok(files)
}

/// zig as a program, or as the package that PyPI has.
fn zig() -> Tool {
    if Tool::new("zig", INSTALL).args(["version"]).works() {
        return Tool::new("zig", INSTALL).args(["cc"]);
    }
    Tool::new("python3", INSTALL).args(["-m", "ziglang", "cc"])
}
