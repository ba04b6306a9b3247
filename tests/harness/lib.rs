//! What tests need around faucet: real servers, a network that fails on command, the built binary, and oracles.
//!
//! Every server is a private process started from an installed binary, on a free loopback port, in a temporary folder.
//! It goes away when its handle is dropped, when a test panics, and when the test process itself is killed
//! (see [`watchdog`]). A server that isn't installed fails the test and says what installs it; nothing is skipped.
//!
//! Everything here blocks, so that tests are plain `#[test]` functions; it also works from inside an async test.
//! Functions that take a test's side panic with a message that names what went wrong. The `try_` ones return it,
//! for callers that are not tests.

pub mod compare;
pub mod database;
pub mod faucet;
pub mod http;
pub mod mirror;
pub mod postgres;
pub mod proxy;
pub mod runtime;
pub mod scratch;
pub mod table;
pub mod tls;
pub mod types;
pub mod wait;
pub mod watchdog;
pub mod workload;

pub use compare::{Difference, Row, Rows, assert_same_rows, sqlite_rows};
pub use database::{Client, Database, fresh_database, fresh_database_on, shared_postgres, shared_postgres_of};
pub use faucet::{Faucet, Finished, Running};
pub use http::{HttpReply, HttpRequest, HttpServer};
pub use postgres::{Postgres, PostgresOptions};
pub use proxy::Proxy;
pub use scratch::Scratch;
pub use table::{Shape, TableMirror, rows_read};
pub use wait::eventually;
pub use workload::{Workload, WorkloadStats, Writer};
