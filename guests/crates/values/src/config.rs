//! Choices that several configurations have in common.

use crate::{NamedNull, protect_op};
use faucet_sdk::{Error, Kind, Result, config};

/// A kind of values.
#[config]
#[derive(Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum KindName {
    /// True or false.
    Boolean,
    /// A whole number from -2^63 to 2^63-1.
    Int64,
    /// A whole number from 0 to 2^64-1.
    Uint64,
    /// A single-precision float.
    Float32,
    /// A double-precision float.
    Float64,
    /// A decimal number with every digit.
    Decimal,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A day and a time, without a zone.
    Timestamp,
    /// An instant.
    Timestamptz,
    /// A span of months, days and microseconds.
    Interval,
    /// A UUID.
    Uuid,
    /// A JSON document.
    Json,
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Boolean => Self::Boolean,
            KindName::Int64 => Self::Int64,
            KindName::Uint64 => Self::Uint64,
            KindName::Float32 => Self::Float32,
            KindName::Float64 => Self::Float64,
            KindName::Decimal => Self::Decimal,
            KindName::Text => Self::Text,
            KindName::Bytes => Self::Bytes,
            KindName::Date => Self::Date,
            KindName::Time => Self::Time,
            KindName::Timestamp => Self::Timestamp,
            KindName::Timestamptz => Self::Timestamptz,
            KindName::Interval => Self::Interval,
            KindName::Uuid => Self::Uuid,
            KindName::Json => Self::Json,
        }
    }
}

/// What to do about a column that a table does not have.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum OnMissing {
    /// Fail.
    #[default]
    Error,
    /// Go on without it.
    Ignore,
}

/// What to do about a value that can't become what it should.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// Fail the page.
    #[default]
    Fail,
    /// Make it null.
    Null,
    /// Report the row as failed, and go on with the others.
    Reject,
}

impl NamedNull for OnError {
    const NULL: Self = Self::Null;
}

/// What to do with an update that did not send all the columns a new value is made from.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum OnAbsent {
    /// Report the row as failed: the new value can't be known.
    #[default]
    Reject,
    /// Leave the value at the destination as it is.
    Leave,
}

/// Refuses a list of columns that is empty, or names one twice, or `__op`.
///
/// # Errors
/// If it does; `path` is where the list stands.
pub fn check_columns(names: &[String], path: &str) -> Result<()> {
    if names.is_empty() {
        return Err(Error::config(path, "names no column"));
    }
    for (at, name) in names.iter().enumerate() {
        protect_op(name, &format!("{path}[{at}]"))?;
        if names[..at].contains(name) {
            return Err(Error::config(format!("{path}[{at}]"), format!("names column '{name}' twice")));
        }
    }
    Ok(())
}
