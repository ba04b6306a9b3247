//! PostgreSQL: query source, change stream and sink.
//!
//! [`endpoint`] says what a connection URL means, [`dial`] opens and encrypts a link, [`connect`] makes sessions of it.
//! [`error`] maps what servers say to our codes. [`types`] and [`decode`] turn the server's types and values into ours.

pub mod connect;
pub mod decode;
mod der;
pub mod dial;
pub mod endpoint;
pub mod error;
pub mod tls;
pub mod types;
mod url;
mod verify;

pub use connect::Session;
pub use endpoint::{ConnectionUrl, Endpoint, TlsConfig};
