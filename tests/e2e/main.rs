//! The binary against real servers.
#![allow(missing_docs, clippy::unwrap_used)]

mod advice;
mod config;
mod dlq;
mod doctor;
mod drift;
mod exact;
mod fencing;
mod identity;
mod keys;
mod majors;
mod mirror;
mod names;
mod partitions;
mod reports;
mod size;
mod snapshot;
mod stopping;
mod trace;
mod values;
mod waiting;
