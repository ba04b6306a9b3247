//! Rows as JSON objects.

use crate::config::BigNumbers;
use faucet_sdk::{Column, Page, Result, Value};
use faucet_values::push_json_string;

/// Integers up to here are exact in every reader.
const EXACT: u64 = 1 << 53;

/// Writes the rows of a page.
pub(crate) struct Rows<'a> {
    /// Each with its name as JSON and a colon.
    columns: Vec<(String, Column<'a>)>,
    big_numbers: BigNumbers,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(page: &Page<'a>, big_numbers: BigNumbers) -> Result<Self> {
        let named = |column: Result<Column<'a>>| {
            let column = column?;
            let mut name = String::new();
            push_json_string(&mut name, column.name());
            name.push(':');
            Ok((name, column))
        };
        Ok(Self { columns: page.columns().map(named).collect::<Result<_>>()?, big_numbers })
    }

    /// Appends a row as an object on one line. What is absent is left out.
    pub(crate) fn push(&self, row: usize, out: &mut String) {
        let start = out.len();
        for (name, column) in &self.columns {
            let value = column.value(row);
            if value == Value::Absent {
                continue;
            }
            out.push(if out.len() == start { '{' } else { ',' });
            out.push_str(name);
            push_json(out, value, self.big_numbers);
        }
        if out.len() == start {
            out.push('{');
        }
        out.push('}');
    }
}

/// Appends a value as JSON.
fn push_json(to: &mut String, value: Value<'_>, big_numbers: BigNumbers) {
    let start = to.len();
    let in_quotes = big_numbers == BigNumbers::Text && !is_exact(value);
    if in_quotes {
        to.push('"');
    }
    faucet_values::push_json(to, value);
    if in_quotes {
        to.push('"');
    }
    // A line break can only stand between the parts of a document, where a blank means the same.
    if matches!(value, Value::Json(_)) && to[start..].contains(['\n', '\r']) {
        let line = to[start..].replace(['\n', '\r'], " ");
        to.replace_range(start.., &line);
    }
}

/// Whether a reader that knows floats only gets the value it should.
fn is_exact(value: Value<'_>) -> bool {
    match value {
        Value::Int64(v) => v.unsigned_abs() <= EXACT,
        Value::Uint64(v) => v <= EXACT,
        // These three are text anyway.
        Value::Decimal(v) => matches!(v, "NaN" | "Infinity" | "-Infinity"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faucet_sdk::Interval;

    fn json(value: Value<'_>, big_numbers: BigNumbers) -> String {
        let mut out = String::new();
        push_json(&mut out, value, big_numbers);
        out
    }

    #[test]
    fn every_kind_has_a_form() {
        let cases = [
            (Value::Null, "null"),
            (Value::Boolean(true), "true"),
            (Value::Int64(i64::MIN), "-9223372036854775808"),
            (Value::Uint64(u64::MAX), "18446744073709551615"),
            (Value::Float32(0.1), "0.1"),
            (Value::Float64(-0.0), "-0.0"),
            (Value::Float64(1e300), "1e300"),
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
            (Value::Timestamptz(1_704_067_200_500_000), r#""2024-01-01T00:00:00.5Z""#),
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
        let text = |value| json(value, BigNumbers::Text);
        assert_eq!(text(Value::Int64(1 << 53)), "9007199254740992");
        assert_eq!(text(Value::Int64(-(1 << 53) - 1)), r#""-9007199254740993""#);
        assert_eq!(
            (text(Value::Uint64(u64::MAX)), text(Value::Decimal("1.5"))),
            (r#""18446744073709551615""#.into(), r#""1.5""#.into())
        );
        assert_eq!(text(Value::Float64(1e300)), "1e300");
    }
}
