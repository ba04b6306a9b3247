//! Values of the replication key, and their order.

use crate::json::{Raw, Shape, shape};
use client::Moment;
use faucet_sdk::{Error, Result};
use faucet_values::decimal::{Decimal, DecimalText};
use std::cmp::Ordering;

/// A value of the replication key.
#[derive(Debug, Clone)]
pub(crate) struct Cursor {
    /// As the API wrote it: JSON text.
    json: String,
    value: Value,
}

/// What a value is compared by.
#[derive(Debug, Clone)]
enum Value {
    /// A number, or text that is one.
    Number(DecimalText),
    /// A date and time.
    Moment(Moment),
    /// Any other text.
    Text,
}

impl Cursor {
    /// The value of a record; none for null.
    ///
    /// # Errors
    /// If it is neither a number nor text.
    pub(crate) fn new(raw: &Raw) -> Result<Option<Self>> {
        let value = match shape(raw)? {
            Shape::Null => return Ok(None),
            Shape::Number(text) => number(text).unwrap_or(Value::Text),
            Shape::Text(text) => {
                number(&text).or_else(|| Moment::parse(&text).map(Value::Moment)).unwrap_or(Value::Text)
            }
            Shape::Boolean(_) | Shape::Object | Shape::Array => {
                return Err(Error::new("a record has neither a number nor text at `replication_key`"));
            }
        };
        Ok(Some(Self { json: raw.to_owned(), value }))
    }

    /// As the API wrote it.
    pub(crate) fn json(&self) -> &str {
        &self.json
    }

    /// The text, or the digits of a number.
    pub(crate) fn text(&self) -> String {
        serde_json::from_str(&self.json).unwrap_or_else(|_| self.json.clone())
    }

    /// Whether it is a JSON number.
    pub(crate) fn is_number(&self) -> bool {
        !self.json.starts_with('"')
    }

    /// The moment it names; a day is its first moment in UTC, and a time without an offset is UTC too.
    pub(crate) fn moment(&self) -> Option<Moment> {
        match &self.value {
            Value::Moment(moment) => Some(moment.clone()),
            Value::Text => client::date(&self.text()).map(Moment::midnight),
            Value::Number(_) => None,
        }
    }

    /// Numbers and decimal texts compare as numbers, moments as instants (those without an offset among each other), and
    /// all else as text.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (&self.value, &other.value) {
            (Value::Number(mine), Value::Number(others)) => mine.as_decimal().cmp(&others.as_decimal()),
            (Value::Moment(mine), Value::Moment(others)) if mine.zoned == others.zoned => mine.cmp(others),
            _ => self.text().cmp(&other.text()),
        }
    }
}

fn number(text: &str) -> Option<Value> {
    let number = DecimalText::new(text)?;
    matches!(number.as_decimal(), Decimal::Finite { .. }).then_some(Value::Number(number))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::json::document;

    fn cursor(json: &str) -> Cursor {
        Cursor::new(document(json).unwrap()).unwrap().unwrap()
    }

    #[test]
    fn values_compare_by_what_they_hold() {
        let less = [
            ("99", "100"),
            (r#""99""#, r#""100""#),
            (r#""99.5""#, "100"),
            ("9007199254740992", "9007199254740993"),
            (r#""1234.49""#, r#""1234.50""#),
            (r#""2024-06-01T12:00:00+02:00""#, r#""2024-06-01T10:00:00.001Z""#),
            (r#""2024-06-01T09:59:59.999999Z""#, r#""2024-06-01T10:00:00Z""#),
            (r#""2024-06-01T10:00:00""#, r#""2024-06-01T10:00:00.5""#),
            (r#""2024-06-01""#, r#""2024-06-02""#),
            (r#""a10""#, r#""a9""#),
        ];
        for (a, b) in less {
            assert_eq!(cursor(a).order(&cursor(b)), Ordering::Less, "{a} {b}");
            assert_eq!(cursor(b).order(&cursor(a)), Ordering::Greater, "{a} {b}");
        }
        let equal = [
            ("1", "1.0"),
            ("1", r#""1.00""#),
            (r#""2024-06-01T12:00:00.500+02:00""#, r#""2024-06-01T10:00:00.5Z""#),
            (r#""x""#, r#""\u0078""#),
        ];
        for (a, b) in equal {
            assert_eq!(cursor(a).order(&cursor(b)), Ordering::Equal, "{a} {b}");
        }
    }

    #[test]
    fn only_single_values_are_cursors() {
        assert!(Cursor::new(document("null").unwrap()).unwrap().is_none());
        for bad in ["true", "{}", "[1]"] {
            assert!(Cursor::new(document(bad).unwrap()).is_err(), "{bad}");
        }
    }

    #[test]
    fn days_and_times_are_moments() {
        assert_eq!(cursor(r#""2024-06-01""#).moment().unwrap().rfc3339(), "2024-06-01T00:00:00Z");
        assert_eq!(cursor(r#""2024-06-01T02:00:00+02:00""#).moment().unwrap().rfc3339(), "2024-06-01T00:00:00Z");
        assert!(cursor("17").moment().is_none() && cursor(r#""x""#).moment().is_none());
        assert_eq!((cursor(r#""a\"b""#).text(), cursor("1.50").text()), ("a\"b".to_owned(), "1.50".to_owned()));
    }
}
