//! Builds the first-party components in `guests/` and writes the table of them that the binary carries.
#![allow(clippy::print_stdout)]

use faucet_guest_build::{COMPILER, Workspace};
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

fn main() {
    if let Err(error) = bundle() {
        for line in error.to_string().lines() {
            println!("cargo::error={line}");
        }
        process::exit(1);
    }
}

fn bundle() -> Result<(), Box<dyn Error>> {
    // Asked of the environment: a target folder may serve several checkouts.
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-env-changed={COMPILER}");
    for part in ["guests", "sdk/rust", "sdk/http", "sdk/guest-build", "wit"] {
        watch(&root.join(part))?;
    }
    let built = Workspace { folder: root.join("guests"), target: out.join("guests") }.build()?;
    let mut table = String::from("&[\n");
    for name in names(&root.join("guests"))? {
        let component = built.join(format!("{name}.wasm"));
        let kind = kind(&root.join("guests").join(&name))?;
        writeln!(table, "    (Kind::{kind}, {name:?}, include_bytes!({:?})),", component.display().to_string())?;
    }
    table.push_str("]\n");
    fs::write(out.join("bundled.rs"), table)?;
    println!("cargo::rustc-env=HTTP_CLIENT={}", built.join("http_client.wasm").display());
    fs::write(out.join("kit.rs"), kit(&root)?)?;
    Ok(())
}

/// The SDKs and the WIT package, for `faucet plugin new` and `build`.
fn kit(root: &Path) -> Result<String, Box<dyn Error>> {
    let mut files = Vec::new();
    for part in ["sdk/rust", "sdk/c", "sdk/go", "sdk/python", "sdk/javascript", "sdk/http", "wit"] {
        println!("cargo::rerun-if-changed={}", root.join(part).display());
        if root.join(part).is_dir() {
            pack(root, Path::new(part), &mut files)?;
        }
    }
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let content = root.join(&file).display().to_string();
        writeln!(table, "    ({:?}, include_bytes!({content:?})),", file.display().to_string())?;
    }
    table.push_str("]\n");
    Ok(table)
}

/// Names of folders that are no part of a kit: what tools leave behind, and what only this repository runs.
const LEFT_OUT: [&str; 8] = ["released", "node_modules", "__pycache__", "target", "echo", "tests", "bindings", "dist"];

/// The files below a folder, which are given out with a project.
fn pack(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = folder.join(&name);
        let hidden = name.starts_with('.') && name != ".gitignore";
        if entry.file_type()?.is_dir() {
            if !hidden && !LEFT_OUT.contains(&name.as_str()) {
                pack(root, &path, files)?;
            }
        } else if !hidden && !name.ends_with(".wasm") && !name.ends_with("_test.go") {
            files.push(path);
        }
    }
    Ok(())
}

/// Tells Cargo to come back when a source changes. Folders are not watched whole: builds write into them.
fn watch(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        if entry.file_type()?.is_dir() {
            if name != "target" {
                watch(&path)?;
            }
        } else if path.extension().is_some_and(|ext| ext == "rs" || ext == "toml" || ext == "wit" || ext == "lock") {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    Ok(())
}

/// What a component is to a pipeline. Its Cargo.toml says so: `kind = "source"` under `[package.metadata.faucet]`; one
/// that says nothing is a transform.
fn kind(guest: &Path) -> std::io::Result<&'static str> {
    let manifest = fs::read_to_string(guest.join("Cargo.toml"))?;
    let metadata = manifest.split("[package.metadata.faucet]").nth(1).unwrap_or_default();
    let says = |kind: &str| metadata.lines().any(|line| line.trim() == format!("kind = {kind:?}"));
    Ok(if says("source") {
        "Source"
    } else if says("sink") {
        "Sink"
    } else {
        "Transform"
    })
}

/// The components: a folder each, which names its library.
fn names(guests: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(guests)? {
        let entry = entry?;
        if entry.path().join("src/lib.rs").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}
