//! Adds up what `cargo test` reports.

use std::fmt;

/// Tests that passed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed.
    pub passed: u64,
    /// Failed.
    pub failed: u64,
}

impl Counts {
    /// Sums the lines `test result: ok. 12 passed; 0 failed; ...` of a log.
    pub fn of(log: &str) -> Self {
        let mut sum = Self::default();
        for line in log.lines().filter_map(|l| l.trim_start().strip_prefix("test result: ")) {
            let number = |what: &str| -> u64 {
                let parts = line.split(['.', ';']).map(str::trim);
                parts.filter_map(|p| p.strip_suffix(what)?.trim().parse().ok()).next().unwrap_or(0)
            };
            sum.add(Self { passed: number("passed"), failed: number("failed") });
        }
        sum
    }

    /// Adds another sum.
    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    /// A few words for the step's line; none for a step that is not a test.
    pub fn note(&self) -> String {
        match (self.passed, self.failed) {
            (0, 0) => String::new(),
            (passed, 0) => format!("{passed} passed"),
            (passed, failed) => format!("{passed} passed, {failed} failed"),
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_several_binaries_are_summed() {
        let log = "running 2 tests\n\ntest result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.05s\n\
                   test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let counts = Counts::of(log);
        assert_eq!(counts, Counts { passed: 15, failed: 2 });
        assert_eq!(counts.to_string(), "15 passed, 2 failed");
        assert_eq!(Counts::of("warning: unused").note(), "");
    }
}
