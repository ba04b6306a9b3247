//! Components in the real host: the golden cases of the first-party guests, the example project, and the boundary
//! itself over random pages.
#![allow(clippy::unwrap_used)]

mod boundary;
mod built;
mod cases;
