//! The figures that have to be reached. The bench fails with those that aren't, after it printed everything.

use super::report::Outcome;

/// What is looked at.
enum Figure {
    /// Elapsed time in units of the baseline's.
    RatioWall,
    /// CPU seconds of faucet.
    Cpu,
    /// CPU of faucet in units of its baseline's, which is faucet too.
    RatioCpu,
    /// Peak memory of faucet, MiB.
    Memory,
    /// Milliseconds from commit to visible, for half of the rows.
    Half,
    /// The same for 99 of 100.
    Most,
}

impl Figure {
    fn name(&self) -> &'static str {
        match self {
            Self::RatioWall => "times the baseline's wall",
            Self::Cpu => "s of CPU",
            Self::RatioCpu => "times the baseline's CPU",
            Self::Memory => "MiB",
            Self::Half => "ms for half of the rows",
            Self::Most => "ms for 99 of 100 rows",
        }
    }

    fn of(&self, outcome: &Outcome) -> Option<f64> {
        match self {
            Self::RatioWall => Some(outcome.ratio_wall),
            Self::Cpu => Some(outcome.cpu_s),
            Self::RatioCpu => Some(outcome.ratio_cpu),
            Self::Memory => Some(outcome.rss_mib),
            Self::Half => outcome.p50_ms,
            Self::Most => outcome.p99_ms,
        }
    }
}

/// Workload, figure, and the most it may be.
const GOALS: [(&str, Figure, f64); 13] = [
    ("append", Figure::RatioWall, 1.5),
    ("append", Figure::Cpu, 2.0),
    ("append_mask", Figure::RatioCpu, 1.25),
    ("upsert", Figure::RatioWall, 1.2),
    ("upsert_again", Figure::RatioWall, 1.2),
    // Into a component and out again, of 25 ns a row.
    ("wasm_noop", Figure::RatioWall, 1.0),
    ("c1", Figure::Cpu, 2.5),
    ("c1", Figure::RatioWall, 0.8),
    ("c3", Figure::RatioWall, 0.5),
    ("c4", Figure::Memory, 96.0),
    ("c5", Figure::Memory, 128.0),
    ("steady", Figure::Half, 50.0),
    ("steady", Figure::Most, 250.0),
];

/// How much more CPU exactly-once may take than at-least-once.
const EXACTLY_ONCE: f64 = 1.05;

/// The goals that were not reached, in words.
pub fn missed(outcomes: &[Outcome]) -> Vec<String> {
    let of = |id: &str| outcomes.iter().find(|outcome| outcome.id == id);
    let mut missed: Vec<String> = GOALS
        .iter()
        .filter_map(|(id, figure, most)| {
            let is = figure.of(of(id)?)?;
            (is > *most).then(|| format!("{id}: {is:.2} {}, and at most {most} is the goal", figure.name()))
        })
        .collect();
    if let (Some(once), Some(plain)) = (of("c2"), of("c1"))
        && once.cpu_s > plain.cpu_s * EXACTLY_ONCE
    {
        missed.push(format!(
            "c2: {:.2} s of CPU, and at most 5 % more than the {:.2} of c1 is the goal",
            once.cpu_s, plain.cpu_s
        ));
    }
    missed
}

#[cfg(test)]
mod tests {
    use super::super::measure::Sample;
    use super::super::report::Compare;
    use super::*;

    fn outcome(id: &str, wall_s: f64, cpu_s: f64) -> Outcome {
        let sample = |wall_s, cpu_s| Sample { wall_s, cpu_s, pg_cpu_s: 0.0, rss_mib: 50.0 };
        Outcome::new(id, "x", Compare::Process, &[sample(wall_s, cpu_s)], &[sample(1.0, 1.0)])
    }

    #[test]
    fn what_is_above_its_goal_is_told() {
        let fine = [outcome("append", 1.4, 1.9), outcome("c1", 0.7, 2.0), outcome("c2", 0.7, 2.1)];
        assert_eq!(missed(&fine), Vec::<String>::new());
        let slow =
            [outcome("append", 1.6, 2.1), outcome("c3", 0.6, 1.0), outcome("c1", 0.7, 1.0), outcome("c2", 0.7, 1.2)];
        let told = missed(&slow);
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told[0].starts_with("append: 1.60 times the baseline's wall"), "{told:?}");
        let late = outcome("steady", 1.0, 1.0).with_latency(51.0, 100.0);
        assert_eq!(missed(&[late]), ["steady: 51.00 ms for half of the rows, and at most 50 is the goal"]);
    }
}
