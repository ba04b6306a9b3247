//! The `postgres` query source and sink against a real server.

mod append;
mod ended;
mod exact;
mod fold;
mod order;
mod overwrite;
mod query;
mod support;
mod types;
mod upsert;
