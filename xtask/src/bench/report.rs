//! The figures, as a table and as JSON.

use std::path::Path;

use serde::Serialize;

use super::measure::{Sample, median};
use crate::failure::{Failure, Result};

/// What a workload cost, next to its baseline.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// The workload.
    pub id: String,
    /// Elapsed seconds.
    pub wall_s: f64,
    /// CPU seconds of faucet.
    pub cpu_s: f64,
    /// CPU seconds of the server meanwhile.
    pub pg_cpu_s: f64,
    /// Peak memory of faucet, MiB.
    pub rss_mib: f64,
    /// What it is compared with.
    pub baseline: String,
    /// Elapsed time in units of the baseline's.
    pub ratio_wall: f64,
    /// CPU in units of the baseline's, see [`Compare`].
    pub ratio_cpu: f64,
    /// For a steady load: milliseconds from commit to visible for half of the rows, in the worst run.
    pub p50_ms: Option<f64>,
    /// The same for 99 of 100 rows.
    pub p99_ms: Option<f64>,
    #[serde(skip)]
    reference: Sample,
}

/// Which CPU time `ratio_cpu` compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// That of the process and the server together: a baseline that is PostgreSQL itself does its work there.
    Everything,
    /// That of the process alone: both sides are faucet.
    Process,
}

impl Outcome {
    /// The medians of both sides.
    pub fn new(id: &str, baseline: &str, compare: Compare, faucet: &[Sample], reference: &[Sample]) -> Self {
        let (ours, theirs) = (median(faucet), median(reference));
        let cpu = |s: Sample| match compare {
            Compare::Everything => s.cpu_s + s.pg_cpu_s,
            Compare::Process => s.cpu_s,
        };
        Self {
            id: id.to_owned(),
            wall_s: rounded(ours.wall_s),
            cpu_s: rounded(ours.cpu_s),
            pg_cpu_s: rounded(ours.pg_cpu_s),
            rss_mib: rounded(ours.rss_mib),
            baseline: baseline.to_owned(),
            ratio_wall: rounded(ours.wall_s / theirs.wall_s),
            ratio_cpu: rounded(cpu(ours) / cpu(theirs)),
            p50_ms: None,
            p99_ms: None,
            reference: theirs,
        }
    }

    /// The same with how long rows took to be visible, in milliseconds.
    #[must_use]
    pub fn with_latency(self, p50: f64, p99: f64) -> Self {
        Self { p50_ms: Some(p50), p99_ms: Some(p99), ..self }
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// Prints all outcomes, each above its baseline.
pub fn print(outcomes: &[Outcome]) {
    println!("\n{:<34} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7}", "", "wall s", "cpu s", "pg cpu", "MiB", "x wall", "x cpu");
    for o in outcomes {
        println!(
            "{:<34} {:>8.2} {:>8.2} {:>8.2} {:>8.0} {:>7.2} {:>7.2}",
            o.id, o.wall_s, o.cpu_s, o.pg_cpu_s, o.rss_mib, o.ratio_wall, o.ratio_cpu
        );
        let r = o.reference;
        println!("  {:<32} {:>8.2} {:>8.2} {:>8.2} {:>8.0}", o.baseline, r.wall_s, r.cpu_s, r.pg_cpu_s, r.rss_mib);
    }
    println!(
        "\nMedians of runs that alternate. `x cpu` compares the CPU of process and server together; for append_mask \
         and wasm_noop, of the process alone."
    );
}

/// Writes the JSON list.
pub fn write(file: &Path, outcomes: &[Outcome]) -> Result<()> {
    let text = serde_json::to_string_pretty(outcomes).map_err(|e| Failure::new(e.to_string()))?;
    Ok(std::fs::write(file, text + "\n")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_compare_what_they_say() {
        let sample = |wall_s, cpu_s, pg_cpu_s| Sample { wall_s, cpu_s, pg_cpu_s, rss_mib: 0.0 };
        let (ours, theirs) = ([sample(3.0, 2.0, 4.0)], [sample(2.0, 1.0, 3.0)]);
        let everything = Outcome::new("x", "y", Compare::Everything, &ours, &theirs);
        assert_eq!((everything.ratio_wall, everything.ratio_cpu), (1.5, 1.5));
        assert_eq!(Outcome::new("x", "y", Compare::Process, &ours, &theirs).ratio_cpu, 2.0);
    }
}
