//! Components that mean harm, or are broken: whatever they do, the host lives, says what happened, and the next plugin
//! works. The components are in `guests/`.
#![allow(clippy::unwrap_used)]

mod ahead;
mod calls;
mod ceilings;
mod files;
mod folders;
mod forge;
mod grants;
mod kept;
mod lair;
mod leaks;
mod measures;
mod outbound;
mod secrets;
mod server;
mod sessions;
mod sinks;
mod sources;
