//! Components in the real host: the golden cases of the first-party guests, the example project, and the boundary
//! itself over random pages; the bundled source and sink for HTTP, against a server with faults.
#![allow(clippy::unwrap_used)]

mod addresses;
mod boundary;
mod built;
mod cases;
mod http;
mod registry;
mod reload;
mod replay;
mod rest;
