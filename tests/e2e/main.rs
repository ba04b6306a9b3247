//! The binary against real servers.
#![allow(missing_docs, clippy::unwrap_used)]

mod doctor;
mod mirror;
mod stopping;
