//! What a new user sees first: help, and the errors everybody makes once. Recorded, so that a change is a decision.
#![allow(missing_docs, clippy::unwrap_used)]

mod first_errors;
mod help;
