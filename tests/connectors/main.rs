//! Connectors against the real servers they are for.
#![allow(clippy::unwrap_used)]

mod postgres;
mod postgres_cdc;
