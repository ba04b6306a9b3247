//! Project tasks, run as `cargo xtask COMMAND`. One file or folder per command.
//!
//! They need nothing but Rust and, on Debian or Ubuntu as root, apt-get: what is missing is installed. Elsewhere they
//! say what is missing and end with code 3. A failed task ends with code 1.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line program speaks on its terminal")]

mod bench;
mod ci;
mod demo;
mod docs;
mod failure;
mod guests;
mod process;
mod setup;
mod test;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Result;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Project tasks of faucet", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what the tests need, then run them all (or one group)
    Test(test::Arguments),
    /// Mirror a small shop into SQLite while it changes, and compare the result
    Demo(demo::Arguments),
    /// Measure faucet next to PostgreSQL's own tools
    Bench(bench::Arguments),
    /// Write the reference pages of the book from what the binary says about itself
    Docs(docs::Arguments),
    /// Build the first-party components in guests/
    Guests,
    /// What continuous integration runs: every test, then the dependency rules
    Ci,
}

fn main() -> ExitCode {
    let outcome = run(Arguments::parse().task);
    if let Err(failure) = outcome {
        eprintln!("\n{failure}");
        return ExitCode::from(failure.code());
    }
    ExitCode::SUCCESS
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Test(arguments) => test::run(&arguments),
        Task::Demo(arguments) => demo::run(&arguments),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Docs(arguments) => docs::run(&arguments),
        Task::Guests => guests::run(),
        Task::Ci => ci::run(),
    }
}
