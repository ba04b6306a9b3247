//! Values as JSON, as faucet's JSON files have them.

use crate::text::push_text;
use faucet_sdk::Value;

/// Appends `value` as JSON: truth values and numbers as such, with every digit; a JSON document as it is; all else as a
/// string that holds its exact text. Null and absent are `null`.
pub fn push_json(to: &mut String, value: Value<'_>) {
    match value {
        Value::Absent | Value::Null => to.push_str("null"),
        Value::Boolean(_) | Value::Int64(_) | Value::Uint64(_) | Value::Json(_) => push_text(to, value),
        Value::Float32(v) if v.is_finite() => push_text(to, value),
        Value::Float64(v) if v.is_finite() => push_text(to, value),
        Value::Decimal(text) if !is_special(text) => push_number(to, text),
        Value::Text(text) | Value::Native(text) => push_json_string(to, text),
        // No character of these needs an escape.
        Value::Float32(_) | Value::Float64(_) | Value::Decimal(_) | Value::Date(_) | Value::Time(_) => {
            push_quoted(to, value);
        }
        Value::Timestamp(_) | Value::Timestamptz(_) | Value::Interval(_) | Value::Uuid(_) => push_quoted(to, value),
        Value::Bytes(bytes) => {
            to.push_str("\"\\\\x");
            crate::text::push_hex(to, bytes);
            to.push('"');
        }
    }
}

fn push_quoted(to: &mut String, value: Value<'_>) {
    to.push('"');
    push_text(to, value);
    to.push('"');
}

fn is_special(decimal: &str) -> bool {
    matches!(decimal, "NaN" | "Infinity" | "-Infinity")
}

/// JSON wants a digit on both sides of a point, no plus and no zero in front.
fn push_number(to: &mut String, decimal: &str) {
    let digits = decimal.strip_prefix(['-', '+']).unwrap_or(decimal);
    if decimal.starts_with('-') {
        to.push('-');
    }
    let whole = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (whole, rest) = digits.split_at(whole);
    match whole.trim_start_matches('0') {
        "" => to.push('0'),
        whole => to.push_str(whole),
    }
    let is_bare_point = rest.starts_with('.') && !rest[1..].starts_with(|c: char| c.is_ascii_digit());
    to.push_str(if is_bare_point { &rest[1..] } else { rest });
}

/// Appends `text` as a JSON string with its quotes.
pub fn push_json_string(to: &mut String, text: &str) {
    to.reserve(text.len() + 2);
    to.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| matches!(c, '"' | '\\') || c < ' ') {
        to.push_str(&rest[..at]);
        push_escape(to, rest.as_bytes()[at]);
        rest = &rest[at + 1..];
    }
    to.push_str(rest);
    to.push('"');
}

fn push_escape(to: &mut String, byte: u8) {
    match byte {
        b'"' => to.push_str("\\\""),
        b'\\' => to.push_str("\\\\"),
        b'\n' => to.push_str("\\n"),
        b'\r' => to.push_str("\\r"),
        b'\t' => to.push_str("\\t"),
        byte => {
            to.push_str("\\u00");
            crate::text::push_hex(to, &[byte]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_json_that_keeps_them() {
        let cases = [
            (Value::Null, "null"),
            (Value::Int64(i64::MIN), "-9223372036854775808"),
            (Value::Float64(0.1), "0.1"),
            (Value::Float64(f64::NAN), "\"NaN\""),
            (Value::Decimal("-.50"), "-0.50"),
            (Value::Decimal("007."), "7"),
            (Value::Decimal("Infinity"), "\"Infinity\""),
            (Value::Text("a\"\\\u{1}\n\u{e9}"), "\"a\\\"\\\\\\u0001\\n\u{e9}\""),
            (Value::Bytes(&[0, 255]), "\"\\\\x00ff\""),
            (Value::Date(0), "\"1970-01-01\""),
            (Value::Json("{\"a\": 1}"), "{\"a\": 1}"),
        ];
        for (value, json) in cases {
            let mut written = String::new();
            push_json(&mut written, value);
            assert_eq!(written, json);
            assert!(crate::document::is_json(&written), "{written}");
        }
    }
}
