//! What sources of files and embedded databases have in common: columns declared by the user, and how large pages get.

use faucet_core::error::Problem;
use faucet_core::model::Kind;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The kinds by column name.
pub type DeclaredColumns = BTreeMap<String, DeclaredKind>;

/// A [`Kind`] as it is written in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeclaredKind {
    /// True or false.
    #[serde(rename = "boolean")]
    Bool,
    /// A whole number of 64 bits.
    #[serde(rename = "int64")]
    I64,
    /// A whole number of 64 bits without a sign.
    #[serde(rename = "uint64")]
    U64,
    /// A 32-bit float.
    #[serde(rename = "float32")]
    F32,
    /// A 64-bit float.
    #[serde(rename = "float64")]
    F64,
    /// An exact decimal number.
    Decimal,
    /// Text.
    Text,
    /// Bytes, written `\x00ff`.
    Bytes,
    /// A date.
    Date,
    /// A time of day.
    Time,
    /// A date and time without a zone.
    Timestamp,
    /// A date and time with a zone.
    TimestampTz,
    /// An ISO 8601 interval.
    Interval,
    /// A UUID.
    Uuid,
    /// JSON.
    Json,
}

impl From<DeclaredKind> for Kind {
    fn from(declared: DeclaredKind) -> Self {
        match declared {
            DeclaredKind::Bool => Kind::Bool,
            DeclaredKind::I64 => Kind::I64,
            DeclaredKind::U64 => Kind::U64,
            DeclaredKind::F32 => Kind::F32,
            DeclaredKind::F64 => Kind::F64,
            DeclaredKind::Decimal => Kind::Decimal,
            DeclaredKind::Text => Kind::Text,
            DeclaredKind::Bytes => Kind::Bytes,
            DeclaredKind::Date => Kind::Date,
            DeclaredKind::Time => Kind::Time,
            DeclaredKind::Timestamp => Kind::Timestamp,
            DeclaredKind::TimestampTz => Kind::TimestampTz,
            DeclaredKind::Interval => Kind::Interval,
            DeclaredKind::Uuid => Kind::Uuid,
            DeclaredKind::Json => Kind::Json,
        }
    }
}

/// How much a page of a file or an embedded database holds at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageLimits {
    /// Rows.
    pub rows: usize,
    /// Bytes; a page ends with the row that reaches it.
    pub bytes: usize,
}

/// Rows in a page unless `batch_size` says otherwise.
pub(crate) const DEFAULT_BATCH_SIZE: usize = 1000;

/// Bytes in a page, whatever `batch_size` says: what keeps memory bounded when rows are large.
const PAGE_BYTES: usize = 4 << 20;

impl PageLimits {
    /// The limits under a `batch_size`.
    pub(crate) fn of(batch_size: usize) -> Self {
        Self { rows: batch_size.max(1), bytes: PAGE_BYTES }
    }

    /// Whether a page of this many rows and bytes is full.
    pub(crate) fn reached(self, rows: usize, bytes: usize) -> bool {
        rows >= self.rows || bytes >= self.bytes
    }
}

/// What is wrong with a `batch_size`.
pub(crate) fn check_batch_size(batch_size: usize) -> Option<Problem> {
    let message = "a page needs at least one row";
    (batch_size == 0).then(|| Problem::error("batch_size", message).hint("leave it out for 1000"))
}
