//! Temporary folders that don't outlive the tests.
//!
//! A folder's name holds the id of the process that made it. Should that process die without cleaning up, the next
//! one that asks for a folder removes what it left.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

use tempfile::TempDir;

const PREFIX: &str = "faucet-test-";

/// A private folder, removed on drop.
#[derive(Debug)]
pub struct Scratch {
    dir: TempDir,
}

impl Scratch {
    /// A new empty folder. `label` shows in its name, for the person who finds it.
    pub fn new(label: &str) -> Self {
        static SWEEP: Once = Once::new();
        SWEEP.call_once(sweep);
        let prefix = format!("{PREFIX}{}-{label}-", std::process::id());
        let dir = tempfile::Builder::new().prefix(&prefix).tempdir().expect("the temporary folder is writable");
        Self { dir }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file (and the folders it needs) and returns its path.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("folders can be made in the scratch folder");
        }
        fs::write(&path, text).expect("files can be written in the scratch folder");
        path
    }

    /// Reads a file as text; empty when there is none.
    pub fn read(&self, name: &str) -> String {
        fs::read(self.path().join(name)).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default()
    }

    /// Keeps the folder for good and returns where it is.
    pub fn keep(self) -> PathBuf {
        self.dir.keep()
    }
}

/// Removes folders whose process is gone.
fn sweep() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|n| n.strip_prefix(PREFIX)) else {
            continue;
        };
        let owner = rest.split('-').next().and_then(|pid| pid.parse().ok());
        if owner.is_some_and(|pid: u32| Path::new("/proc/self").exists() && !process_exists(pid)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn process_exists(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}
