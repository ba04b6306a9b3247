//! Trying again: when an error's retry axis says it can help, with delays that grow, are capped and are spread.

use rand::Rng;
use std::time::Duration;

use crate::error::{Error, Retry};

/// How often and how patiently to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in a row that may fail, the first included; `None` never gives up.
    pub max_attempts: Option<u32>,
    /// Delay before the second attempt.
    pub initial_backoff: Duration,
    /// No delay is longer.
    pub max_backoff: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: Some(5),
            initial_backoff: Duration::from_millis(500),
            max_backoff: Duration::from_secs(30),
        }
    }
}

/// Failures in a row, and what follows from them.
#[derive(Debug, Clone)]
pub struct Backoff {
    policy: RetryPolicy,
    failures: u32,
}

impl Backoff {
    /// No failure yet.
    pub fn new(policy: RetryPolicy) -> Self {
        Self { policy, failures: 0 }
    }

    /// Something succeeded: the next delay is the first one again.
    pub fn reset(&mut self) {
        self.failures = 0;
    }

    /// Counts a failure: how long to wait before trying again, or `None` to give up on it.
    pub fn after(&mut self, error: &Error) -> Option<Duration> {
        self.after_retry(error.retry())
    }

    /// [`Backoff::after`] for a failure of which only the retry axis is known.
    pub fn after_retry(&mut self, retry: Retry) -> Option<Duration> {
        self.failures = self.failures.saturating_add(1);
        let exhausted = self.policy.max_attempts.is_some_and(|max| self.failures >= max);
        (retry == Retry::Backoff && !exhausted).then(|| self.delay())
    }

    /// Doubles from failure to failure up to the cap; between half of that and all of it, by chance, so that processes
    /// that failed together don't come back together.
    fn delay(&self) -> Duration {
        let doublings = (self.failures - 1).min(20);
        let full = self.policy.initial_backoff.saturating_mul(1 << doublings).min(self.policy.max_backoff);
        full.mul_f64(rand::rng().random_range(0.5..=1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy {
        max_attempts: Some(4),
        initial_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_millis(250),
    };

    #[test]
    fn delays_grow_are_capped_and_end() {
        let mut backoff = Backoff::new(POLICY);
        let mut within = |low, high| {
            let delay = backoff.after_retry(Retry::Backoff).expect("still trying").as_millis();
            assert!((low..=high).contains(&delay), "{delay} ms is not within {low}..={high}");
        };
        within(50, 100);
        within(100, 200);
        within(125, 250);
        assert_eq!(backoff.after_retry(Retry::Backoff), None);
        backoff.reset();
        assert!(backoff.after_retry(Retry::Backoff).is_some());
    }

    #[test]
    fn only_faults_that_pass_are_tried_again() {
        let mut backoff = Backoff::new(RetryPolicy { max_attempts: None, ..POLICY });
        assert_eq!(backoff.after_retry(Retry::Never), None);
        assert_eq!(backoff.after_retry(Retry::Operator), None);
        assert!(backoff.after_retry(Retry::Backoff).is_some());
    }
}
