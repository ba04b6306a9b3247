//! `cargo xtask bench`: what faucet costs next to PostgreSQL's own tools, on this machine.
//!
//! Each workload alternates with its baseline, run by run, so that a slow minute of the machine hits both; the medians
//! are compared. CPU is what counts: walls depend on who else is busy. A run whose result is wrong fails the bench, and so
//! does a figure that doesn't reach its goal (`goals`), after all is printed.

mod cdc;
mod goals;
mod languages;
mod measure;
mod noop;
mod report;
mod server;
mod steady;
mod tables;

use std::path::PathBuf;

use clap::Args;

use self::report::Outcome;
use self::server::Server;
use crate::failure::{Failure, Result};
use crate::{setup, workspace};

/// What to measure, and how often.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Measure this workload alone; may be given several times
    #[arg(long, value_name = "ID", value_parser = clap::builder::PossibleValuesParser::new(IDS))]
    only: Vec<String>,
    /// Write the results to this file, as a JSON list
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Runs of each side
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Use this binary instead of building a release
    #[arg(long, value_name = "FILE", env = "FAUCET_BIN")]
    faucet: Option<PathBuf>,
}

/// Every workload, in the order it is run.
const IDS: [&str; 15] = [
    "aa",
    "append",
    "append_pgcopydb",
    "append_mask",
    "upsert",
    "upsert_again",
    "jsonl",
    "wasm_noop",
    "languages",
    "c1",
    "c2",
    "c3",
    "c4",
    "c5",
    "steady",
];

/// Measured only when asked for: they take minutes, or tools of other languages.
const LONG: [&str; 2] = ["c5", "languages"];

/// What all workloads share.
struct Bench {
    faucet: PathBuf,
    server: Server,
    /// Outputs of faucet and of baselines.
    folder: PathBuf,
    runs: u32,
}

/// Runs the bench.
pub fn run(arguments: &Arguments) -> Result<()> {
    let by_default = |id: &str| arguments.only.is_empty() && !LONG.contains(&id);
    let wanted = |id: &&&str| by_default(id) || arguments.only.iter().any(|only| only == **id);
    let ids: Vec<&str> = IDS.iter().filter(wanted).copied().collect();
    let mut outcomes = Vec::new();
    if ids.contains(&"wasm_noop") {
        println!("wasm_noop: building and running the bench of faucet-wasm");
        outcomes.push(noop::measure()?);
    }
    let mut missed = Vec::new();
    if ids.contains(&"languages") {
        missed.extend(languages::measure(&faucet(arguments)?)?);
    }
    let rest: Vec<&str> = ids.iter().copied().filter(|id| !matches!(*id, "wasm_noop" | "languages")).collect();
    if !rest.is_empty() {
        let mut bench = Bench::prepare(arguments)?;
        for id in rest {
            outcomes.extend(bench.measure(id)?);
        }
    }
    if !outcomes.is_empty() {
        report::print(&outcomes);
    }
    if let Some(file) = &arguments.json {
        report::write(file, &outcomes)?;
        println!("\nwritten to {}", file.display());
    }
    missed.extend(goals::missed(&outcomes));
    match missed.as_slice() {
        [] => Ok(()),
        missed => Err(Failure::new(format!("goals that were not reached:\n  {}", missed.join("\n  ")))),
    }
}

/// The binary that is measured.
fn faucet(arguments: &Arguments) -> Result<PathBuf> {
    match &arguments.faucet {
        Some(faucet) => Ok(faucet.clone()),
        None => {
            println!("building a release of faucet (the first time takes a while)");
            workspace::build_faucet(&["--release", "--bin", "faucet"])
        }
    }
}

impl Bench {
    fn prepare(arguments: &Arguments) -> Result<Self> {
        setup::postgres::ensure()?;
        let faucet = faucet(arguments)?;
        let folder = workspace::scratch("bench")?;
        println!("starting a private PostgreSQL (fsync on) and making 1,000,000 orders");
        Ok(Self { faucet, server: Server::start()?, folder, runs: arguments.runs })
    }

    /// `None` where a workload needs a program that isn't there.
    fn measure(&mut self, id: &str) -> Result<Option<Outcome>> {
        match id {
            "aa" => tables::same(self),
            "append" => tables::append(self),
            "append_pgcopydb" => return tables::pgcopydb(self),
            "append_mask" => tables::append_mask(self),
            "upsert" => tables::upsert(self, id, false),
            "upsert_again" => tables::upsert(self, id, true),
            "jsonl" => tables::jsonl(self),
            "steady" => steady::steady(self),
            other => cdc::drain(self, other),
        }
        .map(Some)
    }
}
