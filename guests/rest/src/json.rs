//! JSON read where it lies, so that numbers and nested values keep their exact text.

use faucet_sdk::serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use faucet_sdk::{Error, Result};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// One value: its text, without anything around it.
pub(crate) type Raw = RawValue;

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape<'a> {
    Null,
    Boolean(bool),
    /// Its text.
    Number(&'a str),
    Text(Cow<'a, str>),
    Object,
    Array,
}

/// The document of an answer.
pub(crate) fn document(text: &str) -> Result<&Raw> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Error::new(format!("the answer is no JSON (line {line}, column {column})"))
    })
}

pub(crate) fn shape(raw: &Raw) -> Result<Shape<'_>> {
    let text = raw.get();
    Ok(match text.as_bytes().first() {
        Some(b'n') => Shape::Null,
        Some(b't') => Shape::Boolean(true),
        Some(b'f') => Shape::Boolean(false),
        Some(b'{') => Shape::Object,
        Some(b'[') => Shape::Array,
        Some(b'"') => Shape::Text(read::<Text<'_>>(raw)?.0),
        _ => Shape::Number(text),
    })
}

/// The members of an object in order; of two with one name the last counts.
pub(crate) fn members(raw: &Raw) -> Result<Vec<(Cow<'_, str>, &Raw)>> {
    let all = read::<Members<'_>>(raw)?.0;
    let mut places: HashMap<Cow<'_, str>, usize> = HashMap::with_capacity(all.len());
    let mut kept: Vec<(Cow<'_, str>, &Raw)> = Vec::with_capacity(all.len());
    for (name, value) in all {
        match places.get(&name) {
            Some(place) => kept[*place].1 = value,
            None => {
                places.insert(name.clone(), kept.len());
                kept.push((name, value));
            }
        }
    }
    Ok(kept)
}

/// The elements of an array.
pub(crate) fn elements(raw: &Raw) -> Result<Vec<&Raw>> {
    read(raw)
}

/// The member of an object, or the element of an array by its number; none if there is none.
pub(crate) fn child<'a>(raw: &'a Raw, name: &str) -> Result<Option<&'a Raw>> {
    Ok(match shape(raw)? {
        Shape::Object => read::<Members<'_>>(raw)?.0.into_iter().rev().find(|(known, _)| known == name).map(|(_, v)| v),
        Shape::Array => match name.parse::<usize>() {
            Ok(index) => elements(raw)?.get(index).copied(),
            Err(_) => None,
        },
        Shape::Null | Shape::Boolean(_) | Shape::Number(_) | Shape::Text(_) => None,
    })
}

/// A value whose text was checked when it was found: what can still be wrong is a character outside of Unicode.
fn read<'a, T: Deserialize<'a>>(raw: &'a Raw) -> Result<T> {
    serde_json::from_str(raw.get()).map_err(|_| Error::new("the answer holds text that is not Unicode"))
}

/// Text, borrowed where nothing in it is escaped.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrow)
    }
}

/// All members of an object.
struct Members<'a>(Vec<(Cow<'a, str>, &'a Raw)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((Text(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_text() {
        let text = r#" { "a" : 1.50, "b\n":[ 1,2 ], "c":null, "a":12345678901234567890 } "#;
        let found = members(document(text).unwrap()).unwrap();
        let seen: Vec<_> = found.iter().map(|(name, raw)| (&**name, raw.get())).collect();
        assert_eq!(seen, [("a", "12345678901234567890"), ("b\n", "[ 1,2 ]"), ("c", "null")]);
        assert_eq!(elements(found[1].1).unwrap().len(), 2);
        assert_eq!(child(document(text).unwrap(), "a").unwrap().unwrap().get(), "12345678901234567890");
        assert_eq!(child(found[1].1, "1").unwrap().unwrap().get(), "2");
        assert!(child(found[1].1, "x").unwrap().is_none());
    }

    #[test]
    fn what_is_no_json_says_where() {
        let error = document("{\"a\": <html>").unwrap_err().to_string();
        assert_eq!(error, "the answer is no JSON (line 1, column 7)");
        assert!(document("{} x").is_err() && document("").is_err());
        assert!(shape(document(r#""\ud800""#).unwrap()).is_err());
    }
}
