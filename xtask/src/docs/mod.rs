//! `cargo xtask docs`: writes the reference pages of the book from what the binary says about itself, so that they
//! can't tell anything else. With `--check` it only makes sure that they are up to date.
//!
//! The pages: one for each connector, transform and state store, the configuration, the error codes, and the interface of
//! plugins.

mod keys;
mod page;
mod wit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde::Deserialize;
use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::{process, workspace};

/// Whether to write.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Write nothing; fail if a page is out of date
    #[arg(long)]
    check: bool,
}

/// One line of `faucet list --output json`.
#[derive(Debug, Deserialize)]
pub struct Entry {
    /// `source`, `sink`, `transform` or `state`.
    pub role: String,
    /// The name in `type:`.
    #[serde(rename = "type")]
    pub name: String,
    /// One sentence.
    pub summary: String,
    /// JSON Schema of its `config:`.
    pub schema: Value,
}

/// Writes or checks the pages.
pub fn run(arguments: &Arguments) -> Result<()> {
    let faucet = match std::env::var_os("FAUCET_BIN") {
        Some(faucet) => PathBuf::from(faucet),
        None => workspace::build_faucet(&["--bin", "faucet"])?,
    };
    let folder = workspace::root().join("docs/src/reference");
    let pages = pages(&faucet)?;
    unlisted(&pages)?;
    let stale = stale(&folder, &pages)?;
    match (arguments.check, stale.as_slice()) {
        (_, []) => Ok(()),
        (true, stale) => {
            Err(Failure::new(format!("out of date: {}; run `cargo xtask docs` and commit", stale.join(", "))))
        }
        (false, _) => write(&folder, &pages),
    }
}

/// File names and contents.
type Pages = BTreeMap<String, String>;

fn pages(faucet: &Path) -> Result<Pages> {
    let ask = |arguments: &[&str]| process::output(Command::new(faucet).args(arguments));
    let mut entries: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for line in ask(&["list", "--output", "json"])?.lines() {
        let entry: Entry = serde_json::from_str(line).map_err(|e| Failure::new(format!("faucet list: {e}")))?;
        entries.entry(entry.name.clone()).or_default().push(entry);
    }
    let mut pages: Pages =
        entries.iter().map(|(name, entries)| (format!("{name}.md"), page::of_type(name, entries))).collect();
    let schema = serde_json::from_str(&ask(&["schema"])?).map_err(|e| Failure::new(format!("faucet schema: {e}")))?;
    pages.insert("configuration.md".to_owned(), page::of_configuration(&schema));
    let mut codes = Vec::new();
    for code in ask(&["explain"])?.lines().filter_map(|line| line.split_whitespace().next()) {
        codes.push(ask(&["explain", code])?);
    }
    pages.insert("errors.md".to_owned(), page::of_errors(&codes));
    pages.insert("wit.md".to_owned(), wit::reference(&workspace::root().join("wit"))?);
    Ok(pages)
}

/// A page that the table of contents doesn't name can't be found by a reader.
fn unlisted(pages: &Pages) -> Result<()> {
    let summary = std::fs::read_to_string(workspace::root().join("docs/src/SUMMARY.md"))?;
    let missing = pages.keys().filter(|file| !summary.contains(&format!("(reference/{file})")));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("docs/src/SUMMARY.md doesn't name these pages of reference/: {}", missing.join(", "))))
}

/// Names of pages whose file differs, or that shouldn't be there.
fn stale(folder: &Path, pages: &Pages) -> Result<Vec<String>> {
    let differs =
        |(file, text): &(&String, &String)| std::fs::read_to_string(folder.join(file)).ok().as_ref() != Some(text);
    let mut stale: Vec<String> = pages.iter().filter(differs).map(|(file, _)| file.clone()).collect();
    if folder.is_dir() {
        for entry in std::fs::read_dir(folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !pages.contains_key(&name) {
                stale.push(name);
            }
        }
    }
    Ok(stale)
}

fn write(folder: &Path, pages: &Pages) -> Result<()> {
    if folder.is_dir() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder)?;
    for (file, text) in pages {
        std::fs::write(folder.join(file), text)?;
    }
    println!("wrote {} pages to {}", pages.len(), folder.display());
    Ok(())
}
