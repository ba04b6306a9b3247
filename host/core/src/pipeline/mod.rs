//! The pipeline's own steps.

pub mod unwrap;
