//! Every dependency's licence is one that `deny.toml` allows. cargo-deny checks more, where it is installed; this runs
//! everywhere.

use std::collections::BTreeSet;

use cargo_metadata::{CargoOpt, MetadataCommand};

use crate::none;
use crate::sources;

/// The list `allow = [...]` under `[licenses]`.
fn allowed() -> BTreeSet<String> {
    let text = std::fs::read_to_string(sources::root().join("deny.toml")).expect("deny.toml is readable");
    let section = text.split("[licenses]").nth(1).expect("deny.toml has [licenses]");
    let list = section.split("allow = [").nth(1).and_then(|l| l.split(']').next()).expect("[licenses] has `allow`");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether an SPDX expression can be met with these licences. Old manifests write `/` for `OR`.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut words = words.as_slice();
    either(&mut words, allowed) && words.is_empty()
}

fn either(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut met = both(words, allowed);
    while words.first() == Some(&"OR") {
        *words = &words[1..];
        met |= both(words, allowed);
    }
    met
}

fn both(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, allowed);
    while words.first() == Some(&"AND") {
        *words = &words[1..];
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    *words = rest;
    if *first == "(" {
        let met = either(words, allowed);
        let closed = words.first() == Some(&")");
        *words = words.get(1..).unwrap_or_default();
        return met && closed;
    }
    let mut licence = (*first).to_owned();
    if let ["WITH", exception, rest @ ..] = *words {
        licence = format!("{licence} WITH {exception}");
        *words = rest;
    }
    allowed.contains(&licence)
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let mut command = MetadataCommand::new();
    command.current_dir(sources::root()).features(CargoOpt::AllFeatures).other_options(vec!["--locked".to_owned()]);
    let metadata = command.exec().expect("cargo metadata runs");
    let allowed = allowed();
    let mut violations = Vec::new();
    for package in metadata.packages.iter().filter(|p| p.source.is_some()) {
        let licence = package.license.as_deref().unwrap_or("no licence named");
        if !is_met(licence, &allowed) {
            violations.push(format!("{} {}: {licence}", package.name, package.version));
        }
    }
    assert!(metadata.packages.len() > 50, "cargo metadata lists the dependencies");
    none("a licence is not in deny.toml", &violations);
}

#[test]
fn expressions_are_read_as_spdx_means_them() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "ISC"].map(str::to_owned).into();
    for good in
        ["MIT", "MIT/GPL-3.0", "GPL-3.0 OR MIT AND ISC", "(MIT OR GPL-3.0) AND ISC", "Apache-2.0 WITH LLVM-exception"]
    {
        assert!(is_met(good, &allowed), "{good}");
    }
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND GPL-3.0", "GPL-3.0 WITH LLVM-exception", "", "MIT ISC"]
    {
        assert!(!is_met(bad, &allowed), "{bad}");
    }
}
