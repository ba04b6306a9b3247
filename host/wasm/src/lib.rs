//! Runs WebAssembly components as transforms.
//!
//! The only crate that knows wasmtime. To the engine a plugin is another implementation of
//! [`Transform`](faucet_core::ports::Transform); what is special about it stays in here:
//!
//! * **It is a stranger.** It gets memory, time and its page, and nothing of the world (`capability`). Whatever it
//!   hands over is checked before it is used (`v0_1::decode`). It can fail, and it can't harm.
//! * **It is fast to start.** It compiles once per machine (`cache`); instances are cheap and live long.
//! * **It fails in words.** Every failure names the plugin, its digest, the call and the rows (`fault`).
//!
//! Versions of the boundary (`wit/`) are modules: `v0_1` is the only place that knows the types of version 0.1.

mod cache;
mod capability;
mod capture;
mod deadline;
mod engine;
mod fault;
mod host;
mod limits;
mod log;
mod origin;
mod plugin;
mod v0_1;

pub use fault::CODES;
pub use host::{Host, HostOptions};
pub use limits::Limits;
pub use origin::{Origin, PluginSpec};
pub use plugin::{Description, Plugin};
