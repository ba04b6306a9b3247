//! Values as text, spelled as faucet's own files spell them: ISO 8601, and PostgreSQL's hex for bytes.

use crate::temporal;
use faucet_sdk::Value;

/// Appends the exact text of `value`: read back as the same kind, it is the same value. Null and absent have none, and
/// append nothing.
pub fn push_text(to: &mut String, value: Value<'_>) {
    match value {
        Value::Absent | Value::Null => {}
        Value::Boolean(v) => to.push_str(if v { "true" } else { "false" }),
        Value::Int64(v) => to.push_str(itoa::Buffer::new().format(v)),
        Value::Uint64(v) => to.push_str(itoa::Buffer::new().format(v)),
        Value::Float32(v) => push_float(to, v),
        Value::Float64(v) => push_float(to, v),
        Value::Decimal(v) | Value::Text(v) | Value::Json(v) | Value::Native(v) => to.push_str(v),
        Value::Bytes(v) => {
            to.push_str("\\x");
            push_hex(to, v);
        }
        Value::Date(v) => temporal::push_date(to, v),
        Value::Time(v) => temporal::push_time(to, v),
        Value::Timestamp(v) => temporal::push_timestamp(to, v, ""),
        Value::Timestamptz(v) => temporal::push_timestamp(to, v, "Z"),
        Value::Interval(v) => temporal::push_interval(to, v),
        Value::Uuid(v) => push_uuid(to, &v),
    }
}

/// Appends the shortest number that reads back as the same float, or `NaN`, `Infinity`, `-Infinity`.
pub(crate) fn push_float<F: ryu::Float + Into<f64>>(to: &mut String, value: F) {
    let wide: f64 = value.into();
    match wide {
        _ if wide.is_finite() => to.push_str(ryu::Buffer::new().format_finite(value)),
        _ if wide.is_nan() => to.push_str("NaN"),
        _ => to.push_str(if wide > 0.0 { "Infinity" } else { "-Infinity" }),
    }
}

/// Appends two lower-case digits for each byte.
pub fn push_hex(to: &mut String, bytes: &[u8]) {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    to.reserve(bytes.len() * 2);
    for byte in bytes {
        to.push(digit(byte >> 4));
        to.push(digit(byte & 15));
    }
}

fn push_uuid(to: &mut String, uuid: &[u8; 16]) {
    let mut at = 0;
    for length in [4, 2, 2, 2, 6] {
        if at > 0 {
            to.push('-');
        }
        push_hex(to, &uuid[at..at + length]);
        at += length;
    }
}
