//! Finds an installed PostgreSQL: the one that tests run on, or one of a certain major version.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::account::Account;

/// The major versions that faucet is tested on.
pub const MAJORS: [u32; 5] = [14, 15, 16, 17, 18];

/// An installed PostgreSQL server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Folder with `postgres`, `initdb`, `psql`...
    pub bin: PathBuf,
    /// Major version, such as 15.
    pub major: u32,
}

impl Installation {
    /// A command that runs one of its programs under this account.
    pub(super) fn command(&self, account: &Account, program: &str) -> Command {
        let mut command = account.command(&self.bin.join(program));
        if let Some(libraries) = self.libraries() {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command
    }

    /// The libraries that came with it. Programs of such a package find those next to them, but not what those need.
    fn libraries(&self) -> Option<PathBuf> {
        let ours = folder_of_majors().canonicalize().ok()?;
        self.bin.starts_with(ours).then(|| self.bin.with_file_name("lib"))
    }
}

/// The server that tests run on: the major of `FAUCET_PG_MAJOR` if set, else the newest on this machine: from
/// `FAUCET_PG_BIN` if set, else from `PATH` and the folders Linux distributions and Homebrew install to. The error says
/// what installs one.
pub fn find() -> Result<Installation, String> {
    if let Some(major) = std::env::var_os("FAUCET_PG_MAJOR").filter(|major| !major.is_empty()) {
        let number = major.to_str().and_then(|major| major.parse().ok());
        return find_major(number.ok_or("FAUCET_PG_MAJOR is not a number, such as 17")?);
    }
    let found = candidates().into_iter().filter_map(|bin| inspect(&bin));
    found.max_by_key(|i| i.major).ok_or_else(|| {
        "no PostgreSQL server on this machine: `cargo xtask test` installs it on Debian and Ubuntu (as root); \
         elsewhere install PostgreSQL 14 or newer, or set FAUCET_PG_BIN to the folder that holds `postgres` and `initdb`"
            .to_owned()
    })
}

/// A server of this major version, from the same places or from [`folder_of_majors`].
pub fn find_major(major: u32) -> Result<Installation, String> {
    let kept = std::fs::read_dir(folder_of_majors()).into_iter().flatten().flatten();
    // The folder of one that is being installed begins with a dot.
    let kept = kept.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    let all = candidates().into_iter().chain(kept.map(|entry| entry.path().join("bin")));
    all.filter_map(|bin| inspect(&bin)).find(|i| i.major == major).ok_or_else(|| {
        format!(
            "no PostgreSQL {major} on this machine: `cargo xtask test` installs it on Linux x86-64 where npm is; \
             elsewhere install it, or make {}/{major} a folder with its `bin` (FAUCET_PG_DIR names another place)",
            folder_of_majors().display()
        )
    })
}

/// Where `cargo xtask test` puts the majors that the machine hasn't, each in a folder of its own: `FAUCET_PG_DIR`, or a
/// folder in the user's cache. Root's home is closed to the account that root's servers run under.
pub fn folder_of_majors() -> PathBuf {
    if let Some(folder) = std::env::var_os("FAUCET_PG_DIR").filter(|folder| !folder.is_empty()) {
        return folder.into();
    }
    match (Account::is_root(), std::env::var_os("HOME")) {
        (false, Some(home)) => Path::new(&home).join(".cache/faucet/postgres"),
        (true, _) | (false, None) => PathBuf::from("/var/cache/faucet/postgres"),
    }
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
    let installation = Installation { bin, major: 0 };
    let output = installation.command(&Account::Same, "postgres").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // "postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)", or "... 18beta1".
    let version = text.split(") ").nth(1)?;
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    Some(Installation { major: digits.parse().ok()?, ..installation })
}
