//! The pages of `sdk/vectors`, through the component `echo` of every SDK. It is built as an author's project: its source
//! takes the place of the template's.

use std::fs;
use std::path::Path;

use faucet_tests::Scratch;
use faucet_tests::faucet::workspace;

use crate::done;

/// Not `echo`: Cargo leaves a component in the target folder under the name of its package, where the component `echo` of
/// the hostile corpus lies too.
const NAME: &str = "gives_back";

/// Builds a project of `language` with `source` (from `sdk/`) as its `file`, without the files `gone`, and runs the vectors.
fn give_back(language: &str, source: &str, file: &str, gone: &[&str]) {
    let scratch = Scratch::new(&format!("vectors-{language}"));
    done(scratch.path(), &["plugin", "new", NAME, "--lang", language]);
    let project = scratch.path().join(NAME);
    for file in gone {
        fs::remove_file(project.join(file)).unwrap();
    }
    fs::copy(workspace().join("sdk").join(source), project.join(file)).unwrap();
    done(&project, &["plugin", "build"]);
    let vectors = workspace().join("sdk/vectors");
    let component = project.join(format!("{NAME}.wasm"));
    let tested = done(scratch.path(), &["plugin", "test", shown(&vectors), "--component", shown(&component)]);
    assert!(tested.contains(" passed, 0 failed"), "{tested}");
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn rust() {
    give_back("rust", "rust/echo/lib.rs", "src/lib.rs", &[]);
}

#[test]
fn c() {
    give_back("c", "c/echo/echo.c", &format!("{NAME}.c"), &["sha256.c", "sha256.h"]);
}

#[test]
fn go() {
    give_back("go", "go/echo/main.go", "main.go", &[]);
}

#[test]
fn python() {
    give_back("python", "python/echo/src/plugin.py", "src/plugin.py", &[]);
}

#[test]
fn javascript() {
    give_back("ts", "javascript/echo/src/plugin.ts", "src/plugin.ts", &[]);
}
