//! The native connectors: one folder each, one line each in [`registry`].

pub mod blocking;
pub mod file;
pub mod pages;
pub mod postgres;
pub mod registry;
pub mod sql;
pub mod sqlite;
pub mod stdout;
