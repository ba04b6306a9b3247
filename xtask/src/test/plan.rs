//! Which commands make up a group.

use std::process::Command;
use std::time::Duration;

use super::Group;
use crate::failure::Result;
use crate::{process, workspace};

/// One command of the run.
pub struct Step {
    /// Shown on its line, and the name of its log.
    pub name: &'static str,
    /// Longer than this is a hang.
    pub limit: Duration,
    arguments: Vec<String>,
}

impl Step {
    fn new(name: &'static str, minutes: u64, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|a| (*a).to_owned()).collect();
        Self { name, limit: Duration::from_secs(60 * minutes), arguments }
    }

    /// The cargo command, ready to run.
    pub fn command(&self) -> Command {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        process::cargo(&arguments)
    }
}

/// The steps of `groups` in order. `targets` are the test targets that exist: a group whose target doesn't has no
/// step.
pub fn steps(groups: &[Group], targets: &[String]) -> Result<Vec<Step>> {
    let guests = workspace::root().join("guests/Cargo.toml");
    let guests = guests.is_file().then(|| guests.display().to_string());
    let mut steps = Vec::new();
    for group in groups {
        steps.extend(of_group(*group, guests.as_deref(), targets));
    }
    Ok(steps)
}

fn of_group(group: Group, guests: Option<&str>, targets: &[String]) -> Vec<Step> {
    let target = |name: &'static str, minutes: u64| -> Vec<Step> {
        let exists = targets.iter().any(|t| t == name);
        exists.then(|| Step::new(name, minutes, &["test", "--workspace", "--test", name])).into_iter().collect()
    };
    match group {
        Group::Lint => lint(guests),
        Group::Unit => unit(guests, targets),
        Group::Docs => {
            let reference = ["run", "--quiet", "--bin", "xtask", "--", "docs", "--check"];
            let mut steps = vec![Step::new("doctests", 20, &["test", "--workspace", "--doc"])];
            steps.push(Step::new("reference", 5, &reference));
            steps.extend(target("docs", 10));
            steps
        }
        Group::Conformance => target("conformance", 20),
        Group::Golden => target("golden", 10),
        Group::Hostile => target("hostile", 20),
        Group::Plugins => target("plugins", 20),
        Group::Authors => target("authors", 25),
        Group::Instructions => target("instructions", 20),
        Group::Sim => vec![Step::new("sim", 10, &["test", "--workspace", "--lib", "--", SIMULATION])],
        Group::E2e => ["connectors", "e2e"].into_iter().flat_map(|name| target(name, 20)).collect(),
        Group::Crash => target("crash", 30),
    }
}

/// Where the seeded simulator of the mirror's coordinator lies: a group of its own.
const SIMULATION: &str = "mirror::simulation";
const FORMAT: [&str; 3] = ["fmt", "--all", "--check"];
const PLAIN: [&str; 3] = ["--", "--color", "never"];

fn lint(guests: Option<&str>) -> Vec<Step> {
    let deny = ["--", "--deny", "warnings"];
    let clippy = |more: &[&'static str]| -> Vec<&'static str> {
        [&["clippy", "--quiet", "--workspace", "--all-targets"], more, &deny].concat()
    };
    let mut steps =
        vec![Step::new("format", 2, &[&FORMAT[..], &PLAIN].concat()), Step::new("clippy", 30, &clippy(&[]))];
    if let Some(manifest) = guests {
        let format = [&FORMAT[..], &["--manifest-path", manifest], &PLAIN].concat();
        steps.push(Step::new("format-guests", 2, &format));
        let at = ["clippy", "--quiet", "--all-targets", "--manifest-path", manifest];
        steps.push(Step::new("clippy-guests", 10, &[&at[..], &deny].concat()));
    }
    steps
}

fn unit(guests: Option<&str>, targets: &[String]) -> Vec<Step> {
    let ours = [
        "connectors",
        "conformance",
        "golden",
        "hostile",
        "plugins",
        "authors",
        "e2e",
        "crash",
        "docs",
        "instructions",
    ];
    let mut arguments = vec!["test", "--workspace", "--lib", "--bins"];
    // Tests beside the crates, and those in tests/ that are in no other group.
    let rest = targets.iter().filter(|t| !ours.contains(&t.as_str()));
    for target in rest {
        arguments.extend(["--test", target]);
    }
    arguments.extend(["--", "--skip", SIMULATION]);
    let mut steps = vec![Step::new("unit", 20, &arguments)];
    if let Some(manifest) = guests {
        steps.push(Step::new("unit-guests", 10, &["test", "--quiet", "--manifest-path", manifest]));
    }
    steps
}
