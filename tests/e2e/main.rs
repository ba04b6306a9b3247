//! The binary against real servers.
#![allow(missing_docs, clippy::unwrap_used)]

mod dlq;
mod doctor;
mod drift;
mod mirror;
mod partitions;
mod snapshot;
mod stopping;
