//! What the ports promise, checked on everything that implements them.
//!
//! A promise is a function over a [`sinks::Destination`] or an [`origins::Origin`]; each implementation gets one test per
//! promise. A new connector adds a file under `subjects/` and one line there.
#![allow(clippy::unwrap_used)]

mod memory;
mod origins;
mod round_trips;
mod rows;
mod sinks;
mod subjects;
