//! The snapshot of a mirror: the rows that exist, read in parts where the source can be split.
//!
//! Each part is a pipeline of its own, with its own source, transforms and sink; up to `concurrency` run at once.
//!
//! * **S1** A part is recorded as finished, in the marker, only after its rows are durable in the destination.
//! * **S2** All parts of a run are read as of one moment after the join point was stored; the source keeps it.
//! * **S3** A part that an earlier run finished is searched for the rows written since that run's moment. So every row
//!   of the last run's moment is read, as it was then, by that run or by the one that finished its part before.
//! * **S4** Every row belongs to exactly one part of a plan; a plan that no longer fits the table is given up whole, and
//!   so is what was finished for other transforms or another sink.
//! * **S5** Until something is durable in the destination, one part runs at a time: preparing it (its table, its
//!   columns) is done by one.

use async_trait::async_trait;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::driver::Mirror;
use super::marker::{Marker, NOT_A_MARKER, PartsDone};
use super::place;
use super::survey::Watch;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::model::Page;
use crate::observe::{Meter, Phase};
use crate::pipeline::{DeadLetters, Ended, Limits, Link, Opening, Recipe, Stop, Terms, attempt};
use crate::ports::{
    Claim, Expect, Part, Parts, SetAside, Sink, Source, Split, Standing, StateStore, Transform, Wanted,
};

/// What reads the rows that exist.
pub trait Rows: Send + Sync {
    /// The ability to read them in parts, where the source has it.
    fn split(&self) -> Option<Box<dyn Split>>;

    /// A pipeline of one part, or of all rows.
    fn recipe(&self, part: Option<Value>) -> Arc<dyn Recipe>;
}

/// How the rows that exist are read.
pub struct Snapshot {
    /// What reads them.
    pub rows: Arc<dyn Rows>,
    /// A digest of the transforms and the sink. Parts that an earlier run finished count only if it is the same (S4).
    pub destination: String,
    /// How many parts; `None` goes by size.
    pub shards: Option<u32>,
    /// How many parts are read at once.
    pub concurrency: u32,
}

/// Reads what is left of the snapshot.
pub(super) async fn read(mirror: &mut Mirror, stop: &Stop) -> Result<Ended> {
    // What is there before the first row is read.
    if let Some(mut watch) = Watch::of(mirror) {
        watch.look().await?;
    }
    let Some(mut split) = mirror.snapshot.rows.split() else {
        let recipe = mirror.snapshot.rows.recipe(None);
        return attempt(recipe.as_ref(), &terms(mirror, 1), Link::direct(), stop).await;
    };
    let ended = in_parts(mirror, split.as_mut(), stop).await;
    split.close().await;
    mirror.meter.snapshot_ends();
    ended
}

async fn in_parts(mirror: &mut Mirror, split: &mut dyn Split, stop: &Stop) -> Result<Ended> {
    let marker = stored(mirror).await?;
    let destination = mirror.snapshot.destination.clone();
    let wanted = Wanted {
        shards: mirror.snapshot.shards,
        coverage: mirror.capture.coverage().await?,
        earlier: marker.snapshot.as_deref().filter(|done| done.destination == destination).map(PartsDone::earlier),
    };
    let parts = tokio::select! {
        biased;
        () = stop.draining() => return Ok(Ended::Stopped),
        parts = split.plan(wanted) => parts?,
    };
    Run::new(mirror, marker, parts, stop).finish().await
}

/// The marker, which was stored before (C3).
async fn stored(mirror: &Mirror) -> Result<Marker> {
    let stored = place::stored(&mirror.store, &mirror.name).await?;
    stored.map(|(marker, _)| marker).ok_or_else(|| {
        let key = place::marker_key(&mirror.name);
        Error::new(&NOT_A_MARKER, format!("the state key \"{}\" was removed while the mirror ran", key.as_str()))
    })
}

/// What all parts share. The channels between their stages are together as large as those of one pipeline.
fn terms(mirror: &Mirror, concurrency: u32) -> Terms {
    let share = |bytes: usize| (bytes / concurrency.max(1) as usize).max(1);
    let Limits { channel_bytes, commit_bytes } = mirror.limits;
    Terms {
        keeper: None,
        tokens: false,
        claiming: mirror.claiming.clone(),
        phase: Phase::Snapshot,
        page_failpoint: "mid_snapshot",
        meter: mirror.meter.clone(),
        limits: Limits { channel_bytes: share(channel_bytes), commit_bytes: share(commit_bytes) },
    }
}

/// One run over the parts.
struct Run {
    rows: Arc<dyn Rows>,
    terms: Terms,
    concurrency: usize,
    /// Drained when a part fails, too.
    stop: Stop,
    waiting: VecDeque<Part>,
    running: JoinSet<(u32, Result<Ended>)>,
    prepared: Arc<watch::Sender<bool>>,
    record: Record,
    outcome: Result<Ended>,
}

impl Run {
    fn new(mirror: &Mirror, marker: Marker, parts: Parts, stop: &Stop) -> Self {
        let Parts { plan, stamp, parts, rows } = parts;
        let total = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        // Only what was finished under this very plan counts (S4).
        let same =
            marker.snapshot.as_deref().cloned().filter(|done| {
                done.plan == plan && done.total == total && done.destination == mirror.snapshot.destination
            });
        let done = same.unwrap_or_else(|| PartsDone {
            plan,
            destination: mirror.snapshot.destination.clone(),
            total,
            finished: Default::default(),
        });
        let before = u32::try_from(done.finished.len()).unwrap_or(u32::MAX);
        if total > 1 {
            tracing::info!(parts = total, finished_before = before, "reading the rows that exist");
        }
        mirror.meter.snapshot_begins(rows, before, total);
        let concurrency = mirror.snapshot.concurrency.clamp(1, total.max(1));
        Self {
            rows: mirror.snapshot.rows.clone(),
            terms: terms(mirror, concurrency),
            concurrency: concurrency as usize,
            stop: stop.child(),
            waiting: parts.into(),
            running: JoinSet::new(),
            prepared: Arc::new(watch::Sender::new(false)),
            record: Record { store: mirror.store.clone(), name: mirror.name.clone(), marker, done, stamp },
            outcome: Ok(Ended::Exhausted),
        }
    }

    async fn finish(mut self) -> Result<Ended> {
        let mut prepared = self.prepared.subscribe();
        loop {
            self.start_some();
            tokio::select! {
                biased;
                ended = self.running.join_next() => match ended {
                    Some(Ok((number, ended))) => self.ended(number, ended).await,
                    Some(Err(panicked)) => std::panic::resume_unwind(panicked.into_panic()),
                    None => return self.outcome,
                },
                Ok(()) = prepared.changed() => {}
            }
        }
    }

    /// Starts parts while there is room. A stop, or a failure, starts none.
    fn start_some(&mut self) {
        let most = if *self.prepared.borrow() { self.concurrency } else { 1 };
        while self.running.len() < most && !self.stop.is_draining() {
            let Some(Part { number, spec }) = self.waiting.pop_front() else { return };
            let recipe = Announcing { recipe: self.rows.recipe(Some(spec)), prepared: self.prepared.clone() };
            let (terms, stop) = (self.terms.clone(), self.stop.clone());
            self.running.spawn(async move { (number, attempt(&recipe, &terms, Link::direct(), &stop).await) });
        }
        if !self.waiting.is_empty() && self.stop.is_draining() && self.outcome.is_ok() {
            self.outcome = Ok(Ended::Stopped);
        }
    }

    /// A part ended. Those that ran beside one that failed end in good order, and what they finished counts.
    async fn ended(&mut self, number: u32, ended: Result<Ended>) {
        let recorded = match ended {
            Ok(Ended::Exhausted) => self.record.finished(number, &self.terms.meter).await.map(|()| Ended::Exhausted),
            other => other,
        };
        match recorded {
            Ok(Ended::Exhausted) => {}
            Ok(Ended::Stopped) if self.outcome.is_ok() => self.outcome = Ok(Ended::Stopped),
            Ok(Ended::Stopped) => {}
            Err(error) => {
                self.stop.drain();
                match &self.outcome {
                    Ok(_) => self.outcome = Err(self.record.locate(number, error)),
                    Err(_) => tracing::debug!(part = number, %error, "another part failed too"),
                }
            }
        }
    }
}

/// Which parts are finished, in the marker.
struct Record {
    store: Arc<dyn StateStore>,
    name: String,
    marker: Marker,
    done: PartsDone,
    stamp: Value,
}

impl Record {
    /// The error with the part it happened in.
    fn locate(&self, number: u32, error: Error) -> Error {
        match self.done.total {
            0 | 1 => error,
            total => error.context(format!("reading part {} of {total} of the snapshot", number + 1)),
        }
    }

    /// S1: called when the part's rows are durable.
    async fn finished(&mut self, number: u32, meter: &Meter) -> Result<()> {
        if self.done.plan.is_null() {
            meter.snapshot_part_done();
            return Ok(());
        }
        let anew = self.done.finished.insert(number, self.stamp.clone()).is_none();
        self.marker.snapshot = Some(Box::new(self.done.clone()));
        let key = place::marker_key(&self.name);
        self.store.put(key.as_str(), &self.marker.to_value(), Expect::Any).await?;
        failpoint::hit("after_part");
        if anew {
            meter.snapshot_part_done();
        }
        Ok(())
    }
}

/// The recipe of a part whose sink tells when the destination is prepared (S5).
struct Announcing {
    recipe: Arc<dyn Recipe>,
    prepared: Arc<watch::Sender<bool>>,
}

#[async_trait]
impl Recipe for Announcing {
    async fn source(&self, opening: Opening) -> Result<Box<dyn Source>> {
        self.recipe.source(opening).await
    }

    async fn transforms(&self) -> Result<Vec<Box<dyn Transform>>> {
        self.recipe.transforms().await
    }

    async fn dead_letters(&self) -> Result<Option<DeadLetters>> {
        self.recipe.dead_letters().await
    }

    async fn sink(&self, claim: Option<&Claim>) -> Result<Box<dyn Sink>> {
        let sink = self.recipe.sink(claim).await?;
        Ok(Box::new(AnnouncingSink { sink, wrote: false, prepared: self.prepared.clone() }))
    }
}

struct AnnouncingSink {
    sink: Box<dyn Sink>,
    wrote: bool,
    prepared: Arc<watch::Sender<bool>>,
}

#[async_trait]
impl Sink for AnnouncingSink {
    async fn last_token(&mut self, scope: &str) -> Result<Option<String>> {
        self.sink.last_token(scope).await
    }

    async fn standing(&mut self) -> Result<Standing> {
        self.sink.standing().await
    }

    async fn claim(&mut self, from: Option<&str>, anew: bool) -> Result<bool> {
        self.sink.claim(from, anew).await
    }

    async fn write(&mut self, page: Page) -> Result<()> {
        self.wrote = true;
        self.sink.write(page).await
    }

    fn set_aside(&mut self) -> Vec<SetAside> {
        self.sink.set_aside()
    }

    async fn commit(&mut self, token: Option<(&str, &str)>) -> Result<()> {
        self.sink.commit(token).await?;
        if self.wrote {
            self.prepared.send_if_modified(|prepared| !std::mem::replace(prepared, true));
        }
        Ok(())
    }

    async fn finish(&mut self) -> Result<()> {
        self.sink.finish().await
    }

    async fn close(&mut self) -> Result<()> {
        self.sink.close().await
    }
}
