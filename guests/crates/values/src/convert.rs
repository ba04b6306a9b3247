//! Values from one kind to another, where nothing is lost.

use crate::decimal::DecimalText;
use crate::document::{self, Shape};
use crate::text::{push_float, push_text};
use crate::{base64, parse, parse::decimal, push_json};
use faucet_sdk::{ColumnBuilder, Interval, Kind, Result, Value};

const DAY: i64 = 86_400_000_000;

/// What a conversion needs to know beside the two kinds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// Microseconds that local time is ahead of UTC, for timestamps with a zone on one side only.
    pub zone: Option<i64>,
    /// What numbers that are moments count, since 1970.
    pub epoch: Option<Epoch>,
    /// How text stands for bytes.
    pub bytes: Bytes,
}

/// A unit in which moments are counted since 1970-01-01 00:00:00.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epoch {
    /// Seconds.
    Seconds,
    /// Thousandths of a second.
    Milliseconds,
    /// Millionths of a second.
    Microseconds,
}

/// How text stands for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bytes {
    /// `\x00ff`, as PostgreSQL writes them.
    #[default]
    Hex,
    /// Base64 with padding.
    Base64,
    /// The text's own bytes.
    Utf8,
}

impl Epoch {
    fn micros(self) -> i64 {
        match self {
            Self::Seconds => 1_000_000,
            Self::Milliseconds => 1_000,
            Self::Microseconds => 1,
        }
    }
}

/// A value that owns what had to be made for it.
#[derive(Debug, Clone)]
pub enum Made<'a> {
    /// A value that was there, or needs no room.
    Value(Value<'a>),
    /// A decimal.
    Decimal(String),
    /// A text.
    Text(String),
    /// A JSON document.
    Json(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Made<'_> {
    /// The value.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Value(value) => *value,
            Self::Decimal(text) => Value::Decimal(text),
            Self::Text(text) => Value::Text(text),
            Self::Json(text) => Value::Json(text),
            Self::Bytes(bytes) => Value::Bytes(bytes),
        }
    }

    /// The same, borrowing nothing.
    fn detached(self) -> Made<'static> {
        match self {
            Self::Value(value) => detached(value),
            Self::Decimal(text) => Made::Decimal(text),
            Self::Text(text) => Made::Text(text),
            Self::Json(text) => Made::Json(text),
            Self::Bytes(bytes) => Made::Bytes(bytes),
        }
    }
}

fn detached(value: Value<'_>) -> Made<'static> {
    Made::Value(match value {
        Value::Decimal(text) => return Made::Decimal(text.to_owned()),
        Value::Text(text) | Value::Native(text) => return Made::Text(text.to_owned()),
        Value::Json(text) => return Made::Json(text.to_owned()),
        Value::Bytes(bytes) => return Made::Bytes(bytes.to_owned()),
        Value::Absent => Value::Absent,
        Value::Null => Value::Null,
        Value::Boolean(v) => Value::Boolean(v),
        Value::Int64(v) => Value::Int64(v),
        Value::Uint64(v) => Value::Uint64(v),
        Value::Float32(v) => Value::Float32(v),
        Value::Float64(v) => Value::Float64(v),
        Value::Date(v) => Value::Date(v),
        Value::Time(v) => Value::Time(v),
        Value::Timestamp(v) => Value::Timestamp(v),
        Value::Timestamptz(v) => Value::Timestamptz(v),
        Value::Interval(v) => Value::Interval(v),
        Value::Uuid(v) => Value::Uuid(v),
    })
}

/// Whether values of kind `from` can become values of kind `to`, if they fit.
pub fn is_convertible(from: Kind, to: Kind, reading: &Reading) -> bool {
    let (has_zone, has_epoch) = (reading.zone.is_some(), reading.epoch.is_some());
    match (from, to) {
        (_, Kind::Native) => from == to,
        (_, Kind::Text | Kind::Json) | (Kind::Text | Kind::Native | Kind::Json, _) => true,
        (Kind::Date, Kind::Timestamp) | (Kind::Timestamp, Kind::Date) => true,
        (Kind::Date | Kind::Timestamp, Kind::Timestamptz) | (Kind::Timestamptz, Kind::Date | Kind::Timestamp) => {
            has_zone
        }
        (Kind::Time, Kind::Interval) | (Kind::Interval, Kind::Time) => true,
        (Kind::Uuid, Kind::Bytes) | (Kind::Bytes, Kind::Uuid) => true,
        (Kind::Timestamp | Kind::Timestamptz, _) if is_number(to) => has_epoch,
        (_, Kind::Timestamp | Kind::Timestamptz) if is_number(from) => has_epoch,
        _ => from == to || (is_number(from) || from == Kind::Boolean) && (is_number(to) || to == Kind::Boolean),
    }
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Int64 | Kind::Uint64 | Kind::Float32 | Kind::Float64 | Kind::Decimal)
}

/// `value` as kind `to`; none if it does not fit. Null stays null and absent stays absent.
pub(crate) fn convert<'a>(value: Value<'a>, to: Kind, reading: &Reading) -> Option<Made<'a>> {
    if value.kind().is_none_or(|kind| kind == to) {
        return Some(Made::Value(value));
    }
    match (value, to) {
        (Value::Text(text) | Value::Native(text), _) => parse(text, to, reading),
        (Value::Bytes(bytes), Kind::Text) => text_of_bytes(bytes, reading.bytes),
        (_, Kind::Text) => Some(Made::Text(written(value, push_text))),
        (_, Kind::Json) => Some(Made::Json(written(value, push_json))),
        (Value::Json(json), _) => from_document(json, to, reading),
        (Value::Boolean(_) | Value::Int64(_) | Value::Uint64(_), _) => from_number(value, to, reading),
        (Value::Float32(_) | Value::Float64(_) | Value::Decimal(_), _) => from_number(value, to, reading),
        (Value::Timestamp(at) | Value::Timestamptz(at), _) if is_number(to) => {
            let unit = reading.epoch?.micros();
            (is_finite(at) && at % unit == 0).then(|| number(Value::Int64(at / unit), to))?
        }
        _ => moment(value, to, reading).or_else(|| same_bits(value, to)).map(Made::Value),
    }
}

fn written(value: Value<'_>, write: impl FnOnce(&mut String, Value<'_>)) -> String {
    let mut text = String::new();
    write(&mut text, value);
    text
}

fn text_of_bytes(bytes: &[u8], form: Bytes) -> Option<Made<'static>> {
    let mut text = String::new();
    match form {
        Bytes::Hex => push_text(&mut text, Value::Bytes(bytes)),
        Bytes::Base64 => base64::push(&mut text, bytes),
        Bytes::Utf8 => text.push_str(str::from_utf8(bytes).ok()?),
    }
    Some(Made::Text(text))
}

/// What stands in a JSON document as kind `to`: a string's text, a number, a truth value; a list or an object only as
/// JSON or its text. JSON's null is null.
pub(crate) fn from_document<'a>(json: &'a str, to: Kind, reading: &Reading) -> Option<Made<'a>> {
    let json = json.trim();
    let is_text = to == Kind::Text;
    match document::shape(json) {
        Shape::Null => Some(Made::Value(Value::Null)),
        _ if to == Kind::Json => Some(Made::Value(Value::Json(json))),
        Shape::String => parse(&document::string(json)?, to, reading).map(Made::detached),
        _ if is_text => Some(Made::Value(Value::Text(json))),
        Shape::Number if to == Kind::Decimal => decimal(json),
        Shape::Number => convert(Value::Decimal(json), to, reading),
        Shape::Boolean => number(Value::Boolean(json == "true"), to),
        Shape::Array | Shape::Object => None,
    }
}

fn from_number<'a>(value: Value<'a>, to: Kind, reading: &Reading) -> Option<Made<'a>> {
    if !matches!(to, Kind::Timestamp | Kind::Timestamptz) || matches!(value, Value::Boolean(_)) {
        return number(value, to);
    }
    let micros = integer(value)?.checked_mul(reading.epoch?.micros().into())?;
    let at = i64::try_from(micros).ok().filter(|at| is_finite(*at))?;
    Some(Made::Value(if to == Kind::Timestamp { Value::Timestamp(at) } else { Value::Timestamptz(at) }))
}

fn is_finite(at: i64) -> bool {
    at != i64::MIN && at != i64::MAX
}

/// A truth value or number as another kind of them. Any decimal text will do.
pub(crate) fn number<'a>(value: Value<'a>, to: Kind) -> Option<Made<'a>> {
    Some(Made::Value(match to {
        _ if value.kind() == Some(to) => value,
        Kind::Boolean => Value::Boolean(match integer(value)? {
            0 => false,
            1 => true,
            _ => return None,
        }),
        Kind::Int64 => Value::Int64(integer(value)?.try_into().ok()?),
        Kind::Uint64 => Value::Uint64(integer(value)?.try_into().ok()?),
        Kind::Float32 => Value::Float32(single(value)?),
        Kind::Float64 => Value::Float64(double(value)?),
        Kind::Decimal => return decimal_of(value),
        _ => return None,
    }))
}

fn integer(value: Value<'_>) -> Option<i128> {
    match value {
        Value::Boolean(v) => Some(v.into()),
        Value::Int64(v) => Some(v.into()),
        Value::Uint64(v) => Some(v.into()),
        Value::Float32(v) => integral(v.into()),
        Value::Float64(v) => integral(v),
        Value::Decimal(text) => DecimalText::new(text)?.as_decimal().integer(),
        _ => None,
    }
}

/// Far beyond 64 bits nothing fits, so the cast needs no care there.
fn integral(v: f64) -> Option<i128> {
    (v.fract() == 0.0 && v.abs() < 1e30).then_some(v as i128)
}

fn double(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Float32(v) => Some(v.into()),
        Value::Decimal(text) => text.parse().ok().filter(|v: &f64| is_same_number(*v, text)),
        _ => integer(value).map(|v| v as f64).filter(|v| integral(*v) == integer(value)),
    }
}

fn single(value: Value<'_>) -> Option<f32> {
    match value {
        Value::Float64(v) => Some(v as f32).filter(|narrow| f64::from(*narrow) == v || v.is_nan()),
        Value::Decimal(text) => text.parse().ok().filter(|v: &f32| is_same_number(*v, text)),
        _ => integer(value).map(|v| v as f32).filter(|v| integral((*v).into()) == integer(value)),
    }
}

/// Whether a float, written as short as can be, is the number that the decimal is: so 0.1 is, and what has more digits
/// than the float keeps is not.
fn is_same_number<F: ryu::Float + Into<f64>>(float: F, decimal: &str) -> bool {
    let mut text = String::new();
    push_float(&mut text, float);
    match (DecimalText::new(&text), DecimalText::new(decimal)) {
        (Some(float), Some(decimal)) => float.as_decimal().cmp(&decimal.as_decimal()).is_eq(),
        _ => false,
    }
}

fn decimal_of(value: Value<'_>) -> Option<Made<'_>> {
    if let (false, Some(integer)) = (matches!(value, Value::Float32(_) | Value::Float64(_)), integer(value)) {
        return Some(Made::Decimal(itoa::Buffer::new().format(integer).to_owned()));
    }
    let text = written(value, push_text);
    let shorter = text.strip_suffix(".0").unwrap_or(&text);
    DecimalText::new(shorter).map(|text| Made::Decimal(text.into_text()))
}

/// Between dates and timestamps. An infinity stays one.
fn moment(value: Value<'_>, to: Kind, reading: &Reading) -> Option<Value<'static>> {
    let (at, is_instant) = match value {
        Value::Date(i32::MIN) => (i64::MIN, false),
        Value::Date(i32::MAX) => (i64::MAX, false),
        Value::Date(days) => (i64::from(days).checked_mul(DAY)?, false),
        Value::Timestamp(at) => (at, false),
        Value::Timestamptz(at) => (at, true),
        _ => return None,
    };
    let zone = match (is_instant, to) {
        (true, Kind::Timestamptz) | (false, Kind::Date | Kind::Timestamp) => 0,
        (true, _) => -reading.zone?,
        (false, _) => reading.zone?,
    };
    let at = if is_finite(at) { at.checked_sub(zone).filter(|at| is_finite(*at))? } else { at };
    Some(match to {
        Kind::Date => Value::Date(day(at)?),
        Kind::Timestamp => Value::Timestamp(at),
        Kind::Timestamptz => Value::Timestamptz(at),
        _ => return None,
    })
}

fn day(at: i64) -> Option<i32> {
    match at {
        i64::MIN => Some(i32::MIN),
        i64::MAX => Some(i32::MAX),
        _ if at % DAY == 0 => i32::try_from(at / DAY).ok(),
        _ => None,
    }
}

fn same_bits<'a>(value: Value<'a>, to: Kind) -> Option<Value<'a>> {
    match (value, to) {
        (Value::Time(microseconds), Kind::Interval) => {
            Some(Value::Interval(Interval { microseconds, ..Default::default() }))
        }
        (Value::Interval(Interval { microseconds: at @ 0..=DAY, days: 0, months: 0 }), Kind::Time) => {
            Some(Value::Time(at))
        }
        (Value::Bytes(bytes), Kind::Uuid) => Some(Value::Uuid(bytes.try_into().ok()?)),
        _ => None,
    }
}

/// A column in the making whose values come from other kinds.
#[derive(Debug, Clone)]
pub struct Converted {
    out: ColumnBuilder,
    kind: Kind,
    reading: Reading,
}

impl Converted {
    /// An empty column.
    pub fn new(name: &str, kind: Kind, reading: Reading) -> Self {
        Self { out: ColumnBuilder::new(name, kind), kind, reading }
    }

    /// Adds `value` as the column's kind, or says that it does not fit; then nothing was added.
    ///
    /// # Errors
    /// If the column is full.
    pub fn push(&mut self, value: Value<'_>) -> Result<bool> {
        if let (Value::Uuid(bytes), Kind::Bytes) = (value, self.kind) {
            return self.add(Some(Made::Value(Value::Bytes(&bytes))));
        }
        self.add(convert(value, self.kind, &self.reading))
    }

    /// Adds what stands in a JSON document: a string's text rather than the string.
    ///
    /// # Errors
    /// If the column is full.
    pub fn push_document(&mut self, json: &str) -> Result<bool> {
        self.add(from_document(json, self.kind, &self.reading))
    }

    /// Adds null.
    ///
    /// # Errors
    /// If the column is full.
    pub fn push_null(&mut self) -> Result<()> {
        self.out.push(Value::Null)
    }

    /// The column.
    pub fn finish(self) -> ColumnBuilder {
        self.out
    }

    fn add(&mut self, made: Option<Made<'_>>) -> Result<bool> {
        match made {
            None => Ok(false),
            Some(made) => self.out.push(made.value()).map(|()| true),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn as_text(value: Value<'_>, to: Kind, reading: &Reading) -> Option<String> {
        convert(value, to, reading).map(|made| {
            assert_eq!(made.value().kind(), Some(to), "{value:?}");
            written(made.value(), push_text)
        })
    }

    #[test]
    fn every_kind_survives_text() {
        let values = [
            Value::Boolean(true),
            Value::Int64(i64::MIN),
            Value::Uint64(u64::MAX),
            Value::Float32(f32::MIN_POSITIVE),
            Value::Float64(-0.0),
            Value::Float64(f64::MAX),
            Value::Float64(f64::NEG_INFINITY),
            Value::Decimal("-0012.500"),
            Value::Decimal("NaN"),
            Value::Bytes(&[0, 255]),
            Value::Date(-719_163),
            Value::Time(DAY),
            Value::Timestamp(i64::MIN),
            Value::Timestamptz(-1),
            Value::Interval(Interval { microseconds: -1, days: 2, months: -3 }),
            Value::Uuid([7; 16]),
            Value::Json("{\"a\": 1.0}"),
        ];
        for value in values {
            let kind = value.kind().unwrap();
            let text = convert(value, Kind::Text, &Reading::default()).unwrap();
            let back = convert(text.value(), kind, &Reading::default()).unwrap();
            assert_eq!(back.value(), value, "{text:?}");
        }
    }

    #[test]
    fn what_can_be_converted_is_what_may_be() {
        let values = [
            Value::Boolean(true),
            Value::Int64(1),
            Value::Uint64(1),
            Value::Float32(1.0),
            Value::Float64(1.0),
            Value::Decimal("1"),
            Value::Bytes(&[1; 16]),
            Value::Date(0),
            Value::Time(0),
            Value::Timestamp(0),
            Value::Timestamptz(0),
            Value::Interval(Interval::default()),
            Value::Uuid([0; 16]),
        ];
        let full = Reading { zone: Some(0), epoch: Some(Epoch::Seconds), bytes: Bytes::Hex };
        for reading in [Reading::default(), full] {
            for value in values {
                for target in values {
                    let (from, to) = (value.kind().unwrap(), target.kind().unwrap());
                    let mut column = Converted::new("x", to, reading);
                    assert_eq!(column.push(value).unwrap(), is_convertible(from, to, &reading), "{from:?} {to:?}");
                }
            }
        }
    }

    #[test]
    fn numbers_are_exact_or_refused() {
        let exact = [
            (Value::Float64(3.0), Kind::Int64, Some("3")),
            (Value::Float64(3.5), Kind::Int64, None),
            (Value::Float64(9_223_372_036_854_775_808.0), Kind::Int64, None),
            (Value::Float64(-9_223_372_036_854_775_808.0), Kind::Int64, Some("-9223372036854775808")),
            (Value::Float64(f64::NAN), Kind::Int64, None),
            (Value::Float64(1e300), Kind::Uint64, None),
            (Value::Int64(-1), Kind::Uint64, None),
            (Value::Uint64(u64::MAX), Kind::Int64, None),
            (Value::Uint64(u64::MAX), Kind::Decimal, Some("18446744073709551615")),
            (Value::Int64(9_007_199_254_740_993), Kind::Float64, None),
            (Value::Int64(9_007_199_254_740_992), Kind::Float64, Some("9007199254740992.0")),
            (Value::Uint64(u64::MAX), Kind::Float64, None),
            (Value::Int64(16_777_217), Kind::Float32, None),
            (Value::Decimal("0.1"), Kind::Float64, Some("0.1")),
            (Value::Decimal("0.10000000000000000001"), Kind::Float64, None),
            (Value::Decimal("1e400"), Kind::Float64, None),
            (Value::Decimal("Infinity"), Kind::Float64, Some("Infinity")),
            (Value::Decimal("12.00"), Kind::Int64, Some("12")),
            (Value::Decimal("99999999999999999999999999999999999999999999"), Kind::Int64, None),
            (Value::Float64(0.1), Kind::Float32, None),
            (Value::Float64(0.5), Kind::Float32, Some("0.5")),
            (Value::Float64(0.1), Kind::Decimal, Some("0.1")),
            (Value::Float64(1e20), Kind::Decimal, Some("100000000000000000000")),
            (Value::Float64(2.0), Kind::Decimal, Some("2")),
            (Value::Float64(f64::NAN), Kind::Decimal, Some("NaN")),
            (Value::Int64(2), Kind::Boolean, None),
            (Value::Int64(1), Kind::Boolean, Some("true")),
            (Value::Boolean(true), Kind::Decimal, Some("1")),
            (Value::Text("1.5e3"), Kind::Decimal, Some("1500")),
            (Value::Text("1.50"), Kind::Decimal, Some("1.50")),
            (Value::Text(" 1"), Kind::Int64, None),
            (Value::Text("inf"), Kind::Float64, None),
        ];
        for (value, to, want) in exact {
            assert_eq!(as_text(value, to, &Reading::default()).as_deref(), want, "{value:?} {to:?}");
        }
    }

    #[test]
    fn moments_need_a_zone_or_a_unit_where_one_is_missing() {
        let zone = Reading { zone: Some(7_200_000_000), ..Default::default() };
        let epoch = Reading { epoch: Some(Epoch::Milliseconds), ..Default::default() };
        let none = Reading::default();
        let cases = [
            (Value::Date(1), Kind::Timestamp, &none, Some("1970-01-02T00:00:00")),
            (Value::Date(i32::MAX), Kind::Timestamp, &none, Some("infinity")),
            (Value::Date(2_000_000_000), Kind::Timestamp, &none, None),
            (Value::Timestamp(DAY), Kind::Date, &none, Some("1970-01-02")),
            (Value::Timestamp(DAY + 1), Kind::Date, &none, None),
            (Value::Timestamp(i64::MIN), Kind::Date, &none, Some("-infinity")),
            (Value::Timestamp(0), Kind::Timestamptz, &none, None),
            (Value::Timestamp(0), Kind::Timestamptz, &zone, Some("1969-12-31T22:00:00Z")),
            (Value::Timestamptz(0), Kind::Timestamp, &zone, Some("1970-01-01T02:00:00")),
            (Value::Timestamptz(i64::MAX), Kind::Timestamp, &zone, Some("infinity")),
            (Value::Text("1970-01-01 02:00"), Kind::Timestamptz, &zone, Some("1970-01-01T00:00:00Z")),
            (Value::Text("1970-01-01 02:00Z"), Kind::Timestamptz, &zone, Some("1970-01-01T02:00:00Z")),
            (Value::Text("1970-01-01 02:00"), Kind::Timestamptz, &none, None),
            (Value::Int64(1_500), Kind::Timestamptz, &epoch, Some("1970-01-01T00:00:01.5Z")),
            (Value::Int64(i64::MAX), Kind::Timestamptz, &epoch, None),
            (Value::Json("1500"), Kind::Timestamp, &epoch, Some("1970-01-01T00:00:01.5")),
            (Value::Timestamptz(1_500_000), Kind::Int64, &epoch, Some("1500")),
            (Value::Timestamptz(1), Kind::Int64, &epoch, None),
            (Value::Timestamptz(i64::MAX), Kind::Int64, &epoch, None),
            (Value::Interval(Interval { microseconds: DAY + 1, days: 0, months: 0 }), Kind::Time, &none, None),
        ];
        for (value, to, reading, want) in cases {
            assert_eq!(as_text(value, to, reading).as_deref(), want, "{value:?} {to:?}");
        }
    }

    #[test]
    fn documents_give_up_what_stands_in_them() {
        let cases = [
            ("\"a\\n\"", Kind::Text, Some("a\n")),
            (" 1.0 ", Kind::Int64, Some("1")),
            ("1e2", Kind::Decimal, Some("100")),
            ("\"2024-02-29\"", Kind::Date, Some("2024-02-29")),
            ("true", Kind::Boolean, Some("true")),
            ("[1, 2]", Kind::Text, Some("[1, 2]")),
            ("[1]", Kind::Int64, None),
            ("\"x\"", Kind::Json, Some("\"x\"")),
            ("\"\\ud800\"", Kind::Text, None),
        ];
        for (json, to, want) in cases {
            let made = from_document(json, to, &Reading::default());
            assert_eq!(made.map(|made| written(made.value(), push_text)).as_deref(), want, "{json} {to:?}");
        }
        let null = from_document("null", Kind::Int64, &Reading::default()).unwrap();
        assert_eq!(null.value(), Value::Null);
        assert_eq!(
            as_text(Value::Json("\"x\""), Kind::Text, &Reading::default()).as_deref(),
            Some("\"x\""),
            "exact text"
        );
    }

    #[test]
    fn bytes_have_three_forms() {
        for (form, text) in [(Bytes::Hex, "\\x6869"), (Bytes::Base64, "aGk="), (Bytes::Utf8, "hi")] {
            let reading = Reading { bytes: form, ..Default::default() };
            assert_eq!(as_text(Value::Bytes(b"hi"), Kind::Text, &reading).as_deref(), Some(text));
            assert_eq!(convert(Value::Text(text), Kind::Bytes, &reading).unwrap().value(), Value::Bytes(b"hi"));
        }
        let utf8 = Reading { bytes: Bytes::Utf8, ..Default::default() };
        assert_eq!(as_text(Value::Bytes(&[255]), Kind::Text, &utf8), None);
    }
}
