//! The binary against real servers.
#![allow(missing_docs, clippy::unwrap_used)]

mod config;
mod doctor;
mod drift;
mod keys;
mod mirror;
mod names;
mod reports;
mod size;
mod stopping;
mod values;
