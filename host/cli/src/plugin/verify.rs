//! `faucet plugin verify`: a report on a component that somebody else made.

use std::time::{Duration, Instant};

use faucet_wasm::cases;
use serde_json::json;

use super::{inspect, subject, test};
use crate::args::{Global, Output, VerifyArgs};
use crate::display::Failure;
use crate::session;

/// More than this to instantiate and describe itself is worth knowing.
const SLOW_START: Duration = Duration::from_millis(500);

/// Prints the report; fails if there is a finding.
pub fn execute(global: &Global, args: &VerifyArgs) -> Result<(), Failure> {
    let plugin = subject::load(&args.component)?;
    let cases = args.cases.as_ref().map_or_else(|| Ok(Vec::new()), |path| cases::read(path)).map_err(Failure::Usage)?;
    let started = Instant::now();
    subject::load(&args.component)?;
    let start = started.elapsed();
    let tried = session::block_on(test::run(&args.component, &cases))??;
    let mut findings: Vec<String> = tried
        .iter()
        .filter_map(|tried| Some(format!("{}: {}", tried.what, tried.failure.as_deref()?.lines().next()?)))
        .collect();
    if start > SLOW_START {
        findings.push(format!("it takes {} ms to start from the cache", start.as_millis()));
    }
    let (about, asks) = (plugin.describe(), inspect::asked(&plugin.describe().wants));
    match global.output {
        Output::Json => println!(
            "{}",
            json!({"name": about.name, "version": about.version, "kind": plugin.role().name(), "sha256": plugin.digest(),
                   "asks_for": asks, "tried": tried.len(), "findings": findings})
        ),
        Output::Text => {
            println!("{} {} ({}), sha256 {}", about.name, about.version, plugin.role().name(), plugin.digest());
            asks.iter().for_each(|what| println!("asks for {what}"));
            println!("{} things tried", tried.len());
            findings.iter().for_each(|finding| println!("finding: {finding}"));
            println!("{}", if findings.is_empty() { "no finding" } else { "see above" });
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(Failure::Found) }
}
