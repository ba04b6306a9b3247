//! Which commands make up a group.

use std::process::Command;
use std::time::Duration;

use faucet_tests::postgres::{MAJORS, find};

use super::Group;
use crate::failure::Result;
use crate::{process, workspace};

/// One command of the run.
pub struct Step {
    /// Shown on its line, and the name of its log.
    pub name: String,
    /// Longer than this is a hang.
    pub limit: Duration,
    arguments: Vec<String>,
    /// The major version of PostgreSQL that it runs on, if not the machine's own.
    major: Option<u32>,
}

/// Says which server the harness starts where a test names none.
const MAJOR: &str = "FAUCET_PG_MAJOR";

impl Step {
    fn new(name: &str, minutes: u64, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|a| (*a).to_owned()).collect();
        Self { name: name.to_owned(), limit: Duration::from_secs(60 * minutes), arguments, major: None }
    }

    /// The cargo command, ready to run.
    pub fn command(&self) -> Command {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut command = process::cargo(&arguments);
        command.envs(self.major.map(|major| (MAJOR, major.to_string())));
        command
    }

    /// What a person types to run it again.
    pub fn again(&self) -> String {
        let major = self.major.map(|major| format!("{MAJOR}={major} ")).unwrap_or_default();
        major + &process::display(&self.command())
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
        Group::E2e => ["connectors", "e2e"].into_iter().flat_map(|name| target(name, 30)).collect(),
        Group::Crash => target("crash", 30),
        Group::Majors => majors(),
    }
}

/// What is run on every major version: the tests of these names, which depend on what the server does.
const ON_EACH_MAJOR: &[&str] = &[
    "postgres_cdc::changes",
    "postgres_cdc::images",
    "postgres_cdc::partitions",
    "drift::new_and_wider",
    "drift::rows_that_were_there",
    "partitions::what_came",
    "snapshot::coverage",
    "snapshot::resume::finished_ranges",
    "values::every_type_arrives_as_it_was_in_postgres",
];

/// What is run beside that on the oldest and the newest.
const ON_THE_OUTERMOST: &[&str] = &[
    "postgres_cdc::examine",
    "postgres_cdc::slots",
    "postgres_cdc::transactions",
    "postgres::types",
    "postgres::upsert",
    "drift::",
    "partitions::",
    "snapshot::resume",
];

/// Those of them that need row filters, column lists or whole schemas in publications, which came with 15.
const SINCE_15: &[&str] = &[
    "a_column_list_and_a_row_filter_of_the_publication_hold",
    "tables_of_a_schema_are_streamed",
    "tables_and_publications_that_will_hurt_are_named",
    "a_row_filter_and_a_column_list_hold_for_the_snapshot",
    "a_query_that_can_not_be_limited_is_refused",
    "a_partitioned_table_is_limited_by_its_root_and_not_by_its_partitions",
];

/// One step for each major but that which every group runs on.
fn majors() -> Vec<Step> {
    let usual = find().ok().map(|installation| installation.major);
    let step = |major: u32| {
        // They wait more than they work.
        let target = ["test", "--workspace", "--test", "connectors", "--test", "e2e", "--", "--test-threads", "6"];
        let outermost = [MAJORS[0], MAJORS[MAJORS.len() - 1]].contains(&major);
        let more = ON_THE_OUTERMOST.iter().filter(|_| outermost);
        let newer = SINCE_15.iter().filter(|_| major < 15).flat_map(|name| ["--skip", name]);
        let arguments: Vec<&str> = target.iter().chain(ON_EACH_MAJOR).chain(more).copied().chain(newer).collect();
        Step { major: Some(major), ..Step::new(&format!("postgres-{major}"), 10, &arguments) }
    };
    MAJORS.into_iter().filter(|major| Some(*major) != usual).map(step).collect()
}

/// The majors as the line of a step shows them.
pub fn majors_text() -> String {
    let numbers = MAJORS.map(|major| major.to_string());
    format!("PostgreSQL {}", numbers.join(", "))
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
