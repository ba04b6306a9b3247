//! The pipeline: read, transform and write overlap; one order of durability; trying again; stopping in good order.
//!
//! Start with [`pump`] for the stages and their invariants, then [`ack`] for the order.

pub mod ack;
mod chain;
pub mod channel;
mod claim;
mod difference;
mod dlq;
mod native;
mod progress;
pub mod pump;
mod retry;
mod run;
mod shutdown;
pub mod unwrap;
mod writer;

pub use chain::{Chain, ROWS_REJECTED};
pub use claim::{Beginning, Claiming, OTHER_WRITER, claim, verdict, writers_key};
pub use difference::{Difference, Values};
pub use dlq::{Allowance, DeadLetters, TOO_MANY};
pub use native::native_transforms;
pub use progress::{COMMITS_LOST, NOT_PROGRESS, Progress};
pub use pump::{Ended, Limits};
pub use retry::{Backoff, RetryPolicy};
pub(crate) use run::wait_before_retry;
pub use run::{Link, Opening, Recipe, Repeatable, Terms, attempt, last_token, run};
pub use shutdown::Stop;

use crate::error::Code;

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&ROWS_REJECTED, &NOT_PROGRESS, &COMMITS_LOST, &OTHER_WRITER, &TOO_MANY];
