//! The heart of faucet: the page model, the ports connectors implement, configuration, state, delivery, the pipeline
//! and the mirror coordinator. It knows no database driver, no WebAssembly runtime and no command line.
//!
//! Start with `host/ARCHITECTURE.md`; then [`model`], [`ports`], and `pipeline/ack.rs` for the order of durability.

pub mod config;
pub mod delivery;
pub mod error;
pub mod failpoint;
pub mod mirror;
pub mod model;
pub mod observe;
pub mod pipeline;
pub mod ports;
pub mod recording;
pub mod state;

pub use state::{KEY_SCHEME_VERSION, StateKey};

use error::Code;

/// Every error code this crate raises, for `faucet explain`.
pub fn codes() -> Vec<&'static Code> {
    let parts = [
        error::CODES,
        config::CODES,
        delivery::CODES,
        mirror::CODES,
        model::CODES,
        pipeline::CODES,
        pipeline::unwrap::CODES,
        ports::SINK_CODES,
        ports::SURVEY_CODES,
        recording::CODES,
        state::CODES,
    ];
    parts.concat()
}
