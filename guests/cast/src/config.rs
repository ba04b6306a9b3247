//! The configuration.

use faucet_sdk::{Error, Result, config};
use faucet_values::config::{KindName, OnError, OnMissing};
use faucet_values::{Bytes, Epoch, OrNull, Ordered, Reading, protect_op, temporal};

/// Which columns to cast, and to what.
#[config]
pub struct Config {
    /// The new kind of each column, by its name.
    pub columns: Ordered<KindName>,
    /// What to do with a value that does not fit the new kind without losing something. Default: fail.
    #[serde(default)]
    pub on_error: OrNull<OnError>,
    /// The zone of local times, for casts between date or timestamp and timestamptz: UTC, or an offset like +02:00.
    #[serde(default)]
    pub zone: Option<String>,
    /// What a number counts since 1970-01-01 00:00:00, for casts between numbers and timestamps.
    #[serde(default)]
    pub epoch: Option<Unit>,
    /// How text stands for bytes. Default: hex.
    #[serde(default)]
    pub bytes: Form,
    /// Allow to cast a key column from text, json or a type without a kind to something else; two of its texts, like 1
    /// and 01, can become one value. Default: false.
    #[serde(default)]
    pub allow_key: bool,
    /// What to do if a table lacks a column. Default: error.
    #[serde(default)]
    pub on_missing: OnMissing,
}

/// What a number counts.
#[config]
#[derive(Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
}

/// How text stands for bytes.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// \x00ff, as PostgreSQL writes it.
    #[default]
    Hex,
    /// Base64 with padding.
    Base64,
    /// The bytes are the text in UTF-8.
    Utf8,
}

impl Config {
    pub(crate) fn check(&self) -> Result<()> {
        if self.columns.0.is_empty() {
            return Err(Error::config("columns", "names no column"));
        }
        self.columns.0.iter().try_for_each(|(name, _)| protect_op(name, &format!("columns.{name}")))
    }

    pub(crate) fn reading(&self) -> Result<Reading> {
        let offset = |zone: &String| {
            let no_zone = || Error::config("zone", "is neither UTC nor an offset like +02:00");
            temporal::offset(zone).ok_or_else(no_zone)
        };
        let epoch = self.epoch.map(|unit| match unit {
            Unit::Seconds => Epoch::Seconds,
            Unit::Milliseconds => Epoch::Milliseconds,
            Unit::Microseconds => Epoch::Microseconds,
        });
        let bytes = match self.bytes {
            Form::Hex => Bytes::Hex,
            Form::Base64 => Bytes::Base64,
            Form::Utf8 => Bytes::Utf8,
        };
        Ok(Reading { zone: self.zone.as_ref().map(offset).transpose()?, epoch, bytes })
    }
}
