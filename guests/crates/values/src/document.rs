//! Reading JSON documents without losing a digit: parts of a document are slices of its text.

use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

use faucet_sdk::serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// What a JSON document is, by its first character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
}

/// Whether `text` is one JSON document.
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// What the valid document `json` is. No blanks may stand before it: [`str::trim`] takes them away.
pub fn shape(json: &str) -> Shape {
    match json.as_bytes().first() {
        Some(b'{') => Shape::Object,
        Some(b'[') => Shape::Array,
        Some(b'"') => Shape::String,
        Some(b't' | b'f') => Shape::Boolean,
        Some(b'n') | None => Shape::Null,
        Some(_) => Shape::Number,
    }
}

/// The elements of a list; none if `json` is no list, or no JSON.
pub fn elements(json: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// Names and values of an object in written order, a repeated name as often as it stands there; none if `json` is no
/// object, or no JSON.
pub fn members(json: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    serde_json::from_str::<Members<'_>>(json).ok().map(|members| members.0)
}

/// The text that a JSON string stands for; none if it is no string, or half of a surrogate pair stands in it.
pub fn string(json: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Name<'_>>(json).ok().map(|name| name.0)
}

struct Members<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
                    members.push((name.0, value.get()));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

/// A string, borrowed unless it has escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Read)
    }
}

/// A way into a document: `address.lines[0]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Member(String),
    Element(usize),
}

impl Path {
    /// Reads a path: names with points between them, and `[n]` for an element of a list, counted from 0. A name with a
    /// point, a bracket or a quote is written as a JSON string in brackets: `["a.b"]`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = match rest.strip_prefix('[') {
                Some(inside) => bracket(inside, &mut steps)?,
                None if steps.is_empty() => name(rest, &mut steps)?,
                None => name(rest.strip_prefix('.')?, &mut steps)?,
            };
        }
        (!steps.is_empty()).then_some(Self(steps))
    }

    /// The part of the document the path leads to; none if it has no such part. Of a repeated name the last counts.
    pub fn find<'a>(&self, json: &'a str) -> Option<&'a str> {
        let mut at = json;
        for step in &self.0 {
            at = match step {
                Step::Member(name) => members(at)?.into_iter().rev().find(|(member, _)| member == name)?.1,
                Step::Element(index) => elements(at)?.get(*index).copied()?,
            };
        }
        Some(at)
    }
}

/// Reads a name up to the next point or bracket, and returns what follows.
fn name<'t>(text: &'t str, steps: &mut Vec<Step>) -> Option<&'t str> {
    let (name, rest) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
    let plain = !name.is_empty() && !name.contains([']', '"']);
    plain.then(|| steps.push(Step::Member(name.to_owned())))?;
    Some(rest)
}

/// Reads what stands behind an opening bracket, and returns what follows the closing one.
fn bracket<'t>(inside: &'t str, steps: &mut Vec<Step>) -> Option<&'t str> {
    let mut from = 0;
    while let Some(at) = inside[from..].find(']') {
        let (content, rest) = inside.split_at(from + at);
        let step = match content.starts_with('"') {
            true => string(content).map(|name| Step::Member(name.into_owned())),
            false if content.bytes().all(|b| b.is_ascii_digit()) => content.parse().ok().map(Step::Element),
            false => None,
        };
        if let Some(step) = step {
            steps.push(step);
            return Some(&rest[1..]);
        }
        // The bracket may be part of a quoted name.
        from += at + 1;
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_exact_text() {
        let json = r#"{"a": 1.50, "b\n": [ 12345678901234567890123 , {"x" : null} ], "a": "é\u00e9"}"#;
        let members = members(json).unwrap();
        assert_eq!(members[0], (Cow::Borrowed("a"), "1.50"));
        assert_eq!(members[1].0, "b\n");
        assert_eq!(elements(members[1].1).unwrap(), ["12345678901234567890123", r#"{"x" : null}"#]);
        assert_eq!(string(members[2].1).unwrap(), "éé");
        assert_eq!(string(r#""\ud800""#), None, "half a character is no text");
        assert!(is_json(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))), "depth costs no stack");
        for bad in ["", "{", "1 2", "{'a':1}", "nul", "01"] {
            assert!(!is_json(bad), "{bad}");
        }
    }

    #[test]
    fn a_path_leads_into_a_document() {
        let json = r#"{"a": {"b": [10, {"c.d": true, "]": 7}]}, "a2": 1, "r": 1, "r": 2}"#;
        let at = |path: &str| Path::parse(path).unwrap().find(json);
        assert_eq!(at("a.b[0]"), Some("10"));
        assert_eq!(at(r#"a.b[1]["c.d"]"#), Some("true"));
        assert_eq!(at(r#"["a"].b[1]["]"]"#), Some("7"));
        assert_eq!(at("r"), Some("2"));
        assert_eq!((at("a.x"), at("a.b[2]"), at("a2.x"), at("a[0]")), (None, None, None, None));
        for bad in ["", ".a", "a.", "a..b", "a[", "a[x]", "a[-1]", "a]b", "a[0]b", "[\"a]", "a\"b"] {
            assert_eq!(Path::parse(bad), None, "{bad}");
        }
    }
}
