//! `cargo xtask guests`: builds the first-party components, as files. The binary carries its own copies, which its
//! build script makes.

use std::path::PathBuf;

use faucet_guest_build::Workspace;

use crate::failure::{Failure, Result};
use crate::{process, setup, workspace};

/// Builds them and says where they are.
pub fn run() -> Result<()> {
    for component in build()? {
        println!("{}", component.display());
    }
    Ok(())
}

/// Builds every component in `guests/` and returns their paths.
pub fn build() -> Result<Vec<PathBuf>> {
    setup::wasm::ensure()?;
    let guests = Workspace { folder: workspace::root().join("guests"), target: workspace::scratch("guests")? };
    let folder = guests.build_with(process::guest_compiler()).map_err(|e| Failure::new(e.to_string()))?;
    let files = std::fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
    let mut components: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "wasm")).collect();
    components.sort();
    Ok(components)
}
