//! [`ByteSize`]: an amount of memory or storage in a configuration.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::quantity::{scaled, split_number};

/// An amount of bytes: a whole number, or text such as `64KiB`, `16MiB`, `1GiB` (powers of 1024) or `10MB` (powers of
/// 1000).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteSize(u64);

/// What every message about a bad size says to write instead.
const FORMS: &str = "write a whole number of bytes, or text such as 64KiB, 16MiB or 1GiB";

/// The units by name, with their bytes. Largest binary unit first: that is the order printing tries them in.
const UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

impl ByteSize {
    /// The `format` keyword that marks a size in a JSON Schema.
    pub const FORMAT: &'static str = "byte-size";

    /// A size of `bytes`.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// A size of `n` times 1024 * 1024 bytes.
    pub const fn from_mib(n: u32) -> Self {
        Self((n as u64) << 20)
    }

    /// The size in bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// The size in bytes as an amount of memory; saturates where the address space is smaller.
    pub fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("\"{text}\" is not a size: {FORMS}");
        let (number, name) = split_number(text.trim());
        let name = name.trim_start();
        // A lone number is bytes, so that an environment variable can hold either form.
        let name = if name.is_empty() { "B" } else { name };
        let unit = UNITS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, unit)| *unit);
        scaled(number, unit.ok_or_else(refuse)?).map(Self).ok_or_else(refuse)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = UNITS[..4].iter().find(|(_, unit)| self.0 != 0 && self.0.is_multiple_of(*unit));
        match exact {
            Some((name, unit)) => write!(f, "{}{name}", self.0 / unit),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl de::Visitor<'_> for Visitor {
    type Value = ByteSize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size: a whole number of bytes, or text such as 64KiB, 16MiB or 1GiB")
    }

    fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<ByteSize, E> {
        Ok(ByteSize(bytes))
    }

    fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<ByteSize, E> {
        u64::try_from(bytes).map(ByteSize).map_err(|_| E::custom(format!("{bytes} is not a size: {FORMS}")))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ByteSize, E> {
        text.parse().map_err(E::custom)
    }
}

impl JsonSchema for ByteSize {
    fn schema_name() -> Cow<'static, str> {
        "ByteSize".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An amount of bytes: a whole number, or text such as `64KiB`, `16MiB`, `1GiB`.",
            "type": ["integer", "string"],
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

    fn parse(text: &str) -> u64 {
        text.parse::<ByteSize>().unwrap().bytes()
    }

    #[test]
    fn the_written_forms() {
        assert_eq!(parse("16MiB"), 16 << 20);
        assert_eq!(parse("64kib"), 64 << 10);
        assert_eq!(parse("1.5 GiB"), 3 << 29);
        assert_eq!(parse("10MB"), 10_000_000);
        assert_eq!(parse("4096"), 4096);
        assert_eq!(serde_json::from_str::<ByteSize>("4096").unwrap().bytes(), 4096);
    }

    #[test]
    fn other_forms_are_refused() {
        for bad in ["", "MiB", "16M", "16 mega", "-1", "1.5B", "1e6", "16MiB16", "99999999TiB"] {
            assert!(bad.parse::<ByteSize>().is_err(), "{bad}");
        }
        for bad in ["-1", "1.5", "null"] {
            assert!(serde_json::from_str::<ByteSize>(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn printing_and_parsing_are_inverse(bytes: u64) {
            let size = ByteSize(bytes);
            prop_assert_eq!(size.to_string().parse::<ByteSize>().unwrap(), size);
        }
    }
}
