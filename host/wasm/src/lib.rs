//! Runs WebAssembly components as sources, transforms and sinks.
//!
//! The only crate that knows wasmtime. To the engine a plugin is another implementation of the ports
//! ([`faucet_core::ports`]); what is special about it stays in here:
//!
//! * **It is a stranger.** It gets memory, time and its pages, and of the world what it asks for, the configuration grants
//!   and the operator allows (`grant`, `capability`, `outbound`). Whatever it hands over is checked before it is used
//!   (`v0_1`). It can fail, and it can't harm.
//! * **It is fast to start.** It compiles once per machine (`cache`); instances are cheap and live long.
//! * **It fails in words.** Every failure names the plugin, its digest, the call and the rows (`fault`).
//!
//! Versions of the boundary (`wit/`) are modules: `v0_1` is the only place that knows the types of version 0.1.

mod cache;
mod capability;
mod capture;
pub mod cases;
mod check;
mod deadline;
mod engine;
mod fault;
mod folders;
mod grant;
mod host;
mod identity;
mod limits;
mod log;
mod measure;
mod origin;
mod outbound;
mod part;
mod plugin;
mod preinit;
mod ready;
mod reload;
mod shadow;
mod task;
pub mod trials;
mod v0_1;

pub use fault::CODES;
pub use grant::{Access, Ceiling, DirGrant, Grants, Wants};
pub use host::{Host, HostOptions, LoadError};
pub use limits::Limits;
pub use origin::{Origin, PluginSpec};
pub use plugin::{Description, Names, Plugin};
pub use preinit::preinitialize;
pub use reload::Changing;
pub use v0_1::Role;
