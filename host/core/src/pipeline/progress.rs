//! What a pipeline stores under its state key, and where it resumes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::delivery::Token;
use crate::error::{Blame, Code, Error, Result, Retry};
use crate::ports::Bookmark;

/// The value under a pipeline's state key is not progress.
pub static NOT_PROGRESS: Code = Code {
    id: "state.not_a_bookmark",
    blame: Blame::State,
    retry: Retry::Operator,
    title: "the state store holds something else where a bookmark should be",
    help: "The value under the pipeline's key was not written by faucet, or by a newer version of it. It is left as it \
           is. If another tool shares the store, give one of them another name or namespace; if the value is to be \
           given up, remove it and the pipeline starts over.",
};

/// Where a pipeline is: everything before the bookmark is durable in the destination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Where to resume.
    pub bookmark: Bookmark,
    /// The sequence of the last commit's token, where commits carry tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
}

impl Progress {
    /// Reads the value stored under `key`.
    pub fn parse(key: &str, value: &Value) -> Result<Self> {
        Self::deserialize(value).map_err(|_| {
            Error::new(&NOT_PROGRESS, format!("the value under the state key \"{key}\" is not a bookmark"))
        })
    }

    /// The value to store.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("a bookmark is JSON already")
    }

    /// Where to resume, given what the state store holds and the last token in the destination.
    ///
    /// The token was committed with the rows, so when it is ahead the store missed the last commits (a crash between the
    /// two), and the token's bookmark is the truth. A token that is not ahead says nothing new; it may be left over from
    /// before the state was reset.
    pub fn reconcile(stored: Option<Self>, token: Option<Token>) -> Option<Self> {
        let ahead = |t: &Token| stored.as_ref().is_none_or(|s| t.sequence > s.sequence.unwrap_or(0));
        match token.filter(ahead) {
            Some(Token { sequence, bookmark: Some(bookmark) }) => Some(Self { bookmark, sequence: Some(sequence) }),
            Some(Token { bookmark: None, .. }) | None => stored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn progress(at: u64, sequence: Option<u64>) -> Progress {
        Progress { bookmark: Bookmark(json!(at)), sequence }
    }

    fn token(at: u64, sequence: u64) -> Token {
        Token { sequence, bookmark: Some(Bookmark(json!(at))) }
    }

    #[test]
    fn the_destination_wins_exactly_when_it_is_ahead() {
        assert_eq!(Progress::reconcile(None, None), None);
        assert_eq!(Progress::reconcile(Some(progress(5, Some(2))), None), Some(progress(5, Some(2))));
        let ahead = Progress::reconcile(Some(progress(5, Some(2))), Some(token(7, 3)));
        assert_eq!(ahead, Some(progress(7, Some(3))));
        let first = Progress::reconcile(None, Some(token(7, 1)));
        assert_eq!(first, Some(progress(7, Some(1))));
        let level = Progress::reconcile(Some(progress(5, Some(2))), Some(token(5, 2)));
        assert_eq!(level, Some(progress(5, Some(2))));
        // A mirror that was started anew numbers on from the token it found; that old token must not win.
        let anew = Progress::reconcile(Some(progress(90, Some(8))), Some(token(7, 8)));
        assert_eq!(anew, Some(progress(90, Some(8))));
    }

    #[test]
    fn what_is_not_a_bookmark_is_refused() {
        let error = Progress::parse("shop::cdc", &json!({"phase": "cdc"})).expect_err("it is no bookmark");
        assert_eq!(error.code().id, "state.not_a_bookmark");
        let back = Progress::parse("k", &progress(3, None).to_value()).expect("its own form is read");
        assert_eq!(back, progress(3, None));
    }
}
