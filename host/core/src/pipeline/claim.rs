//! What a run does before its first attempt: it claims the destination, and compares who wrote there last with its
//! state. So a run that has lost its place writes nothing any more, and a position is never taken for one of another
//! destination or another pipeline.
//!
//! The state names the writers that may stand at the destination. The new one is added before it claims and the old one
//! removed afterwards, so a crash between the two is no false alarm.

use serde::{Deserialize, Serialize};

use super::ack::Keeper;
use super::run::{Recipe, Terms};
use super::shutdown::Stop;
use crate::error::{Blame, Code, Error, Result, Retry};
use crate::ports::{Claim, Expect, FENCED, Standing};
use crate::state::{Marker, StateKey};

/// The destination was written by somebody else since, or is another one.
pub static OTHER_WRITER: Code = Code {
    id: "pipeline.other_writer",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "the destination was not written last by this pipeline with this state",
    help: "The destination and the state each keep which run wrote last, and the two differ. Either another pipeline of \
           the same `name` writes to the same schema or file (give one of them another name), or a copy of this one ran \
           with another state folder, or the destination is another one than before or was restored from a backup. Rows \
           can be missing or too many there, and the stored position says nothing about it. Copy anew: for a mirror \
           `faucet mirror drop CONFIG`, then `faucet mirror --replace CONFIG`. For `faucet run`: empty the table, delete \
           the rows of `_faucet_commit_token` whose scope begins with the pipeline's, remove the state, and run again.",
};

/// Whether the sink holds a claim of this run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Claiming {
    /// No: it can't, or the role may not.
    #[default]
    No,
    /// It can; no claim was made yet.
    Able,
    /// Yes, this one.
    Held(Claim),
}

impl Claiming {
    /// The claim that is held.
    pub fn held(&self) -> Option<&Claim> {
        match self {
            Self::Held(claim) => Some(claim),
            Self::No | Self::Able => None,
        }
    }
}

/// Where a run begins, as its state says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// At its beginning, whatever an earlier life of the pipeline left at the destination.
    Anew,
    /// Nothing is stored; a first commit may be at the destination.
    Unstored,
    /// At a stored position.
    Stored,
}

/// Who may stand at the destination as the one who wrote last; `None` for nobody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Writers {
    writers: Vec<Option<String>>,
}

/// The key under which a pipeline's state keeps who wrote last.
pub fn writers_key(key: &StateKey) -> StateKey {
    key.marker(Marker::Writer)
}

/// Claims the destination for a run, where it keeps claims. `None` when a stop came first.
///
/// # Errors
/// `pipeline.other_writer`, `sink.replaced`, `sink.emptied`, and failures of the destination and the store.
pub async fn claim(recipe: &dyn Recipe, terms: &Terms, beginning: Beginning, stop: &Stop) -> Result<Option<Terms>> {
    let (Some(keeper), Claiming::Able) = (&terms.keeper, &terms.claiming) else { return Ok(Some(terms.clone())) };
    let writer = format!("{:032x}", rand::random::<u128>());
    let claim = Claim { scope: keeper.key.as_str().to_owned(), writer };
    tokio::select! {
        biased;
        () = stop.draining() => Ok(None),
        held = take(recipe, terms, keeper, &claim, beginning) => {
            let claiming = if held? { Claiming::Held(claim) } else { Claiming::No };
            let tokens = terms.tokens || claiming != Claiming::No;
            Ok(Some(Terms { claiming, tokens, ..terms.clone() }))
        }
    }
}

/// Whether the claim was made. It is not where the destination keeps none.
async fn take(
    recipe: &dyn Recipe,
    terms: &Terms,
    keeper: &Keeper,
    claim: &Claim,
    beginning: Beginning,
) -> Result<bool> {
    let recorded = recorded(keeper).await?;
    let mut sink = recipe.sink(Some(claim)).await?;
    let held = loop {
        let (writer, changed) = match sink.standing().await? {
            Standing::Unkept(why) => break unkept(why, terms, recorded.is_some())?,
            Standing::Kept { writer, changed } => (writer, changed),
        };
        let anew = begins_anew(keeper, terms, beginning, recorded.as_ref(), writer.as_deref())?;
        if let (false, Some(changed)) = (anew, changed) {
            return Err(changed);
        }
        record(keeper, vec![writer.clone(), Some(claim.writer.clone())]).await?;
        // It fails when another run came first in the moment between; that one is looked at then.
        if sink.claim(writer.as_deref(), anew).await? {
            record(keeper, vec![Some(claim.writer.clone())]).await?;
            break true;
        }
    };
    sink.close().await?;
    Ok(held)
}

/// Whether the run begins anew, rather than going on.
fn begins_anew(
    keeper: &Keeper,
    terms: &Terms,
    beginning: Beginning,
    recorded: Option<&Writers>,
    writer: Option<&str>,
) -> Result<bool> {
    let is_known = match recorded {
        Some(Writers { writers }) => writers.iter().any(|known| known.as_deref() == writer),
        // The state of a release that made no claims.
        None => writer.is_none(),
    };
    let scope = keeper.key.as_str();
    match (beginning, is_known, writer) {
        (Beginning::Anew, _, _) => Ok(true),
        (_, true, _) => Ok(false),
        (Beginning::Unstored, false, _) if !terms.tokens => {
            tracing::warn!(scope, "nothing is stored, but the destination was written under this name: starts over");
            Ok(true)
        }
        (_, false, Some(_)) => Err(other_writer(format!(
            "a run under \"{scope}\" that this state knows nothing of was the last to write to the destination"
        ))),
        (_, false, None) => Err(other_writer(format!(
            "the destination holds no trace of the runs under \"{scope}\" that this state tells of: it is another \
             database, schema or file than before, or an older copy"
        ))),
    }
}

fn other_writer(what: String) -> Error {
    Error::new(&OTHER_WRITER, what).hint("`faucet explain pipeline.other_writer` says what it can be, and what to do")
}

/// The error that ended an attempt, or the one behind it: a session that was ended because another run took over says
/// no more than that it was ended.
pub async fn verdict(recipe: &dyn Recipe, terms: &Terms, error: Error) -> Error {
    let (Some(claim), Retry::Backoff) = (terms.claiming.held(), error.retry()) else { return error };
    let Ok(mut sink) = recipe.sink(Some(claim)).await else { return error };
    match sink.last_token(&claim.scope).await {
        Err(lost) if lost.code() == &FENCED => lost,
        Ok(_) | Err(_) => error,
    }
}

/// What to do where no claim can be kept.
fn unkept(why: Option<Error>, terms: &Terms, was_kept: bool) -> Result<bool> {
    match why {
        Some(why) if terms.tokens || was_kept => Err(why),
        Some(why) => {
            tracing::warn!(
                code = why.code().id,
                %why,
                "goes on without a mark at the destination: a second process, commits that the destination lost, and a \
                 table that was replaced or emptied will not be noticed"
            );
            Ok(false)
        }
        None => Ok(false),
    }
}

async fn recorded(keeper: &Keeper) -> Result<Option<Writers>> {
    let key = writers_key(&keeper.key);
    let stored = keeper.store.get(key.as_str()).await?;
    stored.map(|stored| Writers::deserialize(&stored.value)).transpose().map_err(|_| {
        let what = format!("the value under the state key \"{key}\" does not name writers");
        Error::new(&super::NOT_PROGRESS, what)
    })
}

async fn record(keeper: &Keeper, writers: Vec<Option<String>>) -> Result<()> {
    let value = serde_json::to_value(Writers { writers }).expect("text is JSON");
    keeper.store.put(writers_key(&keeper.key).as_str(), &value, Expect::Any).await.map(drop)
}
