//! One value, lent by a column.

/// A calendar interval: the three parts never mix (a month is not a number of days).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Interval {
    /// Whole months.
    pub months: i32,
    /// Whole days.
    pub days: i32,
    /// Microseconds.
    pub microseconds: i64,
}

impl Interval {
    /// The 16 bytes of the column layout: microseconds, days, months, little-endian.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut out = [0; 16];
        out[..8].copy_from_slice(&self.microseconds.to_le_bytes());
        out[8..12].copy_from_slice(&self.days.to_le_bytes());
        out[12..].copy_from_slice(&self.months.to_le_bytes());
        out
    }

    /// Reads the 16 bytes of the column layout.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
        Self {
            microseconds: i64::from_le_bytes([a, b, c, d, e, f, g, h]),
            days: i32::from_le_bytes([i, j, k, l]),
            months: i32::from_le_bytes([m, n, o, p]),
        }
    }
}

/// A value read from a slot. See [`super::Kind`] for what the numbers mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueRef<'a> {
    /// The source did not send this slot; leave the stored value alone (M2).
    Absent,
    /// SQL null.
    Null,
    /// True or false.
    Bool(bool),
    /// Signed integer.
    I64(i64),
    /// Unsigned integer.
    U64(u64),
    /// 32-bit float.
    F32(f32),
    /// 64-bit float.
    F64(f64),
    /// Exact decimal text.
    Decimal(&'a str),
    /// Text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01T00:00:00, no zone.
    Timestamp(i64),
    /// Microseconds since the Unix epoch.
    TimestampTz(i64),
    /// Months, days, microseconds.
    Interval(Interval),
    /// UUID bytes.
    Uuid(&'a [u8; 16]),
    /// JSON text.
    Json(&'a str),
    /// Exact native text.
    Native(&'a str),
}

impl ValueRef<'_> {
    /// Whether the slot holds neither a value nor a change: null or absent.
    pub fn is_missing(&self) -> bool {
        matches!(self, ValueRef::Absent | ValueRef::Null)
    }

    /// Bit-for-bit equality: `NaN` equals itself, `-0.0` differs from `0.0`.
    pub fn same(&self, other: &ValueRef<'_>) -> bool {
        match (self, other) {
            (ValueRef::F32(a), ValueRef::F32(b)) => a.to_bits() == b.to_bits(),
            (ValueRef::F64(a), ValueRef::F64(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        }
    }
}
