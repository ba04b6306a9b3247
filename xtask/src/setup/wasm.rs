//! A Rust compiler that can build components (`wasm32-wasip2`).
//!
//! In order: the compiler in use, if it has the target's standard library; the same after `rustup target add`; and
//! where rustup can't fetch it, Debian's `rustc-web` with a standard library built once from Debian's own source
//! package. That build is for the exact compiler it comes with, so guests are then compiled by that one, linked by
//! the linkers of the toolchain in use.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use faucet_guest_build::TARGET;

use super::apt;
use crate::failure::{Failure, Result};
use crate::{process, workspace};

const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_PACKAGES: [&str; 3] = ["rustc-web", "rust-web-src", "wasi-libc"];

/// Makes sure that components can be built, from here on by every cargo that this process runs.
pub fn ensure() -> Result<()> {
    static DONE: OnceLock<()> = OnceLock::new();
    if DONE.get().is_some() {
        return Ok(());
    }
    if let Some(compiler) = fallback()? {
        process::build_guests_with(compiler);
    }
    let _ = DONE.set(());
    Ok(())
}

/// The compiler to build components with if the active one can't.
fn fallback() -> Result<Option<PathBuf>> {
    let active = process::which("rustc").ok_or_else(|| Failure::Environment("no rustc in PATH".to_owned()))?;
    let built = sysroot()?.join("bin/rustc");
    if can_link(&active) {
        return Ok(None);
    }
    if can_link(&built) {
        return Ok(Some(built));
    }
    if process::which("rustup").is_some() && rustup_add() && can_link(&active) {
        return Ok(None);
    }
    if !apt::is_usable() {
        let message = format!("no standard library for {TARGET}: run `rustup target add {TARGET}`");
        return Err(Failure::Environment(message));
    }
    build_from_debian()?;
    if can_link(&built) {
        return Ok(Some(built));
    }
    Err(Failure::Environment(format!("the standard library built for {TARGET} can't link a component")))
}

fn rustup_add() -> bool {
    println!("adding the Rust target {TARGET}");
    let mut command = Command::new("rustup");
    command.args(["target", "add", TARGET]).current_dir(workspace::root());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}

/// Outside the target folder: it is worth keeping when that is cleaned, and belongs to the machine's packages.
fn sysroot() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("FAUCET_WASM_SYSROOT") {
        return Ok(folder.into());
    }
    let home = std::env::var_os("HOME").ok_or_else(|| Failure::Environment("HOME is not set".to_owned()))?;
    Ok(Path::new(&home).join(".cache/faucet/wasm-sysroot"))
}

/// Whether this compiler makes a component out of the smallest program.
fn can_link(rustc: &Path) -> bool {
    let attempt = || -> Result<bool> {
        let folder = tempfile::tempdir()?;
        let (source, component) = (folder.path().join("probe.rs"), folder.path().join("probe.wasm"));
        fs::write(&source, "fn main() { println!(\"x\") }")?;
        let mut command = Command::new(rustc);
        command.args(["--target", TARGET, "-Cpanic=abort", "-o"]).arg(&component).arg(&source);
        process::output(command.current_dir(workspace::root()))?;
        Ok(fs::read(&component)?.starts_with(b"\0asm"))
    };
    attempt().unwrap_or(false)
}

fn build_from_debian() -> Result<()> {
    if !apt::has(&DEBIAN_PACKAGES) {
        apt::install(&DEBIAN_PACKAGES, "a standard library for components (about 145 MB)")?;
    }
    println!("building the standard library for {TARGET}, once (1-2 minutes)");
    let source = debian_source()?;
    let build = tempfile::Builder::new().prefix("faucet-wasm-std-").tempdir_in("/var/tmp")?;
    compile_std(&source, build.path())?;
    assemble(&build.path().join(TARGET).join("release/deps"))
}

/// Debian's library source, only if it is the one of Debian's compiler: any other can't be built by it.
fn debian_source() -> Result<PathBuf> {
    let source = fs::canonicalize("/usr/lib/rustlib/src/rust")?.join("library");
    let version = rustc_fact(Path::new(DEBIAN_RUSTC), "release")?;
    if source.components().any(|c| c.as_os_str().to_string_lossy() == format!("rustc-{version}")) {
        return Ok(source);
    }
    let message = format!("rust-web-src in {} is not the source of rustc-web {version}", source.display());
    Err(Failure::Environment(message))
}

fn rustc_fact(rustc: &Path, name: &str) -> Result<String> {
    let text = process::output(Command::new(rustc).arg("-vV"))?;
    let fact = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    fact.map(str::to_owned).ok_or_else(|| Failure::new(format!("{} -vV gives no `{name}`", rustc.display())))
}

fn compile_std(source: &Path, folder: &Path) -> Result<()> {
    let mut command = process::cargo(&["build", "--quiet", "--locked", "--package", "sysroot", "--release"]);
    command.args(["--no-default-features", "--features", "panic-unwind,backtrace", "--target", TARGET]);
    command.arg("--manifest-path").arg(source.join("Cargo.toml")).arg("--target-dir").arg(folder);
    // The library is built with unstable features by a stable compiler, as the Rust project builds it.
    command.env("RUSTC", DEBIAN_RUSTC).env("RUSTC_BOOTSTRAP", "1").env("RUSTC_WRAPPER", "");
    command
        .env("RUSTFLAGS", "-Zforce-unstable-if-unmarked -Cembed-bitcode=yes")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0");
    command.env_remove("CARGO_BUILD_TARGET").env_remove("CARGO_ENCODED_RUSTFLAGS").current_dir("/");
    process::output(&mut command).map(|_| ())
}

/// Lays the sysroot out beside its place, then puts it there in one move.
fn assemble(rlibs: &Path) -> Result<()> {
    let place = sysroot()?;
    let fresh = place.with_extension(format!("new-{}", std::process::id()));
    let library = fresh.join("lib/rustlib").join(TARGET).join("lib");
    fs::create_dir_all(library.join("self-contained"))?;
    for file in fs::read_dir(rlibs)?.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "rlib"))
    {
        fs::copy(&file, library.join(file.file_name().unwrap_or_default()))?;
    }
    for file in ["libc.a", "crt1-command.o", "crt1-reactor.o"] {
        fs::copy(Path::new("/usr/lib/wasm32-wasi").join(file), library.join("self-contained").join(file))?;
    }
    link_host_parts(&fresh)?;
    let wrapper = fresh.join("bin/rustc");
    fs::create_dir_all(fresh.join("bin"))?;
    fs::write(&wrapper, format!("#!/bin/sh\nexec {DEBIAN_RUSTC} --sysroot '{}' \"$@\"\n", place.display()))?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    let _ = fs::remove_dir_all(&place);
    fs::rename(&fresh, &place)?;
    Ok(())
}

/// Procedural macros run on this machine: its own standard library comes from Debian's compiler, the linkers for
/// components from the toolchain in use.
fn link_host_parts(fresh: &Path) -> Result<()> {
    let host = rustc_fact(Path::new(DEBIAN_RUSTC), "host")?;
    let active = process::output(Command::new("rustc").args(["--print", "sysroot"]).current_dir(workspace::root()))?;
    let linkers = Path::new(active.trim()).join("lib/rustlib").join(&host).join("bin");
    if !linkers.join("wasm-component-ld").exists() {
        let message = format!("no wasm-component-ld in {}: use a toolchain from rustup", linkers.display());
        return Err(Failure::Environment(message));
    }
    let folder = fresh.join("lib/rustlib").join(&host);
    fs::create_dir_all(&folder)?;
    symlink(Path::new("/usr/lib/rustlib").join(&host).join("lib"), folder.join("lib"))?;
    symlink(linkers, folder.join("bin"))?;
    Ok(())
}
