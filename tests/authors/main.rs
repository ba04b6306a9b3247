//! From an empty folder to a running pipeline, in every language: what `faucet plugin new` makes is built, tested and
//! run, with the tools that a stranger would install.
#![allow(clippy::unwrap_used)]

mod http;
mod random;
mod started;
mod vectors;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output};

use faucet_tests::Scratch;
use faucet_tests::faucet::binary;

fn faucet(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(binary()).args(arguments).current_dir(folder).output().expect("faucet runs")
}

/// Runs it, expects success, and returns what it printed.
fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = faucet(folder, arguments);
    let said = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success(), "faucet {} failed:\n{said}", arguments.join(" "));
    said
}

const KINDS: [&str; 3] = ["transform", "source", "sink"];

/// Makes, builds and tests a project of each kind, and runs pipelines of them.
fn from_an_empty_folder(language: &str) {
    let scratch = Scratch::new(&format!("authors-{language}"));
    let folder = scratch.path();
    for kind in KINDS {
        let name = format!("my_{kind}");
        done(folder, &["plugin", "new", &name, "--lang", language, "--kind", kind]);
        done(&folder.join(&name), &["plugin", "build"]);
        let tested = done(&folder.join(&name), &["plugin", "test"]);
        assert!(tested.contains(" passed, 0 failed"), "{tested}");
        let seen = done(folder, &["plugin", "inspect", &format!("{name}/{name}.wasm")]);
        assert!(seen.contains(&format!("kind           {kind}\n")), "{seen}");
    }
    mask(&scratch);
    count(&scratch);
}

/// Rows of a file pass the transform.
fn mask(scratch: &Scratch) {
    scratch.write(
        "in.jsonl",
        "{\"id\": 9007199254740993, \"email\": \"ada@example.com\"}\n{\"id\": 2, \"email\": null}\n",
    );
    scratch.write(
        "mask.yaml",
        "name: mask
plugins: { my_transform: { path: my_transform/my_transform.wasm } }
pipeline:
  source: { type: jsonl, config: { path: in.jsonl } }
  transforms: [{ type: my_transform, config: { columns: [email] } }]
  sink: { type: jsonl, config: { path: out.jsonl } }
",
    );
    done(scratch.path(), &["run", "mask.yaml"]);
    assert_eq!(
        scratch.read("out.jsonl"),
        "{\"id\":9007199254740993,\"email\":\"***\"}\n{\"id\":2,\"email\":null}\n",
        "values are hidden, and integers are exact"
    );
}

/// The source feeds the sink, which writes to the folder that it is granted, and to no other.
fn count(scratch: &Scratch) {
    let folder = scratch.path();
    std::fs::create_dir(folder.join("granted")).unwrap();
    let config = |grants: &str| {
        format!(
            "name: count
plugins:
  my_source: {{ path: my_source/my_source.wasm }}
  my_sink: {{ path: my_sink/my_sink.wasm{grants} }}
pipeline:
  source: {{ type: my_source, config: {{ start: 3, end: 2503 }} }}
  sink: {{ type: my_sink }}
"
        )
    };
    scratch.write("bare.yaml", config(""));
    let refused = faucet(folder, &["run", "bare.yaml"]);
    assert!(!refused.status.success(), "it writes without a grant");
    scratch.write("count.yaml", config(", grants: { dirs: [{ path: granted, name: /out, access: write }] }"));
    let valid = done(folder, &["validate", "count.yaml"]);
    assert!(valid.contains("read and write") && valid.contains("granted as /out"), "{valid}");
    done(folder, &["run", "count.yaml"]);
    assert_eq!(numbers_in(&folder.join("granted")), 2500, "each number once, in order");
}

/// How many numbers the files of a folder hold, which are those from 3 on, one a line.
fn numbers_in(folder: &Path) -> usize {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let text: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let number = |line: &str| line.trim_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().unwrap();
    for (at, line) in text.lines().enumerate() {
        assert_eq!(number(line), at + 3, "line {at}");
    }
    text.lines().count()
}

#[test]
fn rust() {
    from_an_empty_folder("rust");
}

#[test]
fn c() {
    from_an_empty_folder("c");
}

#[test]
fn go() {
    from_an_empty_folder("go");
}

#[test]
fn python() {
    from_an_empty_folder("python");
}

#[test]
fn javascript() {
    from_an_empty_folder("js");
}

#[test]
fn typescript() {
    from_an_empty_folder("ts");
}

/// What is no name, and what is not empty, is left alone.
#[test]
fn a_project_overwrites_nothing() {
    let scratch = Scratch::new("authors-refused");
    let name = faucet(scratch.path(), &["plugin", "new", "My Plugin", "--lang", "c"]);
    assert_eq!(name.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&name.stderr).contains("can't name a plugin"));
    scratch.write("taken/file", "mine");
    let taken = faucet(scratch.path(), &["plugin", "new", "taken", "--lang", "c"]);
    assert_eq!(taken.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&taken.stderr).contains("taken is not empty"));
    assert_eq!(scratch.read("taken/file"), "mine");
}

/// A change of a source is built and tested without being asked.
#[test]
fn a_change_is_built_and_tested() {
    let scratch = Scratch::new("authors-dev");
    done(scratch.path(), &["plugin", "new", "watched", "--lang", "c"]);
    let folder = scratch.path().join("watched");
    let mut child = Command::new(binary())
        .args(["plugin", "dev"])
        .current_dir(&folder)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut results = lines.map_while(Result::ok).filter(|line| line.contains(" passed, "));
    assert!(results.next().unwrap().ends_with(" 0 failed"), "it is tested as it is");
    let source = folder.join("watched.c");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(&source, text.replace("\"***\"", "\"###\"")).unwrap();
    let broken = results.next().unwrap();
    assert!(!broken.ends_with(" 0 failed"), "the cases want something else: {broken}");
    std::fs::write(&source, text).unwrap();
    assert!(results.next().unwrap().ends_with(" 0 failed"), "it is mended");
    child.kill().unwrap();
    child.wait().unwrap();
}
