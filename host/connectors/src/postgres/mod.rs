//! PostgreSQL: query source, change stream and sink.

pub mod decode;
pub mod types;
