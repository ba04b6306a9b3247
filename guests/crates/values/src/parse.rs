//! Values from text, as [`push_text`](crate::push_text) writes it.

use crate::convert::{Bytes, Made, Reading, number};
use crate::decimal::{Decimal, DecimalText};
use crate::{base64, document, temporal};
use faucet_sdk::{Kind, Value};

/// The value of kind `to` that `text` spells; none if it spells none.
pub fn parse<'a>(text: &'a str, to: Kind, reading: &Reading) -> Option<Made<'a>> {
    let value = match to {
        Kind::Text => Value::Text(text),
        Kind::Native => return None,
        Kind::Json => Value::Json(Some(text).filter(|text| document::is_json(text))?),
        Kind::Boolean => Value::Boolean(boolean(text)?),
        Kind::Int64 | Kind::Uint64 | Kind::Float32 | Kind::Float64 => return number(Value::Decimal(text), to),
        Kind::Decimal => return decimal(text),
        Kind::Bytes => return bytes(text, reading.bytes).map(Made::Bytes),
        Kind::Date => Value::Date(temporal::date(text)?),
        Kind::Time => Value::Time(temporal::time(text)?),
        Kind::Timestamp => Value::Timestamp(temporal::timestamp(text)?),
        Kind::Timestamptz => Value::Timestamptz(timestamptz(text, reading.zone)?),
        Kind::Interval => Value::Interval(temporal::interval(text)?),
        Kind::Uuid => Value::Uuid(uuid(text)?),
    };
    Some(Made::Value(value))
}

fn boolean(text: &str) -> Option<bool> {
    let is = |words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match (is(["true", "t", "1"]), is(["false", "f", "0"])) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// Every digit stays; an exponent is written out, as the kind has none.
pub(crate) fn decimal(text: &str) -> Option<Made<'_>> {
    match Decimal::parse(text) {
        Some(_) => Some(Made::Value(Value::Decimal(text))),
        None => Some(Made::Decimal(DecimalText::new(text)?.into_text())),
    }
}

fn bytes(text: &str, form: Bytes) -> Option<Vec<u8>> {
    match form {
        Bytes::Hex => hex(text.strip_prefix("\\x")?),
        Bytes::Base64 => base64::decode(text),
        Bytes::Utf8 => Some(text.as_bytes().to_vec()),
    }
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some((digit(*high)? << 4 | digit(*low)?) as u8),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}

/// Text that names no zone is in the configured one, if there is one.
fn timestamptz(text: &str, zone: Option<i64>) -> Option<i64> {
    temporal::timestamptz(text).or_else(|| temporal::timestamp(text)?.checked_sub(zone?))
}

/// Digits in groups of 8-4-4-4-12, or in one.
fn uuid(text: &str) -> Option<[u8; 16]> {
    let digits = match text.len() {
        36 if [8, 13, 18, 23].iter().all(|at| text.as_bytes()[*at] == b'-') => text.replace('-', ""),
        _ => text.to_owned(),
    };
    hex(&digits)?.try_into().ok()
}
