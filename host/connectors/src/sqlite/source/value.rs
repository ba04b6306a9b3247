//! A stored value as a value of its column's kind, exactly or not at all.

use faucet_core::model::{ColumnBuilder, Kind, parse_date, parse_timestamp};
use rusqlite::types::{Value, ValueRef};

/// Whole numbers up to here, either way, are floats too.
const LARGEST_EXACT: u64 = 1 << 53;

/// Adds a stored value to a column. `false` when the column's kind can't hold it exactly; nothing was added then.
pub(super) fn push(column: &mut ColumnBuilder, value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Null => column.push_null(),
        ValueRef::Integer(value) => return push_integer(column, value),
        ValueRef::Real(value) => return push_real(column, value),
        ValueRef::Text(text) => {
            return std::str::from_utf8(text)
                .is_ok_and(|text| column.push_parsed(text).is_ok() || push_day(column, text));
        }
        ValueRef::Blob(bytes) => return push_blob(column, bytes),
    }
    true
}

fn push_integer(column: &mut ColumnBuilder, value: i64) -> bool {
    match column.kind() {
        Kind::I64 => column.push_i64(value),
        Kind::U64 if value >= 0 => column.push_u64(value as u64),
        Kind::Bool if value == 0 || value == 1 => column.push_bool(value == 1),
        Kind::F64 if value.unsigned_abs() <= LARGEST_EXACT => column.push_f64(value as f64),
        Kind::F32 if value.unsigned_abs() <= 1 << 24 => column.push_f32(value as f32),
        Kind::Decimal | Kind::Json => column.push_str(itoa::Buffer::new().format(value)),
        _ => return false,
    }
    true
}

fn push_real(column: &mut ColumnBuilder, value: f64) -> bool {
    match column.kind() {
        Kind::F64 => column.push_f64(value),
        Kind::F32 if f64::from(value as f32) == value => column.push_f32(value as f32),
        Kind::Decimal | Kind::Json if value.is_finite() => column.push_str(ryu::Buffer::new().format_finite(value)),
        _ => return false,
    }
    true
}

fn push_blob(column: &mut ColumnBuilder, bytes: &[u8]) -> bool {
    match (column.kind(), <[u8; 16]>::try_from(bytes)) {
        (Kind::Bytes, _) => column.push_bytes(bytes),
        (Kind::Uuid, Ok(uuid)) => column.push_uuid(uuid),
        _ => return false,
    }
    true
}

/// SQLite's own functions write a date alone where the time is midnight, and leave seconds out.
fn push_day(column: &mut ColumnBuilder, text: &str) -> bool {
    const MICROS_PER_DAY: i64 = 86_400_000_000;
    if column.kind() != Kind::Timestamp {
        return false;
    }
    let day = parse_date(text).filter(|&d| d != i32::MAX && d != i32::MIN);
    let micros = day.and_then(|days| i64::from(days).checked_mul(MICROS_PER_DAY)).or_else(|| parse_timestamp(text));
    micros.is_some_and(|micros| {
        column.push_i64(micros);
        true
    })
}

/// The kind that holds all of these values exactly, for a column whose declaration says nothing. `None` when they are of
/// several sorts.
pub(super) fn kind_of_values<'a>(values: impl Iterator<Item = &'a Value>) -> Option<Kind> {
    let mut kind = None;
    let mut largest = 0;
    for value in values {
        let one = match value {
            Value::Null => continue,
            Value::Integer(value) => {
                largest = largest.max(value.unsigned_abs());
                Kind::I64
            }
            Value::Real(_) => Kind::F64,
            Value::Text(_) => Kind::Text,
            Value::Blob(_) => Kind::Bytes,
        };
        kind = Some(match (kind, one) {
            (None, one) => one,
            (Some(Kind::I64), Kind::F64) | (Some(Kind::F64), Kind::I64) => Kind::F64,
            (Some(before), one) if before == one => one,
            _ => return None,
        });
    }
    match kind {
        Some(Kind::F64) if largest > LARGEST_EXACT => None,
        found => Some(found.unwrap_or(Kind::Text)),
    }
}

/// What to call a stored value in an error.
pub(super) fn sort(value: ValueRef<'_>) -> &'static str {
    match value {
        ValueRef::Null => "a null",
        ValueRef::Integer(_) => "an integer",
        ValueRef::Real(_) => "a float",
        ValueRef::Text(text) if std::str::from_utf8(text).is_err() => "text that is not UTF-8",
        ValueRef::Text(_) => "text",
        ValueRef::Blob(_) => "a blob",
    }
}
