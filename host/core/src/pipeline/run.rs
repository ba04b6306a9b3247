//! One pipeline from opening to its end: position, pump, and trying again.

use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::watch;

use super::ack::{Keeper, Ledger, Tokens};
use super::chain::Chain;
use super::claim::{Beginning, Claiming, claim, verdict};
use super::dlq::DeadLetters;
use super::progress::Progress;
use super::pump::{Ended, Limits, Pump};
use super::retry::{Backoff, RetryPolicy};
use super::shutdown::Stop;
use crate::delivery::Token;
use crate::error::{Error, Result};
use crate::observe::{Meter, Phase};
use crate::ports::{Bookmark, Claim, Covered, Sink, Source, Transform};

/// Where a source begins.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// The bookmark; `None` is the source's beginning.
    pub bookmark: Option<Bookmark>,
    /// What a mirror recorded of the source.
    pub covered: Option<Covered>,
}

/// How the parts of a pipeline are opened; asked again for every attempt, because an error leaves no part usable.
#[async_trait]
pub trait Recipe: Send + Sync {
    /// A source that begins there.
    async fn source(&self, from: Opening) -> Result<Box<dyn Source>>;
    /// The transforms, in order.
    async fn transforms(&self) -> Result<Vec<Box<dyn Transform>>>;
    /// The sink, of the run that `claim` tells from others, if it is one that keeps state.
    async fn sink(&self, claim: Option<&Claim>) -> Result<Box<dyn Sink>>;
    /// Where rows go that can't be written, if there is such a place.
    async fn dead_letters(&self) -> Result<Option<DeadLetters>>;
}

/// What is fixed for all attempts.
#[derive(Clone)]
pub struct Terms {
    /// Where progress is kept; without it every run starts at the beginning.
    pub keeper: Option<Keeper>,
    /// Whether commits carry tokens (exactly-once by watermark). Needs a keeper.
    pub tokens: bool,
    /// Whether the sink holds a claim of this run.
    pub claiming: Claiming,
    /// What the run counts as while it pumps.
    pub phase: Phase,
    /// Failpoint hit after each page that was written.
    pub page_failpoint: &'static str,
    /// Counters.
    pub meter: Arc<Meter>,
    /// Limits of the pump.
    pub limits: Limits,
}

/// How durable bookmarks get from the ledger to the source.
pub struct Link {
    /// The ledger tells it what is durable.
    pub settled: watch::Sender<Option<Bookmark>>,
    /// The reader hears from it what to confirm upstream. Its sender must go when `settled` does.
    pub confirm: watch::Receiver<Option<Bookmark>>,
}

impl Link {
    /// Whatever is durable is confirmed.
    pub fn direct() -> Self {
        let (settled, confirm) = watch::channel(None);
        Self { settled, confirm }
    }
}

/// Opens a pipeline at its progress and pumps until it ends.
///
/// # Errors
/// Of opening or of any stage. What was settled stays settled.
pub async fn attempt(recipe: &dyn Recipe, terms: &Terms, link: Link, stop: &Stop) -> Result<Ended> {
    let mut sink = recipe.sink(terms.claiming.held()).await?;
    let stored = match &terms.keeper {
        Some(keeper) => keeper.load().await?,
        None => None,
    };
    let token = last_token(sink.as_mut(), terms).await?;
    let progress = resume(stored, token, terms).await?;
    let tokens = match terms.tokens {
        true => Tokens::After(progress.as_ref().and_then(|p| p.sequence).unwrap_or(0)),
        false => Tokens::Off,
    };
    let bookmark = progress.map(|p| p.bookmark);
    let dead_letters = recipe.dead_letters().await?;
    let chain = Chain::new(recipe.transforms().await?, dead_letters.is_some());
    // Opening it can wait for others for as long as they like (a replication slot that is made, or in use).
    let source = tokio::select! {
        biased;
        () = stop.draining() => return sink.close().await.map(|()| Ended::Stopped),
        source = recipe.source(Opening { bookmark, covered: None }) => source?,
    };
    terms.meter.enter(terms.phase);
    let pump = Pump {
        source,
        chain,
        sink,
        dead_letters,
        ledger: Ledger::new(terms.keeper.clone(), tokens, link.settled),
        durable: link.confirm,
        meter: terms.meter.clone(),
        limits: terms.limits,
        page_failpoint: terms.page_failpoint,
    };
    pump.run(stop).await
}

/// Where to resume. What the destination knows better is stored before anything is committed on top of it.
async fn resume(stored: Option<Progress>, token: Option<Token>, terms: &Terms) -> Result<Option<Progress>> {
    let (true, Some(keeper)) = (terms.tokens, &terms.keeper) else { return Ok(stored) };
    let mut progress = Progress::reconcile(stored.clone(), token)?;
    if let Some(progress) = &mut progress {
        progress.sequence.get_or_insert(0);
        if stored.as_ref() != Some(progress) {
            keeper.save(progress).await?;
        }
    }
    Ok(progress)
}

/// The last token the destination holds for this pipeline.
///
/// # Errors
/// Of the destination, or when what it holds is no token.
pub async fn last_token(sink: &mut dyn Sink, terms: &Terms) -> Result<Option<Token>> {
    let (true, Some(keeper)) = (terms.tokens, &terms.keeper) else { return Ok(None) };
    let text = sink.last_token(keeper.key.as_str()).await?;
    text.map(|t| t.parse::<Token>()).transpose()
}

/// Whether repeating an attempt can't double rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeatable {
    /// The source resumes at bookmarks and each commit stores one.
    pub resumes: bool,
    /// Writing a row again changes nothing (upsert), or an unfinished run leaves nothing behind (overwrite).
    pub absorbs: bool,
}

/// Attempts a pipeline until it ends, fails for good, or was asked to stop.
///
/// An attempt that already committed rows is tried again only when that can't double them.
///
/// # Errors
/// The last attempt's.
pub async fn run(
    recipe: &dyn Recipe,
    terms: &Terms,
    repeatable: Repeatable,
    policy: RetryPolicy,
    stop: &Stop,
) -> Result<Ended> {
    let mut backoff = Backoff::new(policy);
    let mut begun = None;
    loop {
        let before = terms.meter.reading().rows_written;
        let error = match begin_and_attempt(recipe, terms, &mut begun, stop).await {
            Ok(ended) => return Ok(ended),
            Err(error) => error,
        };
        let advanced = terms.meter.reading().rows_written > before;
        if advanced {
            backoff.reset();
        }
        let safe = !advanced || repeatable.resumes || repeatable.absorbs;
        let Some(delay) = backoff.after(&error).filter(|_| safe && !stop.is_draining()) else { return Err(error) };
        wait_before_retry(&error, delay, terms, stop).await;
        if stop.is_draining() {
            return Ok(Ended::Stopped);
        }
    }
}

/// One attempt; before the first one that gets so far, the run takes its place.
async fn begin_and_attempt(
    recipe: &dyn Recipe,
    terms: &Terms,
    begun: &mut Option<Terms>,
    stop: &Stop,
) -> Result<Ended> {
    if begun.is_none() {
        *begun = begin(recipe, terms, stop).await?;
    }
    match begun {
        Some(terms) => match attempt(recipe, terms, Link::direct(), stop).await {
            Err(error) => Err(verdict(recipe, terms, error).await),
            ended => ended,
        },
        None => Ok(Ended::Stopped),
    }
}

/// Takes the state over and claims the destination. `None` when a stop came first.
async fn begin(recipe: &dyn Recipe, terms: &Terms, stop: &Stop) -> Result<Option<Terms>> {
    let Some(keeper) = &terms.keeper else { return Ok(Some(terms.clone())) };
    let keeper = keeper.take_over().await?;
    let beginning = match keeper.load().await? {
        Some(_) => Beginning::Stored,
        None => Beginning::Unstored,
    };
    claim(recipe, &Terms { keeper: Some(keeper), ..terms.clone() }, beginning, stop).await
}

/// Says what failed and waits, unless a stop comes first.
pub(crate) async fn wait_before_retry(error: &Error, delay: std::time::Duration, terms: &Terms, stop: &Stop) {
    tracing::warn!(code = error.code().id, error = ?error, delay_ms = delay.as_millis() as u64, "trying again");
    terms.meter.retried();
    terms.meter.enter(Phase::Waiting);
    tokio::select! {
        () = stop.draining() => {}
        () = tokio::time::sleep(delay) => {}
    }
}
