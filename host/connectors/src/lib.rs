//! The native connectors: one folder each, one line each in [`registry`].

pub mod postgres;
pub mod registry;
