//! What crossing into a component costs: `noop` of the bench `boundary` of faucet-wasm, next to the goal of 25 ns a row.

use serde_json::Value;

use super::measure::Sample;
use super::report::{Compare, Outcome};
use crate::failure::{Failure, Result};
use crate::{process, workspace};

/// Rows in the page the bench passes in and out.
const ROWS: f64 = 1000.0;
/// The most a row may cost, in and out.
const GOAL_NS: f64 = 25.0;

/// Runs the bench. Figures are for 1,000,000 rows, like those of the other workloads.
pub fn measure() -> Result<Outcome> {
    let mut command =
        process::cargo(&["bench", "--quiet", "--workspace", "--bench", "boundary", "--", "boundary/noop"]);
    process::run(&mut command)?;
    let folder = workspace::target().join("criterion");
    let nanoseconds = estimate(&folder.join("boundary/noop/new/estimates.json"))? / ROWS;
    let copied = estimate(&folder.join("boundary/noop_all_buffers_new/new/estimates.json"))? / ROWS;
    let sample = |ns: f64| Sample { wall_s: ns / 1000.0, cpu_s: ns / 1000.0, ..Sample::default() };
    println!("wasm_noop: {nanoseconds:.1} ns a row in and out; {copied:.1} ns when every buffer comes back new");
    Ok(Outcome::new("wasm_noop", "25 ns a row", Compare::Process, &[sample(nanoseconds)], &[sample(GOAL_NS)]))
}

/// The median time of a page in nanoseconds, from what criterion writes.
fn estimate(file: &std::path::Path) -> Result<f64> {
    let text = std::fs::read_to_string(file).map_err(|e| Failure::new(format!("{}: {e}", file.display())))?;
    let value: Value = serde_json::from_str(&text).map_err(|e| Failure::new(format!("{}: {e}", file.display())))?;
    let median = value["median"]["point_estimate"].as_f64();
    median.ok_or_else(|| Failure::new(format!("{} has no median", file.display())))
}
