//! Rows that the destination has before a mirror begins.
//!
//! A snapshot writes the rows that the source has. What else is at the destination would stay: rows of an earlier mirror
//! that the source has deleted since, and nothing would ever tell of them.

use crate::error::{Blame, Code, Error, Result, Retry};
use crate::pipeline::Recipe;
use crate::ports::Claim;

/// A mirror would begin over rows that are there.
pub static NOT_EMPTY: Code = Code {
    id: "mirror.destination_not_empty",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the mirror would begin over rows that the destination has already",
    help: "A mirror begins by copying the rows that the source has. Rows that are at the destination already, and that the \
           source doesn't have (it deleted them since an earlier mirror), would stay for ever. `faucet mirror --replace CONFIG` \
           removes all rows of the destination before it copies; `faucet mirror --keep CONFIG` keeps them, for a destination \
           that holds other rows on purpose. Either matters only when a mirror begins; one that goes on ignores it.",
};

/// What becomes of rows that the destination has before the mirror begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// The mirror doesn't begin.
    #[default]
    Refuse,
    /// They are removed.
    Replace,
    /// They stay, beside those of the source.
    Keep,
}

/// Refuses a destination with rows, if they are to be neither replaced nor kept.
pub(super) async fn check(recipe: &dyn Recipe, existing: Existing) -> Result<()> {
    if existing != Existing::Refuse {
        return Ok(());
    }
    let mut sink = recipe.sink(None).await?;
    let holds_rows = sink.holds_rows().await?;
    sink.close().await?;
    if holds_rows == Some(true) {
        return Err(Error::new(&NOT_EMPTY, "the destination has rows, and this mirror has not begun yet").hint(
            "run `faucet mirror --replace CONFIG` to remove them first; with --keep they stay, whatever the source has",
        ));
    }
    Ok(())
}

/// Removes the rows, if they are to be replaced.
pub(super) async fn make_room(recipe: &dyn Recipe, claim: Option<&Claim>, existing: Existing) -> Result<()> {
    if existing != Existing::Replace {
        return Ok(());
    }
    let mut sink = recipe.sink(claim).await?;
    if sink.holds_rows().await? == Some(true) {
        tracing::info!("removing the rows that the destination has");
        sink.clear().await?;
    }
    sink.close().await
}
