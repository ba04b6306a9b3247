//! Sinks: where pages go.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::claim::{EMPTIED, FENCED, REPLACED, Standing};
use crate::error::{Blame, Code, Error, Result, Retry};
use crate::model::Page;

/// A commit came with a token that the sink has no place for.
pub static NO_TOKENS: Code = Code {
    id: "sink.no_tokens",
    blame: Blame::Bug,
    retry: Retry::Never,
    title: "the sink can't keep the token of a commit",
    help: "A token is a position that is stored together with rows, in one transaction. Files have none, and the rows of \
           an overwrite appear only at its end; `delivery: exactly_once` refuses such sinks before a run begins. That \
           this one came so far is a fault of faucet: please report it.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&NO_TOKENS, &FENCED, &REPLACED, &EMPTIED];

/// For a sink that has no place for tokens: to take one and forget it would lose rows later.
///
/// # Errors
/// `sink.no_tokens` if there is a token.
pub fn refuse_token(token: Option<(&str, &str)>) -> Result<()> {
    match token {
        None => Ok(()),
        Some(_) => Err(Error::new(&NO_TOKENS, "a commit with a token was asked of a sink without tokens")),
    }
}

/// Rows that were not written because they can't be, and why.
#[derive(Debug)]
pub struct SetAside {
    /// The rows.
    pub rows: Page,
    /// What stands against them; without their values.
    pub error: Error,
}

/// How rows meet those that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WriteMode {
    /// Every row is added.
    #[default]
    Append,
    /// A row replaces the one with its key; rows marked as deletes remove it.
    Upsert,
    /// The rows of this run replace everything, at once, when the run ends.
    Overwrite,
}

/// A destination.
///
/// Rows written since the last commit belong to one transaction of the sink. A sink without transactions makes rows
/// durable at the commit at the latest, and says so in its capabilities.
///
/// After any error the sink is dropped and opened anew: whatever was not committed must be gone by then, or be absorbed
/// when it is written again.
#[async_trait]
pub trait Sink: Send {
    /// The token of the last commit made under `scope`, read from the destination itself.
    ///
    /// # Errors
    /// Besides failures of the destination: `Ok(None)` is an answer only when no token was ever committed there.
    async fn last_token(&mut self, scope: &str) -> Result<Option<String>>;

    /// Whether the destination has rows now; `None` when that can't be told, or doesn't matter because the end of the run
    /// replaces them.
    ///
    /// # Errors
    /// Failures of the destination.
    async fn holds_rows(&mut self) -> Result<Option<bool>> {
        Ok(None)
    }

    /// Removes every row of the destination, durably. Called only where [`Sink::holds_rows`] says that there are some.
    ///
    /// # Errors
    /// Failures of the destination.
    async fn clear(&mut self) -> Result<()> {
        Ok(())
    }

    /// What the destination knows of the scope of the claim that the sink was opened with. What earlier runs left
    /// unfinished there is ended, or waited for.
    async fn standing(&mut self) -> Result<Standing> {
        Ok(Standing::Unkept(None))
    }

    /// Claims the scope for the run, durably, if `from` is still the one who claimed it last; says whether. From then on
    /// a commit of another run fails with `sink.fenced`. `anew` forgets its last token and its table.
    async fn claim(&mut self, _from: Option<&str>, _anew: bool) -> Result<bool> {
        Ok(false)
    }

    /// Writes a page of plain rows; begins a transaction when none is open. A page is written whole or fails whole.
    async fn write(&mut self, page: Page) -> Result<()>;

    /// The rows of pages written since the last call that were set aside. None unless the sink was opened to set rows
    /// aside ([`super::SinkContext::sets_aside`]); otherwise such a row fails its page.
    fn set_aside(&mut self) -> Vec<SetAside>;

    /// Ends the transaction. `Ok` means that everything written is durable, and with it the token under its scope if one
    /// was given. A sink that holds claims replaces only the token that it read or wrote last. Without an open transaction and without a token it does nothing.
    async fn commit(&mut self, token: Option<(&str, &str)>) -> Result<()>;

    /// The source is exhausted: what had to wait for the end (replacing the destination) happens now, durably.
    async fn finish(&mut self) -> Result<()>;

    /// Releases what the sink holds. Uncommitted rows are dropped.
    async fn close(&mut self) -> Result<()>;
}
