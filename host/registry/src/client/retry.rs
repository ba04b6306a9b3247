//! Trying again what may pass.

use super::Options;
use faucet_core::error::Error;
use rand::Rng;
use std::time::Duration;

/// Why an attempt failed.
pub(super) enum Failure {
    /// The same may work later, not before `after`.
    Passing {
        /// What went wrong.
        error: Error,
        /// What the registry asks for.
        after: Option<Duration>,
    },
    /// It will not.
    Final(Error),
}

impl Failure {
    /// One that may pass.
    pub(super) fn passing(error: Error) -> Self {
        Self::Passing { error, after: None }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

/// Makes attempts until one works, fails for good, or there have been enough of them.
pub(super) async fn persist<T, F: Future<Output = Result<T, Failure>>>(
    options: &Options,
    attempt: impl Fn() -> F,
) -> Result<T, Error> {
    let mut made = 1;
    loop {
        let (error, after) = match attempt().await {
            Ok(value) => return Ok(value),
            Err(Failure::Final(error)) => return Err(error),
            Err(Failure::Passing { error, after }) => (error, after),
        };
        if made >= options.attempts {
            return Err(error.context(format!("trying it {made} times")));
        }
        if let Some(after) = after.filter(|after| *after > options.longest_pause) {
            return Err(error.hint(format!("the registry asks to come back in {} s", after.as_secs())));
        }
        tokio::time::sleep(pause(options, made).max(after.unwrap_or_default())).await;
        made += 1;
    }
}

/// The pause after so many attempts: doubled each time, and spread, so that many who failed together don't come back
/// together.
fn pause(options: &Options, made: u32) -> Duration {
    let doubled = options.first_pause.saturating_mul(1 << (made - 1).min(16));
    doubled.min(options.longest_pause).mul_f64(rand::rng().random_range(0.5..=1.0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::fault::UNAVAILABLE;
    use std::cell::Cell;
    use std::time::Instant;

    fn quick() -> Options {
        let millis = Duration::from_millis;
        Options { attempts: 3, first_pause: millis(1), longest_pause: millis(100), ..Options::default() }
    }

    fn failed() -> Error {
        Error::new(&UNAVAILABLE, "no")
    }

    #[tokio::test]
    async fn it_ends_with_success_or_for_good_or_after_enough() {
        let made = Cell::new(0);
        let count = |failures: u32, failure: fn() -> Failure| {
            made.set(0);
            let made = &made;
            move || async move {
                made.set(made.get() + 1);
                if made.get() > failures { Ok(()) } else { Err(failure()) }
            }
        };
        assert!(persist(&quick(), count(2, || Failure::passing(failed()))).await.is_ok());
        assert_eq!(made.get(), 3);
        assert!(persist(&quick(), count(9, || Failure::passing(failed()))).await.is_err());
        assert_eq!(made.get(), 3);
        assert!(persist(&quick(), count(9, || Failure::Final(failed()))).await.is_err());
        assert_eq!(made.get(), 1);
        let much_later = || Failure::Passing { error: failed(), after: Some(Duration::from_secs(1000)) };
        let error = persist(&quick(), count(9, much_later)).await.unwrap_err();
        assert_eq!((made.get(), error.hint_text()), (1, Some("the registry asks to come back in 1000 s")));
    }

    #[tokio::test]
    async fn it_waits_as_long_as_it_is_asked_to() {
        let start = Instant::now();
        let later =
            || async { Err::<(), _>(Failure::Passing { error: failed(), after: Some(Duration::from_millis(50)) }) };
        let _ = persist(&quick(), later).await;
        assert!(start.elapsed() >= Duration::from_millis(100), "{:?}", start.elapsed());
    }

    #[test]
    fn pauses_grow_up_to_a_bound() {
        let options = Options::default();
        for made in 1..40 {
            let most = options.first_pause.saturating_mul(1 << (made - 1).min(16)).min(options.longest_pause);
            let pause = pause(&options, made);
            assert!(pause >= most / 2 && pause <= most, "{made}: {pause:?}");
        }
    }
}
