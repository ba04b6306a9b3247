//! One value of a row, borrowed from the page.

use crate::Kind;

/// A value, borrowed from the page's buffers.
///
/// Absent is not null: an absent value is one the row says nothing about (an unchanged TOAST value, a column an update
/// did not send), and a sink leaves that column alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// The row says nothing about this column.
    Absent,
    /// SQL NULL.
    Null,
    /// Truth value.
    Boolean(bool),
    /// Signed integer.
    Int64(i64),
    /// Unsigned integer.
    Uint64(u64),
    /// Single-precision float.
    Float32(f32),
    /// Double-precision float.
    Float64(f64),
    /// Exact decimal text: digits with sign and point, `NaN`, `Infinity` or `-Infinity`.
    Decimal(&'a str),
    /// Text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Days since 1970-01-01; `i32::MIN` and `i32::MAX` are minus and plus infinity.
    Date(i32),
    /// Microseconds since midnight, up to and including 24:00:00.
    Time(i64),
    /// Microseconds since 1970-01-01 00:00:00 without a zone; `i64::MIN` and `i64::MAX` are the infinities.
    Timestamp(i64),
    /// Microseconds since 1970-01-01 00:00:00 UTC; `i64::MIN` and `i64::MAX` are the infinities.
    Timestamptz(i64),
    /// A span of time whose parts are independent.
    Interval(Interval),
    /// UUID in written order.
    Uuid([u8; 16]),
    /// A JSON document as exact text.
    Json(&'a str),
    /// The exact text of a type faucet has no kind for.
    Native(&'a str),
}

/// Months, days and microseconds; 1 month is not 30 days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    /// Microseconds.
    pub microseconds: i64,
    /// Days.
    pub days: i32,
    /// Months.
    pub months: i32,
}

impl<'a> Value<'a> {
    /// The kind of column this value belongs in; none for null and absent, which belong in any.
    pub fn kind(&self) -> Option<Kind> {
        Some(match self {
            Self::Absent | Self::Null => return None,
            Self::Boolean(_) => Kind::Boolean,
            Self::Int64(_) => Kind::Int64,
            Self::Uint64(_) => Kind::Uint64,
            Self::Float32(_) => Kind::Float32,
            Self::Float64(_) => Kind::Float64,
            Self::Decimal(_) => Kind::Decimal,
            Self::Text(_) => Kind::Text,
            Self::Bytes(_) => Kind::Bytes,
            Self::Date(_) => Kind::Date,
            Self::Time(_) => Kind::Time,
            Self::Timestamp(_) => Kind::Timestamp,
            Self::Timestamptz(_) => Kind::Timestamptz,
            Self::Interval(_) => Kind::Interval,
            Self::Uuid(_) => Kind::Uuid,
            Self::Json(_) => Kind::Json,
            Self::Native(_) => Kind::Native,
        })
    }

    /// Whether there is a value: neither null nor absent.
    pub fn is_present(&self) -> bool {
        self.kind().is_some()
    }

    /// The text of a text, decimal, json or native value.
    pub fn as_str(&self) -> Option<&'a str> {
        match *self {
            Self::Decimal(text) | Self::Text(text) | Self::Json(text) | Self::Native(text) => Some(text),
            Self::Absent | Self::Null | Self::Boolean(_) | Self::Int64(_) | Self::Uint64(_) | Self::Float32(_) => None,
            Self::Float64(_) | Self::Bytes(_) | Self::Date(_) | Self::Time(_) | Self::Timestamp(_) => None,
            Self::Timestamptz(_) | Self::Interval(_) | Self::Uuid(_) => None,
        }
    }
}

/// The name of a kind as `wit/` spells it, for messages and files.
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean => "boolean",
        Kind::Int64 => "int64",
        Kind::Uint64 => "uint64",
        Kind::Float32 => "float32",
        Kind::Float64 => "float64",
        Kind::Decimal => "decimal",
        Kind::Text => "text",
        Kind::Bytes => "bytes",
        Kind::Date => "date",
        Kind::Time => "time",
        Kind::Timestamp => "timestamp",
        Kind::Timestamptz => "timestamptz",
        Kind::Interval => "interval",
        Kind::Uuid => "uuid",
        Kind::Json => "json",
        Kind::Native => "native",
    }
}

/// How a kind lies in its column's `data`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One bit a row.
    Bits,
    /// This many bytes a row.
    Fixed(usize),
    /// UTF-8 cut by offsets.
    Text,
    /// Bytes cut by offsets.
    Bytes,
}

pub(crate) fn layout(kind: Kind) -> Layout {
    match kind {
        Kind::Boolean => Layout::Bits,
        Kind::Float32 | Kind::Date => Layout::Fixed(4),
        Kind::Int64 | Kind::Uint64 | Kind::Float64 | Kind::Time | Kind::Timestamp | Kind::Timestamptz => {
            Layout::Fixed(8)
        }
        Kind::Interval | Kind::Uuid => Layout::Fixed(16),
        Kind::Decimal | Kind::Text | Kind::Json | Kind::Native => Layout::Text,
        Kind::Bytes => Layout::Bytes,
    }
}
