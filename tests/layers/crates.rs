//! Which crate may depend on which.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use crate::{none, sources};

/// A crate of ours, the crates of ours it may use in shipped code, and why.
struct CrateRule {
    name: &'static str,
    may_use: &'static [&'static str],
    because: &'static str,
}

const CRATES: &[CrateRule] = &[
    CrateRule { name: "faucet-core", may_use: &[], because: "the heart knows nobody" },
    CrateRule { name: "faucet-connectors", may_use: &["faucet-core"], because: "connectors implement its ports" },
    CrateRule { name: "faucet-wasm", may_use: &["faucet-core"], because: "components implement the same ports" },
    CrateRule { name: "faucet-registry", may_use: &["faucet-core"], because: "it moves bytes and runs none" },
    CrateRule {
        name: "faucet-cli",
        may_use: &["faucet-core", "faucet-connectors", "faucet-wasm", "faucet-registry", "faucet-guest-build"],
        because: "the binary wires everything, and carries components that its build script builds",
    },
    CrateRule { name: "faucet-guest-build", may_use: &[], because: "it runs Cargo and needs nothing else" },
    CrateRule { name: "faucet-sdk", may_use: &["faucet-sdk-macro"], because: "a guest must not pull in the host" },
    CrateRule { name: "faucet-sdk-macro", may_use: &[], because: "it only writes code" },
    CrateRule { name: "faucet-tests", may_use: &[], because: "xtask builds the harness, and must start quickly" },
    CrateRule {
        name: "xtask",
        may_use: &["faucet-tests", "faucet-guest-build"],
        because: "tasks start servers and build guests",
    },
];

/// A third-party crate (or a family of them, with `*`), the only crates of ours that may declare it, and why.
struct DriverRule {
    name: &'static str,
    only: &'static [&'static str],
    because: &'static str,
}

const DRIVERS: &[DriverRule] = &[
    DriverRule { name: "wasmtime*", only: &["faucet-wasm"], because: "one crate knows the WebAssembly runtime" },
    DriverRule {
        name: "tokio-postgres*",
        only: &["faucet-connectors", "faucet-tests"],
        because: "drivers belong to connectors",
    },
    DriverRule { name: "postgres-protocol", only: &["faucet-connectors"], because: "drivers belong to connectors" },
    DriverRule { name: "pgwire-replication", only: &["faucet-connectors"], because: "drivers belong to connectors" },
    DriverRule {
        name: "rusqlite",
        only: &["faucet-connectors", "faucet-tests"],
        because: "drivers belong to connectors",
    },
    DriverRule { name: "csv", only: &["faucet-connectors"], because: "drivers belong to connectors" },
    DriverRule { name: "reqwest", only: &["faucet-registry"], because: "one crate speaks to registries" },
    DriverRule { name: "clap*", only: &["faucet-cli", "xtask"], because: "only binaries have a command line" },
    DriverRule { name: "miette", only: &["faucet-cli"], because: "only the binary talks to a terminal" },
    DriverRule { name: "indicatif", only: &["faucet-cli"], because: "only the binary talks to a terminal" },
    DriverRule { name: "tracing-subscriber", only: &["faucet-cli"], because: "only the binary decides about logs" },
    DriverRule { name: "axum*", only: &["faucet-cli"], because: "only the binary serves" },
    DriverRule { name: "wit-bindgen*", only: &["faucet-sdk"], because: "guests are bound by the SDK" },
];

fn metadata() -> Metadata {
    MetadataCommand::new().current_dir(sources::root()).no_deps().exec().expect("cargo metadata runs")
}

/// Names of what a crate declares for shipped code.
fn declared(package: &Package) -> impl Iterator<Item = &str> {
    package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development).map(|d| d.name.as_str())
}

fn matches(rule: &str, name: &str) -> bool {
    rule.strip_suffix('*').map_or(rule == name, |prefix| name.starts_with(prefix))
}

#[test]
fn arrows_between_our_crates_point_one_way() {
    let mut violations = Vec::new();
    for package in &metadata().packages {
        let name = package.name.as_str();
        let Some(rule) = CRATES.iter().find(|r| r.name == name) else {
            violations.push(format!("{name} has no row in CRATES: say what it may use, and why"));
            continue;
        };
        let ours = declared(package).filter(|d| CRATES.iter().any(|r| r.name == *d));
        let wrong = ours.filter(|d| !rule.may_use.contains(d));
        violations.extend(wrong.map(|d| format!("{name} uses {d}; it must not, because {}", rule.because)));
    }
    none("a crate uses one it must not know", &violations);
}

#[test]
fn only_their_owners_know_drivers_and_runtimes() {
    let mut violations = Vec::new();
    for package in &metadata().packages {
        let name = package.name.as_str();
        for rule in DRIVERS.iter().filter(|r| !r.only.contains(&name)) {
            let wrong = declared(package).filter(|d| matches(rule.name, d));
            violations.extend(wrong.map(|d| format!("{name} declares {d}: {}", rule.because)));
        }
    }
    none("a crate declares a dependency that belongs to another", &violations);
}
