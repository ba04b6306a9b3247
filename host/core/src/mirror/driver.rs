//! The driver: carries out what the coordinator decides, with real ports, under tokio.

use async_trait::async_trait;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::watch;

use super::coordinator::{Coordinator, Effect, Event, Mark, Outcome};
use super::existing::{self, Existing};
use super::marker::Marker;
use super::place;
use super::route::OneTable;
use super::snapshot::{self, Snapshot};
use super::survey::{RESYNC, Watch};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::observe::{Meter, Phase};
use crate::pipeline::{
    Backoff, Beginning, COMMITS_LOST, Claiming, DeadLetters, Ended, Limits, Link, OTHER_WRITER, Opening, Progress,
    Recipe, RetryPolicy, Stop, Terms, ack::Keeper, attempt, claim, last_token, verdict, wait_before_retry,
};
use crate::ports::{Bookmark, Capture, Claim, Covered, EMPTIED, Expect, REPLACED, Sink, Source, StateStore, Transform};

/// A mirror of one table, ready to run.
pub struct Mirror {
    /// The pipeline's name; state keys start with it.
    pub name: String,
    /// Says where the stream stands.
    pub capture: Box<dyn Capture>,
    /// Reads the rows that exist.
    pub snapshot: Snapshot,
    /// Streams the changes.
    pub stream: Arc<dyn Recipe>,
    /// Durable state.
    pub store: Arc<dyn StateStore>,
    /// Go on after the first cycle, and ride out transient failures.
    pub continuous: bool,
    /// Commit tokens with the stream's pages (exactly-once by watermark).
    pub tokens: bool,
    /// Whether the sink holds a claim of this run.
    pub claiming: Claiming,
    /// Counters.
    pub meter: Arc<Meter>,
    /// Limits of the pump.
    pub limits: Limits,
    /// What becomes of rows that the destination has before the mirror begins.
    pub existing: Existing,
    /// Delays between attempts; the number of attempts is not limited while the mirror is continuous.
    pub retry: RetryPolicy,
}

/// Runs a mirror until it is done, stopped, or failed.
///
/// # Errors
/// The failure that ended it.
pub async fn run(mut mirror: Mirror, stop: &Stop) -> Result<Ended> {
    mirror.store = place::take_over(mirror.store, &mirror.name).await?;
    let policy = RetryPolicy { max_attempts: None, ..mirror.retry };
    let mut driver = Driver {
        coordinator: Coordinator::new(1, mirror.continuous),
        backoff: Backoff::new(policy),
        failure: None,
        covered: None,
        mirror,
        stop,
    };
    driver.run().await
}

struct Driver<'a> {
    mirror: Mirror,
    coordinator: Coordinator,
    backoff: Backoff,
    /// The last failure, until something succeeds.
    failure: Option<Error>,
    /// What the stream covers, found as its position was captured and not stored yet.
    covered: Option<Covered>,
    stop: &'a Stop,
}

impl Driver<'_> {
    async fn run(&mut self) -> Result<Ended> {
        let stored = self.load().await?;
        if !self.claim(stored.is_some()).await? {
            return Ok(Ended::Stopped);
        }
        let started = Event::Started { tables: vec![stored] };
        let mut events = VecDeque::from([started]);
        while let Some(event) = events.pop_front() {
            for effect in self.coordinator.step(event) {
                if let Effect::Finish(outcome) = effect {
                    return self.finish(outcome);
                }
                events.extend(self.carry_out(effect).await);
            }
        }
        unreachable!("every event leads to work or to the end (C5)")
    }

    fn finish(&mut self, outcome: Outcome) -> Result<Ended> {
        match (outcome, self.failure.take()) {
            (Outcome::Failed, Some(error)) => Err(error),
            (Outcome::Failed | Outcome::Done, _) => Ok(Ended::Exhausted),
            (Outcome::Stopped, _) => Ok(Ended::Stopped),
        }
    }

    /// Does one effect and says what came of it.
    async fn carry_out(&mut self, effect: Effect) -> Vec<Event> {
        let written = self.mirror.meter.reading().rows_written;
        let done = match effect {
            Effect::Capture { table } => {
                let stop = self.stop;
                // It can wait for others for as long as they like.
                tokio::select! {
                    biased;
                    () = stop.draining() => Ok(Event::Halted),
                    at = self.capture() => at.map(|at| Event::Captured { table, at }),
                }
            }
            Effect::Store { table, marker, seed } => self.store(marker, seed).await.map(|()| Event::Stored { table }),
            Effect::Snapshot { table } => snapshot::read(&mut self.mirror, self.stop).await.map(|ended| match ended {
                Ended::Exhausted => Event::SnapshotDone { table },
                Ended::Stopped => Event::Halted,
            }),
            Effect::Stream { from: _ } => self.stream().await.map(|ended| match ended {
                Ended::Exhausted => Event::StreamEnded,
                Ended::Stopped => Event::Halted,
            }),
            Effect::Wait => {
                self.wait().await;
                Ok(Event::Woke)
            }
            // Confirmations are relayed while the stream runs.
            Effect::Confirm { .. } => return Vec::new(),
            Effect::Finish(_) => unreachable!("handled by the loop"),
        };
        let advanced = self.mirror.meter.reading().rows_written > written;
        let done = match done {
            Err(error) => Err(way_out(verdict(self.mirror.stream.as_ref(), &self.stream_terms(), error).await)),
            done => done,
        };
        self.outcome(done, advanced)
    }

    fn outcome(&mut self, done: Result<Event>, advanced: bool) -> Vec<Event> {
        let event = match done {
            Ok(event) => {
                self.failure = None;
                if event != Event::Woke {
                    self.backoff.reset();
                }
                event
            }
            Err(error) => {
                if advanced {
                    self.backoff.reset();
                }
                let retry = error.retry();
                self.failure = Some(error);
                Event::Failed { retry }
            }
        };
        let stop = self.stop.is_draining().then_some(Event::StopRequested);
        stop.into_iter().chain([event]).collect()
    }

    /// The stored marker and committed mark, if the mirror ran before.
    async fn load(&self) -> Result<Option<(Marker, Mark)>> {
        let stored = place::stored(&self.mirror.store, &self.mirror.name).await?;
        stored.map(|(marker, bookmark)| Ok((marker, self.mark(bookmark)?))).transpose()
    }

    /// Claims the destination. A continuous mirror waits for one that can't be reached. `false` when a stop came first.
    async fn claim(&mut self, began_before: bool) -> Result<bool> {
        let beginning = if began_before { Beginning::Stored } else { Beginning::Anew };
        loop {
            let terms = self.stream_terms();
            let error = match self.take_place(&terms, beginning).await {
                Ok(Some(Terms { claiming, tokens, .. })) => {
                    (self.mirror.claiming, self.mirror.tokens) = (claiming, tokens);
                    self.backoff.reset();
                    return Ok(true);
                }
                Ok(None) => return Ok(false),
                Err(error) => way_out(error),
            };
            let Some(delay) = self.backoff.after(&error).filter(|_| self.mirror.continuous) else { return Err(error) };
            wait_before_retry(&error, delay, &terms, self.stop).await;
        }
    }

    /// A mirror that will be refused takes nobody's place.
    async fn take_place(&self, terms: &Terms, beginning: Beginning) -> Result<Option<Terms>> {
        let recipe = self.mirror.stream.as_ref();
        if beginning == Beginning::Anew {
            existing::check(recipe, self.mirror.existing).await?;
        }
        claim(recipe, terms, beginning, self.stop).await
    }

    /// What is wrong is said before anything is made upstream; what is recorded is as it is after the position.
    async fn capture(&mut self) -> Result<Mark> {
        self.mirror.meter.enter(Phase::Starting);
        existing::check(self.mirror.stream.as_ref(), self.mirror.existing).await?;
        let mut watch = Watch::of(&self.mirror);
        let before = match &mut watch {
            Some(watch) => Some(watch.begin(None).await?),
            None => None,
        };
        let bookmark = self.mirror.capture.capture().await?;
        failpoint::hit("after_capture");
        self.covered = match &mut watch {
            Some(watch) => Some(watch.begin(before.as_ref()).await?),
            None => None,
        };
        self.mark(bookmark)
    }

    /// C3: the bookmark first, then the marker that says it is there.
    async fn store(&self, mut marker: Box<Marker>, seed: Option<Mark>) -> Result<()> {
        if let Some(Mark { bookmark, .. }) = seed {
            marker.covered = self.covered.clone();
            // Before anything says that the mirror began: a crash here begins anew, and clears what is left.
            let claim = self.mirror.claiming.held();
            existing::make_room(self.mirror.stream.as_ref(), claim, self.mirror.existing).await?;
            let sequence = self.last_sequence().await?;
            self.keeper().save(&Progress { bookmark, sequence }).await?;
        } else if let Some((earlier, _)) = place::stored(&self.mirror.store, &self.mirror.name).await? {
            *marker = Marker::after(*marker, earlier);
        }
        let value = marker.to_value();
        self.mirror.store.put(place::marker_key(&self.mirror.name).as_str(), &value, Expect::Any).await.map(drop)
    }

    /// Numbers on from a token that an earlier life of this mirror left in the destination, so that it is never taken
    /// for a newer commit.
    async fn last_sequence(&self) -> Result<Option<u64>> {
        if !self.mirror.tokens {
            return Ok(None);
        }
        let mut sink = self.mirror.stream.sink(self.mirror.claiming.held()).await?;
        let token = last_token(sink.as_mut(), &self.stream_terms()).await?;
        sink.close().await?;
        Ok(Some(token.map_or(0, |t| t.sequence)))
    }

    async fn stream(&mut self) -> Result<Ended> {
        let (settled, hear) = watch::channel(None);
        let (tell, confirm) = watch::channel(None);
        let terms = self.stream_terms();
        let mut watch = Watch::of(&self.mirror);
        let covered = match &mut watch {
            Some(watch) => watch.look().await?,
            None => None,
        };
        let recipe = Guarded { recipe: self.mirror.stream.clone(), covered };
        let pumping = attempt(&recipe, &terms, Link { settled, confirm }, self.stop);
        let relaying = relay(&mut self.coordinator, self.mirror.capture.as_ref(), hear, tell);
        let streaming = async { tokio::join!(pumping, relaying) };
        let (ended, relayed) = tokio::select! {
            biased;
            ended = streaming => ended,
            // What is in hand is dropped; it comes again if the mirror does.
            error = Watch::keep_looking(watch) => return Err(error),
        };
        ended.and_then(|ended| relayed.map(|()| ended))
    }

    async fn wait(&mut self) {
        let Some(error) = &self.failure else { return };
        if let Some(delay) = self.backoff.after(error) {
            wait_before_retry(error, delay, &self.stream_terms(), self.stop).await;
        }
    }

    fn stream_terms(&self) -> Terms {
        Terms {
            keeper: Some(self.keeper()),
            tokens: self.mirror.tokens,
            claiming: self.mirror.claiming.clone(),
            phase: Phase::Streaming,
            page_failpoint: "mid_stream",
            meter: self.mirror.meter.clone(),
            limits: self.mirror.limits,
        }
    }

    fn keeper(&self) -> Keeper {
        place::keeper(&self.mirror.store, &self.mirror.name)
    }

    fn mark(&self, bookmark: Bookmark) -> Result<Mark> {
        let position = self.mirror.capture.position(&bookmark)?;
        Ok(Mark { bookmark, position })
    }
}

/// The error with what a mirror can do where the destination is not as it was left.
fn way_out(error: Error) -> Error {
    match error.code() {
        code if code == &OTHER_WRITER => error.hint(format!("give pipelines names of their own; then {RESYNC}")),
        code if [&COMMITS_LOST, &REPLACED, &EMPTIED].contains(&code) => error.hint(RESYNC),
        _ => error,
    }
}

/// Takes what the ledger settled to the coordinator, and what the coordinator confirms to the reader (C1). Ends when
/// the ledger goes, and takes the reader's channel with it.
async fn relay(
    coordinator: &mut Coordinator,
    order: &dyn Capture,
    mut settled: watch::Receiver<Option<Bookmark>>,
    confirm: watch::Sender<Option<Bookmark>>,
) -> Result<()> {
    while settled.changed().await.is_ok() {
        let Some(bookmark) = settled.borrow_and_update().clone() else { continue };
        let position = order.position(&bookmark)?;
        for effect in coordinator.step(Event::Committed { table: 0, at: Mark { bookmark, position } }) {
            if let Effect::Confirm { up_to } = effect {
                confirm.send_replace(Some(up_to.bookmark));
            }
        }
    }
    Ok(())
}

/// The stream's recipe with its source held to one table.
struct Guarded {
    recipe: Arc<dyn Recipe>,
    covered: Option<Covered>,
}

#[async_trait]
impl Recipe for Guarded {
    async fn source(&self, opening: Opening) -> Result<Box<dyn Source>> {
        let wanted = self.covered.as_ref().and_then(|covered| covered.table.clone());
        let source = self.recipe.source(Opening { covered: self.covered.clone(), ..opening }).await?;
        Ok(Box::new(OneTable::new(source, wanted)))
    }

    async fn transforms(&self) -> Result<Vec<Box<dyn Transform>>> {
        self.recipe.transforms().await
    }

    async fn sink(&self, claim: Option<&Claim>) -> Result<Box<dyn Sink>> {
        self.recipe.sink(claim).await
    }

    async fn dead_letters(&self) -> Result<Option<DeadLetters>> {
        self.recipe.dead_letters().await
    }
}
