//! The members of one line's object, with each value's exact text.
//!
//! A parser that turns numbers into floats would lose digits, so values stay text until their kind is known.

use std::borrow::Cow;

use super::error::Fault;

/// A member's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Null,
    Bool(bool),
    /// The number's text, as JSON spells it.
    Number(&'a str),
    Text(Quoted<'a>),
    /// The text of an object or an array.
    Nested(&'a str),
}

/// A string as it stands between its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quoted<'a> {
    /// With its quotes.
    whole: &'a str,
    escaped: bool,
}

impl<'a> Quoted<'a> {
    /// What the string says. `None` when an escape stands for no character (half of a surrogate pair).
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        if self.escaped {
            return serde_json::from_str(self.whole).ok().map(Cow::Owned);
        }
        Some(Cow::Borrowed(&self.whole[1..self.whole.len() - 1]))
    }
}

impl<'a> Token<'a> {
    /// The value's text as it stands in the line.
    pub(super) fn json(self) -> &'a str {
        match self {
            Token::Null => "null",
            Token::Bool(true) => "true",
            Token::Bool(false) => "false",
            Token::Number(text) | Token::Nested(text) => text,
            Token::Text(text) => text.whole,
        }
    }

    /// What to call it in an error.
    pub(super) fn name(self) -> &'static str {
        match self {
            Token::Null => "null",
            Token::Bool(_) => "a boolean",
            Token::Number(_) => "a number",
            Token::Text(_) => "a string",
            Token::Nested(text) if text.starts_with('[') => "an array",
            Token::Nested(_) => "an object",
        }
    }
}

/// Reads an object's members from a line, one call for each.
pub(super) struct Members<'a> {
    line: &'a str,
    at: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Inside,
    End,
}

impl<'a> Members<'a> {
    /// The members of the object that `line` is.
    pub(super) fn of(line: &'a str) -> Self {
        Self { line, at: 0, state: State::Start }
    }

    /// The next member's name and value, or `None` when the object has ended and nothing follows it.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(Quoted<'a>, Token<'a>)>, Fault> {
        match self.state {
            State::End => return Ok(None),
            State::Start => {
                if self.peek() != Some(b'{') {
                    return Err(if self.value().is_ok() { Fault::NotAnObject } else { self.not_json() });
                }
                self.at += 1;
                self.state = State::Inside;
                if self.peek() == Some(b'}') {
                    return self.end();
                }
            }
            State::Inside => match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => return self.end(),
                _ => return Err(self.not_json()),
            },
        }
        if self.peek() != Some(b'"') {
            return Err(self.not_json());
        }
        let name = self.string()?;
        if self.peek() != Some(b':') {
            return Err(self.not_json());
        }
        self.at += 1;
        Ok(Some((name, self.value()?)))
    }

    fn end(&mut self) -> Result<Option<(Quoted<'a>, Token<'a>)>, Fault> {
        self.at += 1;
        self.state = State::End;
        match self.peek() {
            None => Ok(None),
            Some(_) => Err(Fault::Trailing { column: self.at + 1 }),
        }
    }

    #[cold]
    fn not_json(&self) -> Fault {
        Fault::NotJson { column: self.at + 1 }
    }

    /// The next byte that is no blank.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.line.as_bytes();
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn value(&mut self) -> Result<Token<'a>, Fault> {
        match self.peek() {
            Some(b'"') => Ok(Token::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'{' | b'[') => self.nested(),
            Some(b't') => self.word("true", Token::Bool(true)),
            Some(b'f') => self.word("false", Token::Bool(false)),
            Some(b'n') => self.word("null", Token::Null),
            _ => Err(self.not_json()),
        }
    }

    fn word(&mut self, word: &str, token: Token<'a>) -> Result<Token<'a>, Fault> {
        if !self.line.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.not_json());
        }
        self.at += word.len();
        Ok(token)
    }

    #[inline]
    fn string(&mut self) -> Result<Quoted<'a>, Fault> {
        let bytes = self.line.as_bytes();
        let start = self.at;
        let mut at = start + 1;
        let mut escaped = false;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    at += 2;
                }
                Some(0..0x20) | None => {
                    self.at = at.min(bytes.len());
                    return Err(self.not_json());
                }
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        Ok(Quoted { whole: &self.line[start..self.at], escaped })
    }

    /// A number by JSON's grammar: no leading zero, digits on both sides of a point.
    fn number(&mut self) -> Result<Token<'a>, Fault> {
        let bytes = self.line.as_bytes();
        let start = self.at;
        let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut at = start + usize::from(bytes[start] == b'-');
        let mut good = true;
        let whole = digits(at);
        good &= whole > 0 && (whole == 1 || bytes[at] != b'0');
        at += whole;
        if bytes.get(at) == Some(&b'.') {
            let fraction = digits(at + 1);
            good &= fraction > 0;
            at += 1 + fraction;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(at.min(bytes.len()));
            good &= exponent > 0;
            at += exponent;
        }
        if !good {
            return Err(self.not_json());
        }
        self.at = at;
        Ok(Token::Number(&self.line[start..at]))
    }

    fn nested(&mut self) -> Result<Token<'a>, Fault> {
        let rest = &self.line[self.at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => {
                let length = values.byte_offset();
                self.at += length;
                Ok(Token::Nested(&rest[..length]))
            }
            Some(Err(error)) => Err(Fault::NotJson { column: self.at + error.column() }),
            None => Err(self.not_json()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(line: &str) -> Result<Vec<(String, String)>, Fault> {
        let mut members = Members::of(line);
        let mut found = Vec::new();
        while let Some((name, value)) = members.next()? {
            let name = name.text().ok_or(Fault::NotUtf8)?.into_owned();
            let text = match value {
                Token::Null => "null".to_owned(),
                Token::Bool(b) => b.to_string(),
                Token::Number(n) | Token::Nested(n) => n.to_owned(),
                Token::Text(t) => serde_json::to_string(&t.text().ok_or(Fault::NotUtf8)?).unwrap(),
            };
            found.push((name, text));
        }
        Ok(found)
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        use serde_json::Value;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_object_is_read(object in prop::collection::btree_map(any::<String>(), json(), 0..6), spread in any::<bool>()) {
            let object = serde_json::Value::Object(object.into_iter().collect());
            let line = if spread { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) }.unwrap();
            let found = read(&line).unwrap();
            let members = object.as_object().unwrap();
            prop_assert_eq!(found.len(), members.len());
            for (name, text) in found {
                prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(&text).unwrap(), &members[&name]);
            }
        }

        /// What another parser accepts is accepted, what it refuses is refused.
        #[test]
        fn the_grammar_is_jsons(line in "\\{(\"a\"|\"\\\\|b)?:?[-+0-9.eE,\"a:\\[\\]{}truefalsn \\\\]{0,12}\\}?") {
            let theirs = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&line);
            let ours = read(&line);
            let huge = line.contains(['e', 'E']) && theirs.is_err();
            if !huge {
                prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs);
            }
        }

        #[test]
        fn no_text_makes_it_panic(line in any::<String>(), near in "[{}\\[\\]\",:\\\\u0-9.eE truefalsn-]{0,30}") {
            let _ = (read(&line), read(&near));
        }
    }

    #[test]
    fn numbers_keep_their_text() {
        let line = r#"{"a":9007199254740993,"b":1.50,"c":-0,"d":1E+400, "e" : [1.0] }"#;
        let texts: Vec<_> = read(line).unwrap().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["9007199254740993", "1.50", "-0", "1E+400", "[1.0]"]);
    }

    #[test]
    fn what_is_no_object_is_said() {
        assert_eq!(read("[1]"), Err(Fault::NotAnObject));
        assert_eq!(read("12"), Err(Fault::NotAnObject));
        assert_eq!(read("{\"a\":1} x"), Err(Fault::Trailing { column: 9 }));
        assert_eq!(read("{\"a\":01}"), Err(Fault::NotJson { column: 6 }));
        assert_eq!(read("{\"a\":1"), Err(Fault::NotJson { column: 7 }));
        assert_eq!(read("{\"a\":[1,}"), Err(Fault::NotJson { column: 9 }));
    }
}
