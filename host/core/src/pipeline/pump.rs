//! The pump: read, transform and write overlap, each in a task of its own, joined by channels bounded in bytes.
//!
//! ```text
//! reader --batches--> transformer --pages--> writer --settle--> ledger
//!    ^                                                             |
//!    +------------------- durable bookmark (a level) --------------+
//! ```
//!
//! * **P1** A commit never ends inside a transaction of the source.
//! * **P2** When the source fails, what was read before is still written and settled; its error comes last.
//! * **P3** A stop ends reading at once and lets the rest drain; rows of an unfinished transaction are not committed.

use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::ack::Ledger;
use super::chain::Chain;
use super::channel::{Closed, Held, Receiver, Sender, bounded};
use super::dlq::DeadLetters;
use super::shutdown::Stop;
use super::writer::{Parcel, Writer};
use crate::error::Result;
use crate::model::Page;
use crate::observe::Meter;
use crate::ports::{Batch, Bookmark, Sink, Source};

/// Limits of one pump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of pages between two stages.
    pub channel_bytes: usize,
    /// Bytes of small commits that are settled together, and of pages written as one, when more is waiting already.
    pub commit_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { channel_bytes: 8 << 20, commit_bytes: 8 << 20 }
    }
}

/// Why a pump ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The source has no more.
    Exhausted,
    /// It was asked to stop.
    Stopped,
}

/// Everything one run of the pump needs.
pub struct Pump {
    /// Where batches come from, positioned.
    pub source: Box<dyn Source>,
    /// What happens to pages.
    pub chain: Chain,
    /// Where pages go.
    pub sink: Box<dyn Sink>,
    /// Where rows go that can't be written.
    pub dead_letters: Option<DeadLetters>,
    /// Settles commits.
    pub ledger: Ledger,
    /// Hears which bookmark is durable; the other end is in the ledger.
    pub durable: watch::Receiver<Option<Bookmark>>,
    /// Counters.
    pub meter: Arc<Meter>,
    /// Limits.
    pub limits: Limits,
    /// Failpoint hit after each page that was written.
    pub page_failpoint: &'static str,
}

/// What goes through the channels.
pub(super) enum Message<T> {
    /// The next piece of work.
    Work(T),
    /// The source ended by itself. A channel that closes without this ended by a stop or a failure.
    Exhausted,
}

impl Pump {
    /// Runs until the source ends, fails, or `stop` asks to.
    ///
    /// # Errors
    /// The first stage's failure that isn't a mere consequence of another's.
    pub async fn run(self, stop: &Stop) -> Result<Ended> {
        let Pump { source, chain, sink, dead_letters, ledger, durable, meter, limits, page_failpoint } = self;
        let (batches, to_transform) = bounded(limits.channel_bytes);
        let (parcels, to_write) = bounded(limits.channel_bytes);
        let reader = Reader { source, durable, batches, meter: meter.clone() };
        let writer = Writer::new((sink, dead_letters), ledger, meter, limits, page_failpoint);
        let mut stages = JoinSet::new();
        let draining = stop.clone();
        stages.spawn(async move { reader.run(&draining).await.map(Some) });
        stages.spawn(async move { transform(chain, to_transform, parcels).await.map(|()| None) });
        stages.spawn(async move { writer.run(to_write).await.map(|()| None) });
        tokio::select! {
            biased;
            () = stop.aborted() => Ok(Ended::Stopped),
            ended = join(&mut stages) => ended,
        }
    }
}

/// Waits for all stages. A stage that fails closes its channels, which ends its neighbours in good order.
async fn join(stages: &mut JoinSet<Result<Option<Ended>>>) -> Result<Ended> {
    let mut ended = Ok(Ended::Stopped);
    while let Some(stage) = stages.join_next().await {
        match stage {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(how))) => ended = ended.map(|_| how),
            Ok(Err(error)) => ended = ended.and(Err(error)),
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        }
    }
    ended
}

struct Reader {
    source: Box<dyn Source>,
    durable: watch::Receiver<Option<Bookmark>>,
    batches: Sender<Message<Batch>>,
    meter: Arc<Meter>,
}

impl Reader {
    async fn run(mut self, stop: &Stop) -> Result<Ended> {
        let read = self.read(stop).await;
        // The writer still settles what was read; confirm that too, then let go of the upstream.
        let Reader { mut source, mut durable, batches, .. } = self;
        drop(batches);
        while durable.changed().await.is_ok() {
            confirm(source.as_mut(), &mut durable).await?;
        }
        confirm(source.as_mut(), &mut durable).await?;
        let closed = source.close().await;
        let ended = read?;
        closed.map(|()| ended)
    }

    async fn read(&mut self, stop: &Stop) -> Result<Ended> {
        loop {
            let batch = tokio::select! {
                biased;
                () = stop.draining() => return Ok(Ended::Stopped),
                Ok(()) = self.durable.changed() => {
                    confirm(self.source.as_mut(), &mut self.durable).await?;
                    continue;
                }
                batch = self.source.next() => batch?,
            };
            let ended = batch.is_none();
            let bytes = batch.as_ref().map_or(0, Batch::size_bytes);
            let rows = batch.as_ref().map_or(0, Batch::rows);
            self.meter.read(rows as u64, bytes as u64, batch.as_ref().and_then(Batch::committed_at));
            let message = batch.map_or(Message::Exhausted, Message::Work);
            if self.hand_over(message, bytes).await? == Err(Closed) {
                // The stage after failed; its own error is the one to report.
                return Ok(Ended::Stopped);
            }
            if ended {
                return Ok(Ended::Exhausted);
            }
        }
    }

    /// Sends a message, confirming what becomes durable while the channel is full.
    async fn hand_over(&mut self, message: Message<Batch>, bytes: usize) -> Result<Result<(), Closed>> {
        let sending = self.batches.send(message, bytes);
        tokio::pin!(sending);
        loop {
            tokio::select! {
                biased;
                sent = &mut sending => return Ok(sent),
                Ok(()) = self.durable.changed() => confirm(self.source.as_mut(), &mut self.durable).await?,
            }
        }
    }
}

async fn confirm(source: &mut dyn Source, durable: &mut watch::Receiver<Option<Bookmark>>) -> Result<()> {
    let latest = durable.borrow_and_update().clone();
    match latest {
        Some(bookmark) => source.confirm(&bookmark).await,
        None => Ok(()),
    }
}

async fn transform(
    mut chain: Chain,
    mut batches: Receiver<Message<Batch>>,
    parcels: Sender<Message<Parcel>>,
) -> Result<()> {
    while let Some(Held { item, .. }) = batches.recv().await {
        let (message, bytes) = match item {
            Message::Exhausted => (Message::Exhausted, 0),
            Message::Work(batch) => {
                let parcel = transform_batch(&mut chain, batch).await?;
                let bytes = parcel.bytes;
                (Message::Work(parcel), bytes)
            }
        };
        if parcels.send(message, bytes).await == Err(Closed) {
            return Ok(());
        }
    }
    Ok(())
}

async fn transform_batch(chain: &mut Chain, batch: Batch) -> Result<Parcel> {
    let rows = batch.rows() as u64;
    let committed_at = batch.pages.iter().rev().find_map(|p| p.change()?.committed_at.last().copied());
    let (mut pages, mut aside) = (Vec::with_capacity(batch.pages.len()), Vec::new());
    for page in batch.pages {
        let applied = chain.apply(page).await?;
        pages.extend(applied.pages);
        aside.extend(applied.aside);
    }
    let bytes = pages.iter().chain(aside.iter().map(|(_, aside)| &aside.rows)).map(Page::size_bytes).sum();
    Ok(Parcel { pages, aside, boundary: batch.boundary, rows, bytes, committed_at })
}
