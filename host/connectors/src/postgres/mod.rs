//! PostgreSQL: query source, change stream and sink.
//!
//! [`endpoint`] says what a connection URL means, [`dial`] opens and encrypts a link on a [`socket`], [`connect`] makes sessions of it.
//! [`error`] maps what servers say to our codes. [`types`], [`decode`] and [`encode`] turn the server's types and values
//! into ours and back. [`query`] is the query source,
//! [`sink`] the sink.

pub mod cdc;
pub mod connect;
pub mod decode;
mod der;
pub mod dial;
pub mod encode;
pub mod endpoint;
pub mod error;
mod foreign;
mod name;
pub mod query;
pub mod sink;
pub mod socket;
pub mod tls;
pub mod types;
mod url;
mod verify;

pub use connect::Session;
pub use endpoint::{ConnectionUrl, Endpoint, TlsConfig};
