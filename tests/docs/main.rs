//! The documentation tells the truth: its links lead somewhere, its configurations are valid, the tests it names exist.

mod configs;
mod failures;
mod links;

use std::path::PathBuf;

use faucet_tests::faucet::workspace;
use walkdir::WalkDir;

/// Files of the checkout with this extension, in order. Build output and hidden folders don't count.
fn files(extension: &str) -> Vec<PathBuf> {
    let skip = |name: &str| name == "target" || name == "node_modules" || name.starts_with('.') && name.len() > 1;
    let entries = WalkDir::new(workspace()).sort_by_file_name().into_iter();
    let entries = entries.filter_entry(|e| e.depth() == 0 || !skip(&e.file_name().to_string_lossy()));
    let paths = entries.map(|e| e.expect("the checkout is readable").into_path());
    paths.filter(|p| p.extension().is_some_and(|e| e == extension)).collect()
}

/// A path as a person writes it.
fn shown(path: &std::path::Path) -> String {
    path.strip_prefix(workspace()).unwrap_or(path).display().to_string()
}

#[test]
fn the_readme_shows_the_example_transform_as_it_is() {
    let read = |path: &str| std::fs::read_to_string(workspace().join(path)).expect("the file is there");
    let example = read("examples/plugins/uppercase/src/lib.rs");
    assert!(read("README.md").contains(example.trim_end()), "README.md shows another examples/plugins/uppercase");
}
