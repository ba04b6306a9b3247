//! Messages for the host's log.

pub use crate::bindings::faucet::connector::host::Level;

/// Writes a line to the host's log under the component's name. Never log a cell value or a secret.
///
/// In a native test it does nothing.
pub fn log(level: Level, message: &str) {
    #[cfg(target_family = "wasm")]
    crate::bindings::faucet::connector::host::log(level, message);
    #[cfg(not(target_family = "wasm"))]
    let _ = (level, message);
}
