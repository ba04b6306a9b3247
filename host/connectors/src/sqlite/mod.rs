//! `sqlite`: SQLite databases, as a source and as a sink.
//!
//! The driver blocks, so each connection lives on a thread of its own ([`crate::blocking`]).

pub mod error;
mod kinds;
mod name;
pub mod sink;
pub mod source;

pub use sink::{SqliteSink, SqliteSinkConfig};
pub use source::{SqliteSource, SqliteSourceConfig};

use faucet_core::config::Span;

/// How long to wait for a program that holds the database, unless `busy_timeout` says otherwise.
fn busy_timeout() -> Span {
    Span::from_secs(30)
}
