//! Debian and Ubuntu packages.

use std::process::{Command, Stdio};

use crate::failure::{Failure, Result};
use crate::process;

/// Whether packages can be installed: apt-get exists and we are root.
pub fn is_usable() -> bool {
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    root && process::which("apt-get").is_some()
}

/// Whether all these packages are installed.
pub fn has(packages: &[&str]) -> bool {
    let mut query = Command::new("dpkg-query");
    query.args(["-W", "-f", "${db:Status-Abbrev}\n"]).args(packages).stderr(Stdio::null());
    query.output().is_ok_and(|o| {
        let text = String::from_utf8_lossy(&o.stdout).into_owned();
        o.status.success() && text.lines().all(|line| line.starts_with("ii"))
    })
}

/// Installs packages without recommended ones; `what_for` completes "installing PACKAGES for ...".
pub fn install(packages: &[&str], what_for: &str) -> Result<()> {
    println!("installing {} for {what_for}", packages.join(", "));
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command.args(["-qq", "-o", "DPkg::Lock::Timeout=600", "-o", "Acquire::Retries=3"]).args(arguments);
        process::output(&mut command).map_err(|e| Failure::Environment(e.to_string()))
    };
    apt(&["update"])?;
    let mut arguments = vec!["install", "--yes", "--no-install-recommends"];
    arguments.extend(packages);
    apt(&arguments).map(|_| ())
}
