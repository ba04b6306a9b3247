//! Every native connector, by name.

use faucet_core::error::Code;
use faucet_core::ports::{AnySink, AnySource};

/// The sources, in the order `faucet list` shows them.
pub fn sources() -> Vec<Box<dyn AnySource>> {
    vec![]
}

/// The sinks, in the order `faucet list` shows them.
pub fn sinks() -> Vec<Box<dyn AnySink>> {
    vec![]
}

/// Every error code the connectors raise, for `faucet explain`.
pub fn codes() -> Vec<&'static Code> {
    use crate::postgres;
    let parts: [&[&'static Code]; 3] = [postgres::error::CODES, postgres::decode::CODES, postgres::types::CODES];
    parts.concat()
}
