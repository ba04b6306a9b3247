//! When to try again.

use crate::moment::{http_date, is_still, unix_now};
use faucet_sdk::{Error, Result, config};
use std::time::Duration;

/// The longest pause that is waited for; a server that asks for more is left alone until the next run.
const LONGEST: Duration = Duration::from_secs(3600);

/// What to do about answers that mean "later": 408, 429, 5xx, and none at all.
#[config]
#[derive(Copy, PartialEq, Eq)]
#[serde(default)]
pub struct Retry {
    /// How often a request is repeated before the run fails. Default: 5.
    pub max_retries: u32,
    /// The first pause, in milliseconds; each further one is twice as long. Default: 500.
    pub initial_ms: u32,
    /// The longest pause, in milliseconds. A server's Retry-After counts instead where there is one. Default: 30000.
    pub max_ms: u32,
}

impl Default for Retry {
    fn default() -> Self {
        Self { max_retries: 5, initial_ms: 500, max_ms: 30_000 }
    }
}

/// An answer that means "later".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Later {
    /// How long the server asks to wait.
    pub after: Option<Duration>,
    /// What happened, for a person.
    pub why: String,
}

/// How often a request has failed, and how long to wait for it.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    retry: Retry,
    failed: u32,
}

impl Backoff {
    /// Nothing has failed yet.
    pub fn new(retry: Retry) -> Self {
        Self { retry, failed: 0 }
    }

    /// A request succeeded.
    pub fn reset(&mut self) {
        self.failed = 0;
    }

    /// A request failed: the pause before the next try.
    ///
    /// # Errors
    /// [`Error::unavailable`] if it failed too often, or the server asks for more time than anybody waits.
    pub fn next(&mut self, later: &Later) -> Result<Duration> {
        self.failed += 1;
        if self.failed > self.retry.max_retries {
            return Err(Error::unavailable(format!("{} (tried {} times)", later.why, self.failed)));
        }
        let doubled = u64::from(self.retry.initial_ms) << (self.failed - 1).min(31);
        let pause = later.after.unwrap_or(Duration::from_millis(doubled.min(self.retry.max_ms.into())));
        if pause > LONGEST {
            let seconds = pause.as_secs();
            return Err(Error::unavailable(format!("{}, and asks to come back in {seconds} seconds", later.why)));
        }
        Ok(pause)
    }
}

/// The pause that a `Retry-After` header asks for: seconds, or a date (RFC 9110, section 10.2.3).
///
/// None if it says neither, or says a date and the clock stands still.
pub fn retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(value.parse().map_or(Duration::MAX, Duration::from_secs));
    }
    let now = unix_now();
    let moment = http_date(value).filter(|_| !is_still(now))?;
    let now = i64::try_from(now.as_secs()).ok()?;
    Some(Duration::from_secs(u64::try_from(moment - now).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn later(after: Option<u64>) -> Later {
        Later { after: after.map(Duration::from_secs), why: "no answer".to_owned() }
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut backoff = Backoff::new(Retry { max_retries: 5, initial_ms: 100, max_ms: 450 });
        let pauses: Vec<_> = (0..5).map(|_| backoff.next(&later(None)).map(|pause| pause.as_millis())).collect();
        assert_eq!(pauses, [Ok(100), Ok(200), Ok(400), Ok(450), Ok(450)]);
        let error = backoff.next(&later(None)).expect_err("it failed too often");
        assert!(error.is_unavailable() && error.to_string() == "no answer (tried 6 times)", "{error}");
        backoff.reset();
        assert_eq!(backoff.next(&later(None)), Ok(Duration::from_millis(100)));
    }

    #[test]
    fn a_server_is_asked_again_when_it_says() {
        let mut backoff = Backoff::new(Retry::default());
        assert_eq!(backoff.next(&later(Some(7))), Ok(Duration::from_secs(7)));
        assert_eq!(backoff.next(&later(Some(0))), Ok(Duration::ZERO));
        assert!(backoff.next(&later(Some(3601))).is_err_and(|error| error.to_string().contains("3601 seconds")));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(retry_after(" 120 "), Some(Duration::from_secs(120)));
        assert_eq!(retry_after("99999999999999999999999"), Some(Duration::MAX));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO), "it has passed");
        let far = retry_after("Fri, 31 Dec 9999 23:59:59 GMT").expect("a date");
        assert!(far > Duration::from_secs(1 << 32), "{far:?}");
        for none in ["", "soon", "-1", "1.5", "Sun, 06 Nov 1994"] {
            assert_eq!(retry_after(none), None, "{none}");
        }
    }
}
