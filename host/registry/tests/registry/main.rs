//! Pushing, pulling and locking, against a real registry and against one that breaks every rule.

#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod access;
mod artifacts;
mod faults;
mod locking;
mod secure;
