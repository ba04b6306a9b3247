//! The mirror: snapshot a table, then stream its changes from a position captured before the snapshot.
//!
//! [`coordinator`] decides (no I/O), [`driver`] carries out, [`snapshot`] reads the rows that exist. Why there is neither gap nor duplicate:
//! every change after the captured position P is streamed; what changed last at or before P is read by the snapshot;
//! what is in both converges because rows are written by key, last write wins.

pub mod coordinator;
pub mod driver;
mod existing;
mod marker;
mod place;
mod route;
#[cfg(test)]
mod simulation;
pub mod snapshot;
mod survey;

pub use driver::{Mirror, run};
pub use existing::{Existing, NOT_EMPTY};
pub use marker::{BOOKMARK_MISSING, Marker, NOT_A_MARKER, PartsDone, Stage};
pub use place::{forget, stored};
pub use route::SECOND_TABLE;
pub use snapshot::{Rows, Snapshot};
pub use survey::RESYNC;

use crate::error::Code;

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&NOT_A_MARKER, &BOOKMARK_MISSING, &SECOND_TABLE, &NOT_EMPTY];
