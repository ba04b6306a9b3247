//! The heart of faucet: the page model, the ports connectors implement, configuration, state, delivery, the pipeline
//! and the mirror coordinator. It knows no database driver, no WebAssembly runtime and no command line.
//!
//! Start with `host/ARCHITECTURE.md`; then [`model`], [`ports`], and `pipeline/ack.rs` for the order of durability.

pub mod config;
pub mod delivery;
pub mod error;
pub mod failpoint;
pub mod model;
pub mod pipeline;
pub mod ports;
pub mod state;

pub use state::{KEY_SCHEME_VERSION, StateKey};
