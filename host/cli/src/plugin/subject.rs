//! The component that a command is about, loaded.

use std::path::{Path, PathBuf};

use faucet_wasm::{Access, DirGrant, Grants, Origin, Plugin, PluginSpec};

use crate::display::Failure;
use crate::plugins::{self, Loader};

/// Loads a component with nothing granted.
pub fn load(file: &Path) -> Result<Plugin, Failure> {
    let loader = Loader::new()?;
    Ok(loader.component(&spec(file)?)?)
}

/// Loads a component with every folder that it asks for, below `folder`: `/out` is `folder/out`. So a sink that writes
/// files can be tried without touching any that matter.
pub fn load_with_folders(file: &Path, folder: &Path) -> Result<Plugin, Failure> {
    let loader = Loader::new()?;
    let plain = spec(file)?;
    let asked = loader.component(&plain)?.describe().wants.dirs.clone();
    if asked.is_empty() {
        return Ok(loader.component(&plain)?);
    }
    let mut dirs = Vec::new();
    for (name, _) in asked {
        let path = folder.join(name.trim_start_matches('/'));
        std::fs::create_dir_all(&path).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
        dirs.push(DirGrant { path, name: Some(name), access: Access::Write });
    }
    let grants = Grants { dirs, ..Grants::default() };
    Ok(loader.component(&PluginSpec { grants, ..plain })?)
}

/// A component with nothing granted.
pub fn spec(file: &Path) -> Result<PluginSpec, Failure> {
    let name = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let file: PathBuf = file.to_owned();
    Ok(PluginSpec { ceiling: plugins::ceiling()?, ..PluginSpec::new(name, Origin::File(file)) })
}
