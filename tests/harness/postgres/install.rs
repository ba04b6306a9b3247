//! Finds an installed PostgreSQL.

use std::path::{Path, PathBuf};
use std::process::Command;

/// An installed PostgreSQL server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Folder with `postgres`, `initdb`, `psql`...
    pub bin: PathBuf,
    /// Major version, such as 15.
    pub major: u32,
}

/// The newest server on this machine: from `FAUCET_PG_BIN` if set, else from `PATH` and the folders Linux
/// distributions and Homebrew install to. The error says what installs one.
pub fn find() -> Result<Installation, String> {
    let found = candidates().into_iter().filter_map(|bin| inspect(&bin));
    found.max_by_key(|i| i.major).ok_or_else(|| {
        "no PostgreSQL server on this machine: `cargo xtask test` installs it on Debian and Ubuntu (as root); \
         elsewhere install PostgreSQL 14 or newer, or set FAUCET_PG_BIN to the folder that holds `postgres` and `initdb`"
            .to_owned()
    })
}

fn candidates() -> Vec<PathBuf> {
    if let Some(bin) = std::env::var_os("FAUCET_PG_BIN") {
        return vec![bin.into()];
    }
    let mut folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
    for (root, bin) in [("/usr/lib/postgresql", "bin"), ("/opt/homebrew/opt", "bin"), ("/usr/local/opt", "bin")] {
        let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
        folders.extend(entries.map(|e| e.path().join(bin)));
    }
    folders.extend((14..30).map(|v| PathBuf::from(format!("/usr/pgsql-{v}/bin"))));
    folders
}

fn inspect(bin: &Path) -> Option<Installation> {
    // A link in PATH may point into a folder that also has the tools which are not linked.
    let postgres = bin.join("postgres").canonicalize().ok()?;
    let bin = postgres.parent()?.to_owned();
    if !bin.join("initdb").exists() {
        return None;
    }
    let output = Command::new(&postgres).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // "postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)", or "... 18beta1".
    let version = text.split(") ").nth(1)?;
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    Some(Installation { bin, major: digits.parse().ok()? })
}
