//! JSON read where it lies, so that numbers and nested values keep their exact text.

use faucet_sdk::serde::de::IgnoredAny;
use faucet_sdk::{Error, Result};
use faucet_values::document::{self, Shape as Form};
use std::borrow::Cow;
use std::collections::HashMap;

/// One value: its text, without anything around it.
pub(crate) type Raw = str;

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
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Error::new(format!("the answer is no JSON (line {line}, column {column})"))
    })?;
    Ok(text.trim())
}

pub(crate) fn shape(raw: &Raw) -> Result<Shape<'_>> {
    Ok(match document::shape(raw) {
        Form::Null => Shape::Null,
        Form::Boolean => Shape::Boolean(raw == "true"),
        Form::Number => Shape::Number(raw),
        Form::String => Shape::Text(document::string(raw).ok_or_else(unreadable)?),
        Form::Object => Shape::Object,
        Form::Array => Shape::Array,
    })
}

/// The members of an object in order; of two with one name the last counts.
pub(crate) fn members(raw: &Raw) -> Result<Vec<(Cow<'_, str>, &Raw)>> {
    let all = document::members(raw).ok_or_else(unreadable)?;
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
    document::elements(raw).ok_or_else(unreadable)
}

/// The member of an object, or the element of an array by its number; none if there is none.
pub(crate) fn child<'a>(raw: &'a Raw, name: &str) -> Result<Option<&'a Raw>> {
    Ok(match document::shape(raw) {
        Form::Object => {
            let members = document::members(raw).ok_or_else(unreadable)?;
            members.into_iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
        }
        Form::Array => match name.parse::<usize>() {
            Ok(index) => elements(raw)?.get(index).copied(),
            Err(_) => None,
        },
        Form::Null | Form::Boolean | Form::Number | Form::String => None,
    })
}

/// The document was checked when it came: what can still be wrong is a character outside of Unicode.
fn unreadable() -> Error {
    Error::new("the answer holds text that is not Unicode")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_text() {
        let text = r#" { "a" : 1.50, "b\n":[ 1,2 ], "c":null, "a":12345678901234567890 } "#;
        let found = members(document(text).unwrap()).unwrap();
        let seen: Vec<_> = found.iter().map(|(name, raw)| (&**name, *raw)).collect();
        assert_eq!(seen, [("a", "12345678901234567890"), ("b\n", "[ 1,2 ]"), ("c", "null")]);
        assert_eq!(elements(found[1].1).unwrap().len(), 2);
        assert_eq!(child(document(text).unwrap(), "a").unwrap().unwrap(), "12345678901234567890");
        assert_eq!(child(found[1].1, "1").unwrap().unwrap(), "2");
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
