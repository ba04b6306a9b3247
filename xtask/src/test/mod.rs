//! `cargo xtask test`: installs what is missing and runs the tests, one line per step.
//!
//! A step is one command. Its output goes to a log file and is shown when it fails; the first failure ends the run
//! with the command that repeats it. The last line is `N passed, N failed`, alone, over all steps.

mod counts;
mod plan;
mod progress;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use self::counts::Counts;
use self::plan::Step;
use self::progress::Line;
use crate::failure::{Failure, Result};
use crate::{setup, workspace};

/// What to test.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Run this group alone; may be given more than once
    #[arg(long, value_enum)]
    only: Vec<Group>,
}

impl Arguments {
    /// Every group.
    pub fn everything() -> Self {
        Self { only: Vec::new() }
    }
}

/// A group of tests, cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Group {
    /// Formatting and clippy without a warning, guests included
    Lint,
    /// Library and property tests, the rules on layers and sizes, the harness itself
    Unit,
    /// Doc tests, links, and every example configuration
    Docs,
    /// One suite over native, WebAssembly and in-memory ports
    Conformance,
    /// Recorded output: configs, errors, help
    Golden,
    /// Guests that lie, trap, loop and eat memory
    Hostile,
    /// Plugin projects in examples/, built and run
    Plugins,
    /// Plugin projects from an empty folder, in every language
    Authors,
    /// Ceilings on instruction counts
    Instructions,
    /// The mirror coordinator under a seeded simulator
    Sim,
    /// The binary against real servers
    E2e,
    /// The binary killed at every step
    Crash,
    /// What depends on the server, on every major version of PostgreSQL but the one that all groups run on
    Majors,
}

/// Runs the tests.
pub fn run(arguments: &Arguments) -> Result<()> {
    let start = Instant::now();
    let mut counts = Counts::default();
    let outcome = run_groups(arguments, &mut counts);
    println!("\n{:.0} s", start.elapsed().as_secs_f32());
    println!("{counts}");
    outcome
}

fn run_groups(arguments: &Arguments, counts: &mut Counts) -> Result<()> {
    let chosen = |group: &Group| arguments.only.is_empty() || arguments.only.contains(group);
    let groups: Vec<Group> = Group::value_variants().iter().copied().filter(chosen).collect();
    // Even to be checked, the binary's build script builds the components it carries.
    timed("components", || setup::wasm::ensure().map(|()| String::new()))?;
    if groups == [Group::Lint] {
        return run_steps(&plan::steps(&groups, &[])?, None, counts);
    }
    timed("servers", || setup::postgres::ensure().map(|i| format!("PostgreSQL {}", i.major)))?;
    if groups.iter().any(|group| matches!(group, Group::E2e | Group::Majors)) {
        timed("majors", || setup::majors::ensure().map(|()| plan::majors_text()))?;
    }
    if groups.iter().any(|group| matches!(group, Group::Unit | Group::Plugins)) {
        installed("docker-registry", "tests that push and pull plugins")?;
    }
    if groups.contains(&Group::Instructions) {
        installed("valgrind", "tests that count instructions")?;
    }
    if groups.contains(&Group::Authors) {
        timed("tools", || setup::authors::ensure().map(|()| String::new()))?;
    }
    let lint = groups.contains(&Group::Lint).then_some(Group::Lint);
    run_steps(&plan::steps(lint.as_slice(), &[])?, None, counts)?;
    let mut faucet = PathBuf::new();
    timed("build", || {
        faucet = workspace::build_faucet(&["--bins", "--tests"])?;
        Ok(String::new())
    })?;
    let rest: Vec<Group> = groups.iter().copied().filter(|g| *g != Group::Lint).collect();
    let targets = workspace::test_targets()?;
    missing_groups(&arguments.only, &targets)?;
    run_steps(&plan::steps(&rest, &targets)?, Some(&faucet), counts)
}

/// A group asked for by name must exist: nothing tested is not a success.
fn missing_groups(only: &[Group], targets: &[String]) -> Result<()> {
    for group in only {
        if plan::steps(&[*group], targets)?.is_empty() {
            return Err(Failure::new(format!("there are no tests of group {group:?} yet")));
        }
    }
    Ok(())
}

fn installed(program: &str, whoever: &str) -> Result<()> {
    timed(program, || setup::program::ensure(program, whoever).map(|()| String::new()))
}

fn timed(name: &str, work: impl FnOnce() -> Result<String>) -> Result<()> {
    let line = Line::start(name);
    match work() {
        Ok(note) => {
            line.passed(&note);
            Ok(())
        }
        Err(failure) => {
            line.failed("");
            Err(failure)
        }
    }
}

fn run_steps(steps: &[Step], faucet: Option<&Path>, counts: &mut Counts) -> Result<()> {
    for step in steps {
        let line = Line::start(&step.name);
        let log = workspace::scratch("test")?.join(format!("{}.log", step.name));
        let passed = run_logged(step, faucet, &log)?;
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let found = Counts::of(&text);
        counts.add(found);
        if passed {
            line.passed(&found.note());
            continue;
        }
        line.failed(&found.note());
        println!("\n{}", relevant(&text));
        let (name, log, again) = (&step.name, log.display(), step.again());
        return Err(Failure::new(format!("step `{name}` failed; all of it: {log}\nagain: {again}")));
    }
    Ok(())
}

fn run_logged(step: &Step, faucet: Option<&Path>, log: &Path) -> Result<bool> {
    let file = File::create(log)?;
    let mut command = step.command();
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    if let Some(faucet) = faucet {
        command.env("FAUCET_BIN", faucet);
    }
    let mut child = command.spawn()?;
    let deadline = Instant::now() + step.limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Failure::new(format!(
                "step `{}` took over {} s and was ended",
                step.name,
                step.limit.as_secs()
            )));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The end of a log, which is where compilers and test runners put what matters.
fn relevant(text: &str) -> String {
    const LINES: usize = 200;
    let interesting = |line: &&str| !line.trim_start().starts_with("Compiling ") && !line.ends_with(" ... ok");
    let lines: Vec<&str> = text.lines().filter(interesting).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
