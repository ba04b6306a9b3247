//! What is checked: each implementation of the ports, as a destination or an origin.

mod files;
mod memory;
mod plugin;
mod postgres;
mod sqlite;
