//! `faucet plugin new`: from an empty folder to a project that builds.

use std::path::PathBuf;

use super::kit;
use super::project::{MANIFEST, Manifest};
use crate::args::{Global, PluginNewArgs};
use crate::display::Failure;

/// Makes the project.
pub fn execute(global: &Global, args: &PluginNewArgs) -> Result<(), Failure> {
    check_name(&args.name)?;
    let folder = args.folder.clone().unwrap_or_else(|| PathBuf::from(&args.name));
    if folder.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::Usage(format!("{} is not empty", folder.display())));
    }
    kit::write_template(&folder, args.lang, args.kind, &args.name)?;
    kit::write_sdk(&folder, args.lang)?;
    let manifest = Manifest { name: args.name.clone(), kind: args.kind, language: args.lang };
    let text = serde_yaml::to_string(&manifest).map_err(|error| Failure::Usage(error.to_string()))?;
    let file = folder.join(MANIFEST);
    std::fs::write(&file, text).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    if !global.quiet {
        println!("{} is a project now. Go on with:", folder.display());
        println!("  cd {}\n  faucet plugin build\n  faucet plugin test", folder.display());
    }
    Ok(())
}

/// A name is part of file names, of a package's name in each language, and of configurations.
fn check_name(name: &str) -> Result<(), Failure> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let sound = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(plain) && name.len() <= 64;
    if sound {
        return Ok(());
    }
    let what = format!("'{name}' can't name a plugin: use a-z, 0-9 and _, a letter first, 64 characters at most");
    Err(Failure::Usage(what))
}
