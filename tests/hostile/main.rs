//! Components that mean harm, or are broken: whatever they do, the host lives, says what happened, and the next plugin
//! works. The components are in `guests/`.
#![allow(clippy::unwrap_used)]

mod calls;
mod files;
mod forge;
mod kept;
mod lair;
mod leaks;
