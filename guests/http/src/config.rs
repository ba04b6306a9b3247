//! The configuration.

use client::{Auth, Retry};
use faucet_sdk::config;
use std::collections::BTreeMap;

/// Where rows go, and in what form.
#[config]
pub struct Config {
    /// The address. `{table}` in its path becomes the name of the rows' table.
    pub url: String,
    /// The method.
    #[serde(default)]
    pub method: Method,
    /// Headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Who the requests come from.
    #[serde(default)]
    pub auth: Option<Auth>,
    /// What a body looks like.
    #[serde(default)]
    pub format: Format,
    /// For the format `object`: the member that holds the rows.
    #[serde(default = "rows")]
    pub rows_key: String,
    /// The most rows of a request.
    #[serde(default = "batch_size")]
    pub batch_size: u32,
    /// The most bytes of a request's rows; a row that is larger goes alone.
    #[serde(default = "batch_bytes")]
    pub batch_bytes: u32,
    /// How numbers are written that a float of 64 bits may not hold.
    #[serde(default)]
    pub big_numbers: BigNumbers,
    /// A header, such as `Idempotency-Key`, for a digest of pipeline, table and body. A request that is sent again has
    /// the same one. Two batches with the same rows have too, so leave it out where equal rows are to be counted.
    #[serde(default)]
    pub idempotency_header: Option<String>,
    /// What to do about rows that the server refuses (400, 413 and 422).
    #[serde(default)]
    pub on_refused: OnRefused,
    /// What to do about answers that mean "later".
    #[serde(default)]
    pub retry: Retry,
    /// How long to wait for an answer, in seconds.
    #[serde(default = "timeout")]
    pub timeout_seconds: u32,
}

fn rows() -> String {
    "rows".to_owned()
}

fn batch_size() -> u32 {
    500
}

fn batch_bytes() -> u32 {
    1_000_000
}

fn timeout() -> u32 {
    20
}

/// The method of a request.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Adds.
    #[default]
    Post,
    /// Puts in place.
    Put,
    /// Changes.
    Patch,
}

/// What a body looks like.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// `[{..}, {..}]`.
    #[default]
    Array,
    /// One row a line (NDJSON).
    Lines,
    /// `{"rows": [{..}, {..}]}`, by the name in `rows_key`.
    Object,
    /// `{..}`: every row has a request of its own.
    Row,
}

/// How numbers are written that a float of 64 bits may not hold.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum BigNumbers {
    /// As numbers, with every digit. A receiver that reads floats rounds them.
    #[default]
    Number,
    /// Integers beyond 2^53 and all decimals as text.
    Text,
}

/// What to do about rows that the server refuses.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum OnRefused {
    /// Fail the run.
    #[default]
    Fail,
    /// Send the batch in halves, until the rows are found that are refused alone; they are set aside.
    Split,
}
