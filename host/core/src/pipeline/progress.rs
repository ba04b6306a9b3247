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

/// The destination's token is behind the stored one.
pub static COMMITS_LOST: Code = Code {
    id: "pipeline.commits_lost",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "the destination lost commits that were durable there",
    help: "Each commit has a number, kept at the destination in the rows' own transaction and in the state. The \
           destination's is behind the state's: it was restored from a backup, or failed over to a standby that lacked \
           the last commits, or its server crashed while it made commits durable late (`fsync = off`). The rows of \
           those commits are gone there, and the source may not have the changes any more. Restore a newer copy, or copy \
           anew: for a mirror `faucet mirror drop CONFIG`, then `faucet mirror --replace CONFIG`. For `faucet run`: empty \
           the table, delete the rows of `_faucet_commit_token` whose scope begins with the pipeline's, remove the state, \
           and run again.",
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
    /// two), and the token's bookmark is the truth. One that is behind, or gone, means that the destination lost commits.
    /// A position that was stored without a sequence is of a run without tokens: it is newer than any token.
    ///
    /// # Errors
    /// `pipeline.commits_lost`.
    pub fn reconcile(stored: Option<Self>, token: Option<Token>) -> Result<Option<Self>> {
        let Some(stored) = stored else {
            let of = |Token { sequence, bookmark }| bookmark.map(|b| Self { bookmark: b, sequence: Some(sequence) });
            return Ok(token.and_then(of));
        };
        let there = token.as_ref().map_or(0, |token| token.sequence);
        match stored.sequence {
            None => Ok(Some(Self { sequence: token.map(|token| token.sequence), ..stored })),
            Some(known) if there < known => Err(commits_lost(known, there)),
            Some(known) => match token {
                Some(Token { sequence, bookmark: Some(bookmark) }) if sequence > known => {
                    Ok(Some(Self { bookmark, sequence: Some(sequence) }))
                }
                Some(_) | None => Ok(Some(stored)),
            },
        }
    }
}

fn commits_lost(known: u64, there: u64) -> Error {
    let at = match there {
        0 => "holds no commit of this pipeline".to_owned(),
        there => format!("is at commit {there} of this pipeline"),
    };
    Error::new(&COMMITS_LOST, format!("the destination {at}, but commit {known} was durable there before"))
        .hint("`faucet explain pipeline.commits_lost` says what it can be, and what to do")
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

    fn resumes(stored: Option<Progress>, token: Option<Token>) -> Result<Option<Progress>, &'static str> {
        Progress::reconcile(stored, token).map_err(|e| e.code().id)
    }

    #[test]
    fn the_destination_wins_exactly_when_it_is_ahead() {
        assert_eq!(resumes(None, None), Ok(None));
        assert_eq!(resumes(Some(progress(5, Some(2))), Some(token(7, 3))), Ok(Some(progress(7, Some(3)))));
        assert_eq!(resumes(None, Some(token(7, 1))), Ok(Some(progress(7, Some(1)))));
        assert_eq!(resumes(Some(progress(5, Some(2))), Some(token(5, 2))), Ok(Some(progress(5, Some(2)))));
        assert_eq!(resumes(Some(progress(5, Some(0))), None), Ok(Some(progress(5, Some(0)))));
        // A mirror that was started anew numbers on from the token it found; that old token must not win.
        let anew = resumes(Some(progress(90, Some(8))), Some(token(7, 8)));
        assert_eq!(anew, Ok(Some(progress(90, Some(8)))));
    }

    #[test]
    fn a_position_without_a_number_is_newer_than_a_token() {
        assert_eq!(resumes(Some(progress(90, None)), None), Ok(Some(progress(90, None))));
        assert_eq!(resumes(Some(progress(90, None)), Some(token(7, 3))), Ok(Some(progress(90, Some(3)))));
    }

    #[test]
    fn a_destination_that_lost_commits_is_noticed() {
        for there in [None, Some(token(5, 1))] {
            assert_eq!(resumes(Some(progress(5, Some(2))), there), Err("pipeline.commits_lost"));
        }
    }

    #[test]
    fn what_is_not_a_bookmark_is_refused() {
        let error = Progress::parse("shop::cdc", &json!({"phase": "cdc"})).expect_err("it is no bookmark");
        assert_eq!(error.code().id, "state.not_a_bookmark");
        let back = Progress::parse("k", &progress(3, None).to_value()).expect("its own form is read");
        assert_eq!(back, progress(3, None));
    }
}
