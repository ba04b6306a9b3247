//! What the host offers to every component: its log, metrics, and the names of secrets. In a native test all of it does
//! nothing.

pub use crate::bindings::faucet::connector::host::Level;

/// Writes a line to the host's log under the component's name. Never log a cell value or a secret.
pub fn log(level: Level, message: &str) {
    #[cfg(target_family = "wasm")]
    crate::bindings::faucet::connector::host::log(level, message);
    #[cfg(not(target_family = "wasm"))]
    let _ = (level, message);
}

/// Adds to a counter of the component. Names are `[a-z0-9_]+`.
pub fn count(metric: &str, by: u32) {
    #[cfg(target_family = "wasm")]
    crate::bindings::faucet::connector::host::count(metric, by);
    #[cfg(not(target_family = "wasm"))]
    let _ = (metric, by);
}

/// Sets a gauge of the component. Names are `[a-z0-9_]+`.
pub fn gauge(metric: &str, value: f64) {
    #[cfg(target_family = "wasm")]
    crate::bindings::faucet::connector::host::gauge(metric, value);
    #[cfg(not(target_family = "wasm"))]
    let _ = (metric, value);
}

/// Names of the secrets the component may use. It never sees the values: the host puts them where a header or the path
/// of a request says `${secret:NAME}`, or `${basic:USER:NAME}` for HTTP Basic authentication.
pub fn secrets() -> Vec<String> {
    #[cfg(target_family = "wasm")]
    return crate::bindings::faucet::connector::host::secrets();
    #[cfg(not(target_family = "wasm"))]
    Vec::new()
}
