//! Columns that the configuration fixes.

use crate::config::FieldKind;
use crate::json::{Raw, Shape, shape};
use crate::key::Key;
use client::{Moment, date};
use faucet_sdk::{ColumnBuilder, Error, Kind, Result, Value, kind_name};
use faucet_values::decimal::DecimalText;

/// A column that the configuration fixes.
#[derive(Debug, Clone)]
pub(crate) struct Fixed {
    pub(crate) name: String,
    pub(crate) kind: FieldKind,
    /// Where a record has it.
    pub(crate) place: Key,
}

impl Fixed {
    /// The column of records.
    pub(crate) fn column(&self, records: &[&Raw]) -> Result<ColumnBuilder> {
        let mut column = ColumnBuilder::new(&self.name, self.kind.kind());
        for record in records {
            let Some(raw) = self.place.find(record)? else {
                column.push(Value::Absent)?;
                continue;
            };
            push(&mut column, self.kind, raw)?.ok_or_else(|| {
                let (name, kind) = (&self.name, kind_name(self.kind.kind()));
                Error::new(format!("a record has a value at '{name}' that is no {kind}, as `schema` says"))
            })?;
        }
        Ok(column)
    }
}

impl FieldKind {
    fn kind(self) -> Kind {
        match self {
            Self::Boolean => Kind::Boolean,
            Self::Int64 => Kind::Int64,
            Self::Uint64 => Kind::Uint64,
            Self::Float64 => Kind::Float64,
            Self::Decimal => Kind::Decimal,
            Self::Text => Kind::Text,
            Self::Date => Kind::Date,
            Self::Timestamp => Kind::Timestamp,
            Self::Timestamptz => Kind::Timestamptz,
            Self::Uuid => Kind::Uuid,
            Self::Json => Kind::Json,
        }
    }
}

/// Adds a value; inner none if it is of another kind.
fn push(column: &mut ColumnBuilder, kind: FieldKind, raw: &Raw) -> Result<Option<()>> {
    let shape = shape(raw)?;
    if shape == Shape::Null {
        return column.push(Value::Null).map(Some);
    }
    // APIs write numbers as text, to keep them exact.
    let text = match &shape {
        Shape::Text(text) => &**text,
        _ => raw,
    };
    let decimal;
    let value = match kind {
        FieldKind::Json => Some(Value::Json(raw)),
        FieldKind::Text => Some(Value::Text(text)),
        FieldKind::Boolean => text.parse().ok().map(Value::Boolean),
        FieldKind::Int64 => text.parse().ok().map(Value::Int64),
        FieldKind::Uint64 => text.parse().ok().map(Value::Uint64),
        FieldKind::Float64 => float(text).map(Value::Float64),
        FieldKind::Decimal => {
            decimal = DecimalText::new(text).map(DecimalText::into_text);
            decimal.as_deref().map(Value::Decimal)
        }
        FieldKind::Date => date(text).and_then(|days| i32::try_from(days).ok()).map(Value::Date),
        FieldKind::Timestamp => micros(text, false).map(Value::Timestamp),
        FieldKind::Timestamptz => micros(text, true).map(Value::Timestamptz),
        FieldKind::Uuid => uuid(text).map(Value::Uuid),
    };
    value.map(|value| column.push(value)).transpose()
}

fn float(text: &str) -> Option<f64> {
    text.parse().ok().filter(|float: &f64| float.is_finite())
}

fn micros(text: &str, zoned: bool) -> Option<i64> {
    Moment::parse(text).filter(|moment| moment.zoned == zoned)?.units(6)
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    if digits.len() != 32 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u128::from_str_radix(&digits, 16).ok().map(u128::to_be_bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::json::{document, elements};

    fn column(kind: FieldKind, records: &str) -> Result<ColumnBuilder> {
        let fixed = Fixed { name: "c".to_owned(), kind, place: Key::parse("a.b").unwrap() };
        fixed.column(&elements(document(records).unwrap()).unwrap())
    }

    #[test]
    fn values_become_what_the_schema_says() {
        let good = [
            (FieldKind::Boolean, r#"true"#),
            (FieldKind::Int64, r#""-9223372036854775808""#),
            (FieldKind::Uint64, "18446744073709551615"),
            (FieldKind::Float64, "1e3"),
            (FieldKind::Decimal, r#""12.340""#),
            (FieldKind::Text, "[1]"),
            (FieldKind::Date, r#""2024-02-29""#),
            (FieldKind::Timestamp, r#""2024-02-29 12:00:00.123456789""#),
            (FieldKind::Timestamptz, r#""2024-02-29T12:00:00Z""#),
            (FieldKind::Uuid, r#""0188a0d0-0000-7000-8000-00000000000f""#),
            (FieldKind::Json, r#"{"x": 1}"#),
        ];
        for (kind, value) in good {
            let records = format!(r#"[{{"a":{{"b":{value}}}}},{{"a":{{"b":null}}}},{{}}]"#);
            assert_eq!(column(kind, &records).unwrap().rows(), 3, "{kind:?}");
        }
        let bad = [
            (FieldKind::Boolean, "1"),
            (FieldKind::Int64, "1.5"),
            (FieldKind::Int64, "9223372036854775808"),
            (FieldKind::Float64, r#""NaN""#),
            (FieldKind::Float64, "1e400"),
            (FieldKind::Decimal, r#""secret""#),
            (FieldKind::Date, r#""2023-02-29""#),
            (FieldKind::Timestamp, r#""2024-02-29T12:00:00Z""#),
            (FieldKind::Timestamptz, r#""2024-02-29T12:00:00""#),
            (FieldKind::Uuid, r#""+188a0d0000070008000000000000000f""#),
        ];
        for (kind, value) in bad {
            let error = column(kind, &format!(r#"[{{"a":{{"b":{value}}}}}]"#)).unwrap_err().to_string();
            assert!(error.contains("'c'") && !error.contains("secret"), "{error}");
        }
    }
}
