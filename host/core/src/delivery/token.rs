//! [`Token`]: what a sink stores in the same transaction as the rows it covers.
//!
//! A token is a number that grows with every commit of a pipeline, and the bookmark of the last page of that commit.
//! After a crash the sink's token says what is really in the destination: when it is ahead of the state store, the
//! source is opened at the token's bookmark and nothing is written twice.
//!
//! As text a token is its number in twenty digits, then `:` and the bookmark as JSON. Texts sort like numbers, so a sink
//! that only has `MAX` or a sorted key still finds the last one. A token without a bookmark is the number alone.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::error::{Blame, Code, Error, Retry};
use crate::ports::Bookmark;

/// A stored token that isn't one.
pub static MALFORMED: Code = Code {
    id: "delivery.malformed_token",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "the destination holds a commit token that faucet didn't write",
    help: "With exactly-once delivery the destination keeps a token for each pipeline, usually in the table \
           `_faucet_commit_token`. The one found there can't be read: something else wrote it, or it was cut off. Look \
           at the row whose scope is the pipeline's. Deleting it makes faucet go by its state store alone, which may \
           repeat the last page once.",
};

/// The digits of the largest sequence number.
const DIGITS: usize = 20;

/// A commit's number and the bookmark of its last page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Grows by one with every commit of a pipeline.
    pub sequence: u64,
    /// Where a source resumes after this commit. `None` in tokens that only count.
    pub bookmark: Option<Bookmark>,
}

impl Token {
    /// The token after `last`, or the first one.
    pub fn after(last: Option<&Token>, bookmark: Bookmark) -> Self {
        // 2^64 commits at one a nanosecond take 584 years.
        let sequence = last.map_or(1, |token| token.sequence.saturating_add(1));
        Self { sequence, bookmark: Some(bookmark) }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0DIGITS$}", self.sequence)?;
        match &self.bookmark {
            Some(Bookmark(value)) => write!(f, ":{value}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Token {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (number, rest) = match text.split_at_checked(DIGITS) {
            Some((number, rest)) if number.bytes().all(|b| b.is_ascii_digit()) => (number, rest),
            _ => return Err(malformed("it doesn't start with twenty digits")),
        };
        let sequence = number.parse().map_err(|_| malformed("its number is too large"))?;
        if sequence == u64::MAX {
            // There is none after it, and nobody can have counted so far.
            return Err(malformed("its number is too large"));
        }
        if rest.is_empty() {
            return Ok(Self { sequence, bookmark: None });
        }
        let json = rest.strip_prefix(':').ok_or_else(|| malformed("there is no `:` after its number"))?;
        // The parser's own message could quote the bookmark, which may hold key values.
        let value: Value = serde_json::from_str(json).map_err(|_| malformed("its bookmark is not JSON"))?;
        Ok(Self { sequence, bookmark: Some(Bookmark(value)) })
    }
}

fn malformed(why: &str) -> Error {
    Error::new(&MALFORMED, format!("the destination's commit token can't be read: {why}"))
        .hint("`faucet explain delivery.malformed_token` says what to do")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_filter("JSON has no infinities", |f| f.is_finite()).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    fn any_token() -> impl Strategy<Value = Token> {
        (any::<u64>(), prop::option::of(any_json().prop_map(Bookmark)))
            .prop_map(|(sequence, bookmark)| Token { sequence, bookmark })
    }

    proptest! {
        #[test]
        fn text_and_token_are_the_same(token in any_token()) {
            prop_assert_eq!(token.to_string().parse::<Token>().unwrap(), token);
        }

        #[test]
        fn texts_sort_like_sequences(a in any_token(), b in any_token()) {
            if a.sequence != b.sequence {
                prop_assert_eq!(a.to_string().cmp(&b.to_string()), a.sequence.cmp(&b.sequence));
            }
        }

        #[test]
        fn any_text_gives_a_token_or_an_error(text in any::<String>(), digits in "[0-9]{19,21}.{0,10}") {
            for text in [text, digits] {
                if let Ok(token) = text.parse::<Token>() {
                    prop_assert_eq!(token.to_string().parse::<Token>().unwrap(), token);
                }
            }
        }
    }

    #[test]
    fn the_written_form() {
        let first = Token::after(None, Bookmark(json!({"lsn": "0/1"})));
        assert_eq!(first.to_string(), "00000000000000000001:{\"lsn\":\"0/1\"}");
        assert_eq!(Token::after(Some(&first), Bookmark(json!(7))).to_string(), "00000000000000000002:7");
    }

    #[test]
    fn damaged_tokens_are_errors_that_keep_the_bookmark_to_themselves() {
        for (text, why) in [
            ("", "twenty digits"),
            ("1", "twenty digits"),
            ("0000000000000000000é", "twenty digits"),
            ("99999999999999999999", "too large"),
            ("00000000000000000001x", "no `:`"),
            ("00000000000000000001:", "not JSON"),
            ("00000000000000000001:{\"id\": \"secret", "not JSON"),
        ] {
            let error = text.parse::<Token>().unwrap_err();
            assert_eq!(error.code().id, "delivery.malformed_token");
            assert!(error.to_string().contains(why), "{text}: {error}");
            assert!(!format!("{error:?}").contains("secret"));
        }
    }
}
