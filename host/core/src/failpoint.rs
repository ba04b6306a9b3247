//! Places where a crash can be ordered, for tests of what happens after one.
//!
//! A test starts the `faucet` binary with `FAUCET_FAILPOINT=name` or `FAUCET_FAILPOINT=name:n`; the process then aborts
//! at once, without unwinding or flushing anything, when it reaches that place for the first or the `n`-th time. With
//! the variable unset a failpoint costs one atomic load. The points, in the order of a mirror:
//!
//! | Name | Where |
//! |---|---|
//! | `after_capture` | a position is captured, nothing is stored yet |
//! | `mid_snapshot` | some of the snapshot is written |
//! | `after_part` | a part of the snapshot is durable and recorded as finished |
//! | `after_sink_commit` | the sink is durable, the state is not |
//! | `mid_state_write` | the new state file is written beside the old one |
//! | `after_state` | the state is durable, the source does not know |
//! | `mid_stream` | between two batches of the stream |

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The environment variable that arms a failpoint.
pub const VARIABLE: &str = "FAUCET_FAILPOINT";

static ARMED: OnceLock<Option<Armed>> = OnceLock::new();

/// Ends the process if the failpoint `name` is armed and due.
#[inline]
pub fn hit(name: &str) {
    if let Some(armed) = ARMED.get_or_init(|| std::env::var(VARIABLE).ok().and_then(|text| Armed::parse(&text)))
        && armed.is_due(name)
    {
        std::process::abort();
    }
}

struct Armed {
    name: String,
    /// How many hits are left before the last one.
    left: AtomicU64,
}

impl Armed {
    /// Reads `name` or `name:n`; nothing else arms anything.
    fn parse(text: &str) -> Option<Self> {
        let (name, nth) = match text.split_once(':') {
            Some((name, nth)) => (name, nth.parse::<u64>().ok()?.checked_sub(1)?),
            None => (text, 0),
        };
        (!name.is_empty()).then(|| Self { name: name.to_owned(), left: AtomicU64::new(nth) })
    }

    fn is_due(&self, name: &str) -> bool {
        let one_less = |left: u64| left.checked_sub(1);
        name == self.name && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_hit_is_due() {
        let armed = Armed::parse("mid_stream:3").unwrap();
        let due: Vec<_> = ["mid_stream", "other", "mid_stream", "mid_stream"].map(|name| armed.is_due(name)).into();
        assert_eq!(due, [false, false, false, true]);
        assert!(Armed::parse("mid_stream").unwrap().is_due("mid_stream"));
    }

    #[test]
    fn other_texts_arm_nothing() {
        for text in ["", ":", ":1", "x:0", "x:", "x:y", "x:1:2"] {
            assert!(Armed::parse(text).is_none(), "{text}");
        }
    }
}
