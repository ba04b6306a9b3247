//! [`Span`]: a length of time in a configuration.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::quantity::{scaled, split_number};

/// A length of time: a number of seconds, or text such as `500ms`, `30s`, `5m`, `2h`, `1d` or `1h30m`.
///
/// Exact to the nanosecond and at most 10,000 days, so that adding it to a clock can't overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(Duration);

/// The longest span that is accepted.
const LONGEST: Duration = Duration::from_secs(10_000 * 24 * 60 * 60);

/// What every message about a bad span says to write instead.
const FORMS: &str = "write a number of seconds, or text such as 500ms, 30s, 5m or 2h";

/// The units by name, with their nanoseconds. Longest first: that is the order they print in.
const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
];

impl Span {
    /// The `format` keyword that marks a span in a JSON Schema.
    pub const FORMAT: &'static str = "span";

    /// A span of whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// A span of milliseconds.
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(Duration::from_millis(milliseconds))
    }

    /// The span as the standard library's type.
    pub const fn duration(self) -> Duration {
        self.0
    }

    /// Whether it is zero.
    pub const fn is_zero(self) -> bool {
        self.0.is_zero()
    }

    /// A span of `seconds`, which may have a fraction.
    ///
    /// # Errors
    /// What is wrong with the number: negative, not finite, or too long.
    pub fn from_seconds(seconds: f64) -> Result<Self, String> {
        let length =
            Duration::try_from_secs_f64(seconds).map_err(|_| format!("{seconds} is not a length of time: {FORMS}"))?;
        Self::bounded(length)
    }

    fn bounded(length: Duration) -> Result<Self, String> {
        if length > LONGEST {
            return Err("longer than 10000 days".to_owned());
        }
        Ok(Self(length))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        span.0
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("\"{text}\" is not a length of time: {FORMS}");
        let mut rest = text.trim();
        let mut nanos: u64 = 0;
        let mut smallest = u64::MAX;
        if rest.is_empty() {
            return Err(refuse());
        }
        while !rest.is_empty() {
            let (number, tail) = split_number(rest);
            let unit_end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
            let (name, tail) = tail.split_at(unit_end);
            // A lone number is seconds, so that an environment variable can hold either form.
            let name = if name.is_empty() && nanos == 0 && tail.is_empty() { "s" } else { name };
            let unit = UNITS.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit).ok_or_else(refuse)?;
            if unit >= smallest {
                return Err(refuse());
            }
            smallest = unit;
            let part = scaled(number, unit).ok_or_else(refuse)?;
            nanos = nanos.checked_add(part).ok_or_else(refuse)?;
            rest = tail;
        }
        Self::bounded(Duration::from_nanos(nanos))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_zero() {
            return f.write_str("0s");
        }
        let mut nanos = self.0.as_nanos();
        for (name, unit) in UNITS {
            let unit = u128::from(unit);
            let count = nanos / unit;
            nanos %= unit;
            if name == "ms" && nanos != 0 {
                let fraction = format!("{nanos:06}");
                return write!(f, "{count}.{}ms", fraction.trim_end_matches('0'));
            }
            if count != 0 {
                write!(f, "{count}{name}")?;
            }
        }
        Ok(())
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl de::Visitor<'_> for Visitor {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a length of time: a number of seconds, or text such as 500ms, 30s, 5m or 2h")
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Span, E> {
        Span::bounded(Duration::from_secs(seconds)).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Span, E> {
        let seconds =
            u64::try_from(seconds).map_err(|_| E::custom(format!("{seconds} is not a length of time: {FORMS}")))?;
        self.visit_u64(seconds)
    }

    fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Span, E> {
        Span::from_seconds(seconds).map_err(E::custom)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
        text.parse().map_err(E::custom)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A length of time: a number of seconds, or text such as `500ms`, `30s`, `5m`, `2h`.",
            "type": ["number", "string"],
            "minimum": 0,
            "format": Self::FORMAT,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Duration {
        text.parse::<Span>().unwrap().duration()
    }

    #[test]
    fn the_written_forms() {
        assert_eq!(parse("500ms"), Duration::from_millis(500));
        assert_eq!(parse("30s"), Duration::from_secs(30));
        assert_eq!(parse("30"), Duration::from_secs(30));
        assert_eq!(parse("5m"), Duration::from_secs(300));
        assert_eq!(parse("1h30m"), Duration::from_secs(5400));
        assert_eq!(parse("1.5s"), Duration::from_millis(1500));
        assert_eq!(serde_json::from_str::<Span>("0.25").unwrap().duration(), Duration::from_millis(250));
        assert_eq!(serde_json::from_str::<Span>("300").unwrap().duration(), Duration::from_secs(300));
    }

    #[test]
    fn other_forms_are_refused() {
        for bad in
            ["", " ", "s", "5 m", "5 minutes", "-1s", "1m1m", "1s1m", "30s5", "1e3", "1us", "0.0000001ms", "10001d"]
        {
            assert!(bad.parse::<Span>().is_err(), "{bad}");
        }
        for bad in ["-1", "-0.5", "1e300", "null", "[]", "864000001"] {
            assert!(serde_json::from_str::<Span>(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn printing_and_parsing_are_inverse(nanos in 0u64..864_000_000_000_000_000) {
            let span = Span(Duration::from_nanos(nanos));
            prop_assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
        }
    }
}
