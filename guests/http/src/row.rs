//! Rows as JSON objects.

use crate::config::BigNumbers;
use crate::temporal::{date, interval, time, timestamp};
use faucet_sdk::{Column, Page, Result, Value};
use std::borrow::Cow;

/// Integers up to here are exact in every reader.
const EXACT: u64 = 1 << 53;

/// Writes the rows of a page.
pub(crate) struct Rows<'a> {
    /// Each with its name as JSON.
    columns: Vec<(String, Column<'a>)>,
    big_numbers: BigNumbers,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(page: &Page<'a>, big_numbers: BigNumbers) -> Result<Self> {
        let named = |column: Result<Column<'a>>| column.map(|column| (quoted(column.name()), column));
        Ok(Self { columns: page.columns().map(named).collect::<Result<_>>()?, big_numbers })
    }

    /// Appends a row as an object on one line. What is absent is left out.
    pub(crate) fn push(&self, row: usize, out: &mut Vec<u8>) {
        let start = out.len();
        for (name, column) in &self.columns {
            let value = column.value(row);
            if value == Value::Absent {
                continue;
            }
            out.push(if out.len() == start { b'{' } else { b',' });
            out.extend_from_slice(name.as_bytes());
            out.push(b':');
            out.extend_from_slice(json(value, self.big_numbers).as_bytes());
        }
        if out.len() == start {
            out.push(b'{');
        }
        out.push(b'}');
    }
}

/// A value as JSON.
fn json(value: Value<'_>, big_numbers: BigNumbers) -> Cow<'_, str> {
    let number = |digits: String, exact: bool| match (exact, big_numbers) {
        (false, BigNumbers::Text) => format!("\"{digits}\""),
        _ => digits,
    };
    Cow::Owned(match value {
        Value::Absent | Value::Null => return Cow::Borrowed("null"),
        Value::Boolean(v) => v.to_string(),
        Value::Int64(v) => number(v.to_string(), v.unsigned_abs() <= EXACT),
        Value::Uint64(v) => number(v.to_string(), v <= EXACT),
        Value::Float32(v) => float(v.is_finite(), serde_json::to_string(&v), f64::from(v)),
        Value::Float64(v) => float(v.is_finite(), serde_json::to_string(&v), v),
        Value::Decimal("NaN" | "Infinity" | "-Infinity") => quoted(value.as_str().unwrap_or_default()),
        Value::Decimal(v) => number(decimal(v), false),
        Value::Text(v) | Value::Native(v) => quoted(v),
        // A line break can only stand between the parts of a document, where a blank means the same.
        Value::Json(v) => return one_line(v),
        Value::Bytes(v) => format!("\"\\\\x{}\"", hex(v)),
        Value::Uuid(v) => uuid(&hex(&v)),
        Value::Date(v) => quoted(&date(v)),
        Value::Time(v) => quoted(&time(v)),
        Value::Timestamp(v) => quoted(&timestamp(v, "")),
        Value::Timestamptz(v) => quoted(&timestamp(v, "Z")),
        Value::Interval(v) => quoted(&interval(v)),
    })
}

fn one_line(document: &str) -> Cow<'_, str> {
    match document.contains(['\n', '\r']) {
        true => Cow::Owned(document.replace(['\n', '\r'], " ")),
        false => Cow::Borrowed(document),
    }
}

/// The shortest text that reads back as the same float; one that is no number as text.
fn float(finite: bool, shortest: serde_json::Result<String>, value: f64) -> String {
    match shortest {
        Ok(text) if finite => text,
        _ if value.is_nan() => quoted("NaN"),
        _ => quoted(if value > 0.0 { "Infinity" } else { "-Infinity" }),
    }
}

/// Digits as JSON wants them: no plus, no leading zero, digits on both sides of a point.
fn decimal(text: &str) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, rest) = digits.split_at(digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len()));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let rest = match rest.strip_prefix('.') {
        Some(after) if !after.starts_with(|c: char| c.is_ascii_digit()) => after,
        _ => rest,
    };
    format!("{sign}{whole}{rest}")
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Hex digits in pairs.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn uuid(hex: &str) -> String {
    format!("\"{}-{}-{}-{}-{}\"", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use faucet_sdk::Interval;

    #[test]
    fn every_kind_has_a_form() {
        let cases = [
            (Value::Null, "null"),
            (Value::Boolean(true), "true"),
            (Value::Int64(i64::MIN), "-9223372036854775808"),
            (Value::Uint64(u64::MAX), "18446744073709551615"),
            (Value::Float32(0.1), "0.1"),
            (Value::Float64(-0.0), "-0.0"),
            (Value::Float64(1e300), "1e+300"),
            (Value::Float64(f64::NAN), r#""NaN""#),
            (Value::Float32(f32::NEG_INFINITY), r#""-Infinity""#),
            (Value::Decimal("+007.50"), "7.50"),
            (Value::Decimal("-.5"), "-0.5"),
            (Value::Decimal("5."), "5"),
            (Value::Decimal("1.e3"), "1e3"),
            (Value::Decimal("NaN"), r#""NaN""#),
            (Value::Text("a\"\n\u{1}é"), r#""a\"\n\u0001é""#),
            (Value::Bytes(&[0, 255]), r#""\\x00ff""#),
            (Value::Date(0), r#""1970-01-01""#),
            (Value::Interval(Interval::default()), r#""PT0S""#),
            (Value::Uuid([17; 16]), r#""11111111-1111-1111-1111-111111111111""#),
            (Value::Json("{\"a\":\n1.50}"), "{\"a\": 1.50}"),
        ];
        for (value, wanted) in cases {
            assert_eq!(json(value, BigNumbers::Number), wanted, "{value:?}");
        }
    }

    #[test]
    fn big_numbers_may_be_text() {
        let text = |value| json(value, BigNumbers::Text).into_owned();
        assert_eq!(text(Value::Int64(1 << 53)), "9007199254740992");
        assert_eq!(text(Value::Int64(-(1 << 53) - 1)), r#""-9007199254740993""#);
        assert_eq!(
            (text(Value::Uint64(u64::MAX)), text(Value::Decimal("1.5"))),
            (r#""18446744073709551615""#.into(), r#""1.5""#.into())
        );
        assert_eq!(text(Value::Float64(1e300)), "1e+300");
    }
}
