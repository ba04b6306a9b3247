//! What a field is compared with: read from the configuration, bound to the kind of a column.

use faucet_sdk::serde_json::Value as Json;
use faucet_sdk::{Column, Error, Kind, Result, Value, kind_name};
use faucet_values::decimal::{Decimal, DecimalText};
use faucet_values::temporal;
use std::cmp::Ordering;

/// A value from the configuration.
#[derive(Debug)]
pub(crate) enum Operand {
    Boolean(bool),
    /// A number as the shortest text that stands for it.
    Number(String),
    Text(String),
}

/// A value of a column's kind.
#[derive(Debug)]
pub(crate) enum Bound<'t> {
    Boolean(bool),
    /// The number is `floor`, and a bit more if `fraction`. Beyond the range of 64-bit integers any number does.
    Integer {
        floor: i128,
        fraction: bool,
    },
    Decimal(DecimalText),
    Single(f32),
    Double(f64),
    Text(&'t str),
    Bytes(Vec<u8>),
    /// Days or microseconds.
    Moment(i64),
    Uuid([u8; 16]),
}

impl Operand {
    pub(crate) fn new(value: &Json, path: &str) -> Result<Self> {
        match value {
            Json::Bool(value) => Ok(Self::Boolean(*value)),
            Json::Number(number) => Ok(Self::Number(number.to_string())),
            Json::String(text) => Ok(Self::Text(text.clone())),
            Json::Null | Json::Array(_) | Json::Object(_) => {
                Err(Error::config(path, "must be a number, text or truth value"))
            }
        }
    }

    pub(crate) fn bind(&self, column: &Column<'_>) -> Result<Bound<'_>> {
        self.bound(column.kind()).ok_or_else(|| {
            let (name, kind) = (column.name(), kind_name(column.kind()));
            Error::new(format!("column '{name}' is {kind}, and `value` is not {}", expected(column.kind())))
        })
    }

    fn bound(&self, kind: Kind) -> Option<Bound<'_>> {
        Some(match (kind, self) {
            (Kind::Boolean, Self::Boolean(value)) => Bound::Boolean(*value),
            (Kind::Int64 | Kind::Uint64, _) => {
                let (floor, fraction) = self.decimal()?.as_decimal().floor();
                Bound::Integer { floor, fraction }
            }
            (Kind::Decimal, _) => Bound::Decimal(self.decimal()?),
            (Kind::Float32, _) => Bound::Single(self.number()?.parse().ok()?),
            (Kind::Float64, _) => Bound::Double(self.number()?.parse().ok()?),
            (Kind::Text | Kind::Json | Kind::Native, Self::Text(text)) => Bound::Text(text),
            (Kind::Bytes, Self::Text(text)) => Bound::Bytes(hex(text.strip_prefix("\\x")?)?),
            (Kind::Date, Self::Text(text)) => Bound::Moment(days(temporal::date(text)?)),
            (Kind::Time, Self::Text(text)) => Bound::Moment(temporal::time(text)?),
            (Kind::Timestamp, Self::Text(text)) => Bound::Moment(temporal::timestamp(text)?),
            (Kind::Timestamptz, Self::Text(text)) => Bound::Moment(temporal::timestamptz(text)?),
            (Kind::Uuid, Self::Text(text)) => Bound::Uuid(hex(&text.replace('-', ""))?.try_into().ok()?),
            (Kind::Boolean | Kind::Text | Kind::Json | Kind::Native | Kind::Bytes | Kind::Uuid, _) => return None,
            (Kind::Date | Kind::Time | Kind::Timestamp | Kind::Timestamptz | Kind::Interval, _) => {
                return None;
            }
        })
    }

    fn number(&self) -> Option<&str> {
        match self {
            Self::Number(text) | Self::Text(text) => Some(text),
            Self::Boolean(_) => None,
        }
    }

    fn decimal(&self) -> Option<DecimalText> {
        DecimalText::new(self.number()?)
    }
}

fn expected(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean => "true or false",
        Kind::Int64 | Kind::Uint64 | Kind::Decimal | Kind::Float32 | Kind::Float64 => "a number",
        Kind::Text | Kind::Json | Kind::Native => "text (write it in quotes)",
        Kind::Bytes => "hex text like \"\\\\x00ff\"",
        Kind::Date => "a date like \"2024-02-29\"",
        Kind::Time => "a time like \"13:05:00\"",
        Kind::Timestamp => "a date and time like \"2024-02-29 13:05:00\"",
        Kind::Timestamptz => "a date and time with a zone like \"2024-02-29T13:05:00Z\"",
        Kind::Interval => "comparable with it: intervals have no single order; use is_null or not_null",
        Kind::Uuid => "a UUID",
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..text.len()).step_by(2).map(digit).collect()
}

impl Bound<'_> {
    /// How the value compares to this operand; the reason if it does not.
    pub(crate) fn order_of(&self, value: Value<'_>) -> Result<Ordering, &'static str> {
        let ordering = match (self, value) {
            (Self::Boolean(other), Value::Boolean(value)) => value.cmp(other),
            (Self::Integer { floor, fraction }, Value::Int64(value)) => integer(value.into(), *floor, *fraction),
            (Self::Integer { floor, fraction }, Value::Uint64(value)) => integer(value.into(), *floor, *fraction),
            (Self::Decimal(other), Value::Decimal(value)) => {
                Decimal::parse(value).ok_or("the value is no decimal number")?.cmp(&other.as_decimal())
            }
            (Self::Single(other), Value::Float32(value)) => float(value.into(), (*other).into()),
            (Self::Double(other), Value::Float64(value)) => float(value, *other),
            (Self::Text(other), Value::Text(value) | Value::Json(value) | Value::Native(value)) => value.cmp(other),
            (Self::Bytes(other), Value::Bytes(value)) => value.cmp(other),
            (Self::Moment(other), Value::Date(value)) => days(value).cmp(other),
            (Self::Moment(other), Value::Time(value) | Value::Timestamp(value) | Value::Timestamptz(value)) => {
                value.cmp(other)
            }
            (Self::Uuid(other), Value::Uuid(value)) => value.cmp(other),
            _ => return Err("the value is of another kind than its column"),
        };
        Ok(ordering)
    }
}

/// Days with the infinities of a wider number, so that every infinity has one form.
fn days(value: i32) -> i64 {
    match value {
        i32::MIN => i64::MIN,
        i32::MAX => i64::MAX,
        days => days.into(),
    }
}

fn integer(value: i128, floor: i128, fraction: bool) -> Ordering {
    value.cmp(&floor).then(if fraction { Ordering::Less } else { Ordering::Equal })
}

/// PostgreSQL's order: NaN equals NaN and is greater than any other; -0 equals 0.
fn float(value: f64, other: f64) -> Ordering {
    value.partial_cmp(&other).unwrap_or_else(|| value.is_nan().cmp(&other.is_nan()))
}
