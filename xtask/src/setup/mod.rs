//! Installs what tasks need, where that is possible without asking.

pub mod apt;
pub mod authors;
pub mod majors;
pub mod postgres;
pub mod program;
pub mod wasm;
