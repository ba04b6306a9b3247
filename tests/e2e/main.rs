//! The binary against real servers.
#![allow(missing_docs, clippy::unwrap_used)]

mod mirror;
mod stopping;
