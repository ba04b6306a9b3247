//! Builds components from Rust sources.
//!
//! A build script or a test runs Cargo for another workspace and another target, inside a Cargo that is already
//! running. That works if nothing of the outer build leaks into the inner one: its flags, wrappers, compiler and target
//! folder are taken out of the environment.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What components are built for.
pub const TARGET: &str = "wasm32-wasip2";

/// Names the compiler to build components with, where the active toolchain can't.
pub const COMPILER: &str = "FAUCET_GUEST_RUSTC";

/// A Rust workspace of components.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Folder of its `Cargo.toml`.
    pub folder: PathBuf,
    /// Where Cargo builds it. Not the folder of the outer build, whose lock is held.
    pub target: PathBuf,
}

/// Why components could not be built.
#[derive(Debug)]
pub struct Failure(String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl Workspace {
    /// Builds all components of the workspace in release, with the compiler that [`COMPILER`] names or else the active
    /// one, and returns the folder they are in.
    ///
    /// # Errors
    /// If the target's standard library is missing, or the sources don't compile.
    pub fn build(&self) -> Result<PathBuf, Failure> {
        self.build_with(env::var_os(COMPILER).as_deref().map(Path::new))
    }

    /// The same with this compiler, or with the active one if there is none.
    ///
    /// # Errors
    /// As for [`Workspace::build`].
    pub fn build_with(&self, compiler: Option<&Path>) -> Result<PathBuf, Failure> {
        require_target(compiler)?;
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--quiet", "--release", "--target", TARGET, "--manifest-path"]);
        cargo.arg(self.folder.join("Cargo.toml")).arg("--target-dir").arg(&self.target);
        forget_outer_build(&mut cargo);
        if let Some(compiler) = compiler {
            // It may be older than the compiler this repository is written for.
            cargo.env("RUSTC", compiler).arg("--ignore-rust-version");
        }
        run(&mut cargo, &format!("building the components in {}", self.folder.display()))?;
        Ok(self.target.join(TARGET).join("release"))
    }
}

/// Takes everything out of a command's environment that Cargo set for the build it runs in.
fn forget_outer_build(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if belongs_to_outer_build(&name) {
            command.env_remove(name);
        }
    }
}

fn belongs_to_outer_build(name: &OsStr) -> bool {
    const NAMES: [&str; 16] = [
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_TARGET_DIR",
        "CARGO_INCREMENTAL",
        "CLIPPY_ARGS",
        "DEBUG",
        "HOST",
        "OPT_LEVEL",
        "OUT_DIR",
        "PROFILE",
        "RUSTC",
        "RUSTC_LINKER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTFLAGS",
    ];
    const PREFIXES: [&str; 6] =
        ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_PROFILE_", "CARGO_TARGET_"];
    let Some(name) = name.to_str() else { return false };
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || name == "TARGET"
}

/// Fails with what to do if the compiler has no standard library for the target.
fn require_target(compiler: Option<&Path>) -> Result<(), Failure> {
    let compiler = compiler.map(|path| path.as_os_str().to_owned());
    let compiler = compiler.or_else(|| env::var_os("RUSTC")).unwrap_or_else(|| OsString::from("rustc"));
    let mut rustc = Command::new(&compiler);
    forget_outer_build(&mut rustc);
    let asked = rustc.args(["--print", "target-libdir", "--target", TARGET]).output();
    let answered = asked.map_err(|error| Failure(format!("can't run {}: {error}", compiler.display())))?;
    let folder = String::from_utf8_lossy(&answered.stdout);
    if answered.status.success() && Path::new(folder.trim()).is_dir() {
        return Ok(());
    }
    Err(Failure(format!("Rust has no standard library for {TARGET} here. Run: rustup target add {TARGET}")))
}

fn run(command: &mut Command, what: &str) -> Result<(), Failure> {
    let output = command.output().map_err(|error| Failure(format!("{what}: can't run Cargo: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Failure(format!("{what} failed:\n{}", String::from_utf8_lossy(&output.stderr))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_build_is_forgotten_and_the_machine_is_not() {
        for name in
            ["RUSTC_WORKSPACE_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "CARGO_PKG_NAME", "TARGET", "CARGO_TARGET_DIR"]
        {
            assert!(belongs_to_outer_build(OsStr::new(name)), "{name}");
        }
        for name in
            ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "CARGO_MAKEFLAGS", "CARGO_NET_OFFLINE"]
        {
            assert!(!belongs_to_outer_build(OsStr::new(name)), "{name}");
        }
    }
}
