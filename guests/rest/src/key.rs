//! Where a record has its replication key: a field, a dot path, or a JSON Pointer.

use crate::json::{Raw, child};
use faucet_sdk::Result;

/// The place of a single value in a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    /// A field of this name, or else the place its dots lead to.
    Name(String),
    /// A JSON Pointer (RFC 6901), taken apart.
    Pointer(Vec<String>),
}

impl Key {
    /// Reads a key; the error says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("names no field".to_owned()),
            path if path.starts_with('$') => Err("is a field, a dot path or a JSON Pointer, not a JSONPath".to_owned()),
            pointer if pointer.starts_with('/') => Ok(Self::Pointer(pointer_parts(pointer))),
            name => Ok(Self::Name(name.to_owned())),
        }
    }

    /// The value that a record has there.
    pub(crate) fn find<'a>(&self, record: &'a Raw) -> Result<Option<&'a Raw>> {
        match self {
            Self::Pointer(parts) => walk(record, parts.iter().map(String::as_str)),
            // A field whose own name has dots comes first: flat records have such.
            Self::Name(name) => match child(record, name)? {
                None if name.contains('.') => walk(record, name.split('.')),
                found => Ok(found),
            },
        }
    }
}

fn walk<'a, 'p>(record: &'a Raw, parts: impl Iterator<Item = &'p str>) -> Result<Option<&'a Raw>> {
    let mut at = record;
    for part in parts {
        match child(at, part)? {
            Some(next) => at = next,
            None => return Ok(None),
        }
    }
    Ok(Some(at))
}

/// The parts of a JSON Pointer.
pub(crate) fn pointer_parts(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::json::document;

    #[test]
    fn keys_are_found_in_three_ways() {
        let record = r#"{"id":1,"fields":{"updated":2,"a.b":{"c":3},"x/y":4},"items":[{"date":5}],"fields.flat":6,"fields.updated2":7}"#;
        let found = |key: &str| {
            let found = Key::parse(key).unwrap().find(document(record).unwrap()).unwrap();
            found.map(|raw| raw.to_owned())
        };
        let cases = [
            ("id", "1"),
            ("fields.updated", "2"),
            ("/fields/a.b/c", "3"),
            ("/fields/x~1y", "4"),
            ("items.0.date", "5"),
            ("/items/0/date", "5"),
            ("fields.flat", "6"),
            ("fields.updated2", "7"),
        ];
        for (key, value) in cases {
            assert_eq!(found(key).as_deref(), Some(value), "{key}");
        }
        for nowhere in ["x", "fields.x", "items.1.date", "/fields.flat/x", "id.x"] {
            assert_eq!(found(nowhere), None, "{nowhere}");
        }
        assert!(Key::parse("").is_err() && Key::parse("$.id").is_err());
    }
}
