//! What the sinks into SQL databases share: which rows delete, and what a page comes down to per key.

mod aside;
mod drift;
mod fold;
mod key;
mod marker;
mod order;
mod written;

pub use aside::{OfRows, Parts, QUARANTINED, check_left_out};
pub use drift::{TYPE_INCOMPATIBLE, incompatible, tell};
pub use fold::{Folded, Keying, Rest, Upsert, fold};
pub use key::{KEY_NULL, RowKey, check_key};
pub use marker::{DeleteMarker, MarkerValue, OnTruncate, RowOp, TRUNCATED, classify};
pub use order::{Change, Stretch, each_change, stretches};
pub use written::Written;

use faucet_core::error::Code;

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&KEY_NULL, &TRUNCATED, &TYPE_INCOMPATIBLE, &QUARANTINED];
