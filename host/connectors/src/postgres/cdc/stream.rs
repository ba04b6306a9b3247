//! The running stream: when to read, when to hand a batch on, when a cycle is over, what to tell the server.
//!
//! Everything is kept in [`Stream`] before anything is waited for, so a call to `next` that is dropped loses nothing.

use async_trait::async_trait;
use faucet_core::error::{Error, Result};
use faucet_core::ports::{Batch, Bookmark, Boundary, Source};
use std::collections::HashMap;
use std::time::Duration;
use tokio::io::ReadHalf;
use tokio::time::{Instant, timeout, timeout_at};

use super::catalog::Catalog;
use super::decode::Fault;
use super::error::{decoding, gone};
use super::feedback::Feedback;
use super::heartbeat::Heartbeat;
use super::inbox::Inbox;
use super::intake::{Intake, Question, Step};
use super::lsn::{Lsn, Place};
use super::meter::Meter;
use super::silence::{Next, Silence};
use super::timeline::Watch;
use super::wire;
use crate::postgres::dial::Link;
use crate::postgres::error::{CONNECTION_LOST, from_io};

/// A batch of small transactions that keep coming isn't held longer than this.
const LONGEST_LINGER: Duration = Duration::from_millis(50);

/// How often a server that is behind is asked how far it got.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// Why a server counts as gone that nothing comes from.
const NO_ANSWER: &str = "another session doesn't get an answer either";

/// How long the server may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(10);

/// Start of the data, end of the server's log, its clock.
const DATA_HEADER: usize = 24;
/// End of the server's log, its clock, whether it wants an answer.
const KEEPALIVE: usize = 17;

/// How the stream behaves in time.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    /// How long a finished transaction waits for the next to share its batch.
    pub(super) linger: Duration,
    /// Without a change for so long, the cycle is over once everything was read.
    pub(super) idle_timeout: Duration,
    /// After so long the cycle is over at the next end of a transaction.
    pub(super) max_cycle: Duration,
    /// After so many changes the cycle is over at the next end of a transaction.
    pub(super) max_messages: u64,
    /// How often an idle stream makes a bookmark.
    pub(super) status_interval: Duration,
}

/// A change stream.
pub(super) struct Stream {
    inbox: Inbox<ReadHalf<Link>>,
    /// `None` once the stream was closed.
    feedback: Option<Feedback>,
    catalog: Catalog,
    intake: Intake,
    pace: Pace,
    meter: Meter,
    clock: Clock,
    silence: Silence,
    /// A batch was handed on, and nobody has listened since.
    away: bool,
    /// End of the server's log, as last reported.
    received: Lsn,
    /// The server wants our position to reach its own: it shuts down, or tests whether we live.
    urgent: bool,
    /// The bookmark made for that is on its way.
    report_on_confirm: bool,
    /// End of the log when the stream seemed idle: it is, once the server has read that far.
    idle_at: Option<Lsn>,
    over: bool,
    /// Held while the stream is open.
    heartbeat: Option<Heartbeat>,
    /// For a source that is a standby.
    watch: Option<Watch>,
}

/// When things last happened.
#[derive(Debug)]
struct Clock {
    began: Instant,
    changed: Instant,
    bookmarked: Instant,
    /// A server that is behind isn't asked how far it got before then.
    ask_again: Instant,
    /// When the first transaction of the batch in the making ended.
    first: Option<Instant>,
}

/// What is to be done when nothing arrives until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    /// The batch in the making goes out, even an empty one.
    Emit,
    /// The cycle is over.
    Over,
    /// No change came for long: is there more to read?
    Idle,
    /// Nothing at all came for long.
    Silent,
}

/// What waiting led to.
enum Waited {
    /// There may be a message now.
    Again,
    Emit,
    Over,
}

impl Stream {
    pub(super) fn new(
        (inbox, feedback): (Inbox<ReadHalf<Link>>, Feedback),
        catalog: Catalog,
        intake: Intake,
        (pace, silence): (Pace, Silence),
        meter: Meter,
        heartbeat: Option<Heartbeat>,
    ) -> Self {
        let now = Instant::now();
        let clock = Clock { began: now, changed: now, bookmarked: now, ask_again: now, first: None };
        let received = intake.position();
        let feedback = Some(feedback);
        Self {
            inbox,
            feedback,
            catalog,
            intake,
            pace,
            meter,
            clock,
            silence,
            away: false,
            received,
            urgent: false,
            report_on_confirm: false,
            idle_at: None,
            over: false,
            heartbeat,
            watch: None,
        }
    }

    /// The same under a watch over its server's timeline.
    pub(super) fn watched(self, watch: Option<Watch>) -> Self {
        Self { watch, ..self }
    }

    /// Takes in messages until something has to be done, or no whole one is there (`None`).
    fn read(&mut self) -> Result<Option<Step>> {
        while let Some(length) = self.inbox.ready().map_err(|_| Fault::Corrupt("a message's length can't be"))? {
            let (tag, body) = self.inbox.message(length);
            let step = match tag {
                b'd' => match body.split_first() {
                    Some((b'w', data)) if data.len() >= DATA_HEADER => {
                        self.received = self.received.max(lsn(&data[8..]));
                        self.intake.take(&data[DATA_HEADER..])?
                    }
                    Some((b'k', data)) if data.len() == KEEPALIVE => {
                        let (end, asks) = (lsn(data), data[KEEPALIVE - 1] != 0);
                        self.keepalive(end, asks);
                        Step::Go
                    }
                    _ => return Err(Fault::Corrupt("it holds neither changes nor a keepalive").into()),
                },
                b'E' => {
                    let said = decoding(wire::server_error(body), self.silence.publication());
                    return Err(said.context("streaming changes"));
                }
                // From version 18 on a missing publication is left out with a warning.
                b'N' if wire::is_from(body, "LoadPublications") => {
                    return Err(gone(self.silence.publication()).context("streaming changes"));
                }
                b'N' | b'S' | b'A' => Step::Go,
                // What a server sends last when it shuts down.
                b'c' | b'C' => return Err(Error::new(&CONNECTION_LOST, "the server ended the stream")),
                tag => return Err(wire::unexpected(tag)),
            };
            self.inbox.consume(length);
            if step != Step::Go {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    fn keepalive(&mut self, end: Lsn, asks: bool) {
        self.received = self.received.max(end);
        self.intake.keepalive(end);
        if asks {
            self.urgent = true;
            self.report(false);
        }
    }

    /// Reports to the server now; with `ask`, it answers with its own position.
    fn report(&self, ask: bool) {
        if let Some(feedback) = &self.feedback {
            feedback.received(self.received);
            feedback.now(ask);
        }
    }

    /// Whether the batch ends at the end of the transaction that was just read.
    fn ended(&self) -> bool {
        self.intake.is_due() || self.intake.changes() >= self.pace.max_messages
    }

    async fn answer(&mut self) -> Result<()> {
        match self.intake.question().cloned() {
            None => {}
            Some(Question::Relation(described)) => {
                let resolved = self.catalog.resolve(&described).await?;
                self.intake.resolved(described.oid, resolved);
            }
            Some(Question::Truncate(oids)) => {
                let mut leaves = HashMap::new();
                for root in self.intake.roots(&oids) {
                    leaves.insert(root, self.catalog.leaves(root).await?);
                }
                self.intake.truncated(&oids, &leaves)?;
            }
            Some(Question::Incomplete(missing)) => {
                let values = self.catalog.values(&missing).await?;
                self.intake.completed(&missing, values)?;
            }
        }
        Ok(())
    }

    /// The batch in the making, and what follows from handing it on.
    fn emit(&mut self) -> Batch {
        let batch = self.intake.finish();
        let now = Instant::now();
        self.away = true;
        self.clock.first = None;
        if !batch.pages.is_empty() {
            self.clock.changed = now;
            self.idle_at = None;
        }
        if batch.boundary != Boundary::Inside {
            self.clock.bookmarked = now;
            self.over |= self.intake.changes() >= self.pace.max_messages;
            self.over |= now >= self.clock.began + self.pace.max_cycle;
            self.report_on_confirm |= std::mem::take(&mut self.urgent);
        }
        if let Some(micros) = self.intake.committed_at() {
            self.meter.committed(micros);
        }
        self.note_received();
        batch
    }

    fn note_received(&self) {
        self.meter.received(self.received);
        if let Some(feedback) = &self.feedback {
            feedback.received(self.received);
        }
    }

    /// What is to be done next if nothing arrives, and when.
    fn due(&mut self, now: Instant) -> (Instant, Due) {
        let silent = (self.silence.due(), Due::Silent);
        if self.intake.is_inside() {
            return silent;
        }
        if !self.intake.is_empty() {
            let first = *self.clock.first.get_or_insert(now);
            return ((now + self.pace.linger).min(first + LONGEST_LINGER), Due::Emit);
        }
        let mut next = silent;
        let mut consider = |at: Instant, due| {
            if at <= next.0 {
                next = (at, due);
            }
        };
        consider((self.clock.changed + self.pace.idle_timeout).max(self.clock.ask_again), Due::Idle);
        consider(self.clock.began + self.pace.max_cycle, Due::Over);
        if self.intake.has_moved() {
            let at = if self.urgent { now } else { self.clock.bookmarked + self.pace.status_interval };
            consider(at, Due::Emit);
        }
        next
    }

    async fn wait(&mut self) -> Result<Waited> {
        self.note_received();
        let (at, due) = self.due(Instant::now());
        match timeout_at(at, self.inbox.fill()).await {
            Ok(Ok(_)) => {
                self.silence.ends();
                return Ok(Waited::Again);
            }
            Ok(Err(error)) => return Err(from_io(&error).context("streaming changes")),
            Err(_) => {}
        }
        match due {
            Due::Emit => Ok(Waited::Emit),
            Due::Over => Ok(self.end_cycle()),
            Due::Idle => self.end_if_drained().await,
            Due::Silent => {
                self.break_silence().await.map_err(|error| error.context("streaming changes"))?;
                Ok(Waited::Again)
            }
        }
    }

    async fn break_silence(&mut self) -> Result<()> {
        let ask = match self.silence.next() {
            Next::Ask => true,
            Next::Look => {
                let patience = self.silence.patience();
                let look = async { self.silence.look(self.catalog.session().await?).await };
                match timeout(patience, look).await {
                    Ok(ask) => ask?,
                    Err(_) => return Err(self.silence.lost(NO_ANSWER)),
                }
            }
        };
        if ask {
            self.report(true);
        }
        Ok(())
    }

    /// Ends the cycle, with a last bookmark if the position moved.
    fn end_cycle(&mut self) -> Waited {
        self.over = true;
        if self.intake.has_moved() { Waited::Emit } else { Waited::Over }
    }

    /// No change came for long. That alone doesn't say that there is none: the server may be reading through its log.
    async fn end_if_drained(&mut self) -> Result<Waited> {
        let target = match self.idle_at {
            Some(target) => target,
            None => match timeout(self.silence.patience(), self.catalog.log_end()).await {
                Ok(target) => target?,
                Err(_) => return Err(self.silence.lost(NO_ANSWER).context("streaming changes")),
            },
        };
        self.idle_at = Some(target);
        if self.intake.position() >= target {
            return Ok(self.end_cycle());
        }
        if self.intake.has_moved() && Instant::now() >= self.clock.bookmarked + self.pace.status_interval {
            return Ok(Waited::Emit);
        }
        self.report(true);
        self.clock.ask_again = Instant::now() + ASK_AGAIN;
        Ok(Waited::Again)
    }
}

#[async_trait]
impl Source for Stream {
    async fn next(&mut self) -> Result<Option<Batch>> {
        if std::mem::take(&mut self.away) {
            self.silence.ends();
        }
        loop {
            if self.over {
                return Ok(None);
            }
            self.answer().await?;
            let emit = match self.read()? {
                Some(Step::Go | Step::Ask) => false,
                Some(Step::Ended) => self.ended(),
                Some(Step::Full) => true,
                None => match self.wait().await? {
                    Waited::Again => false,
                    Waited::Emit => true,
                    Waited::Over => return Ok(None),
                },
            };
            if emit {
                if let Some(watch) = &mut self.watch {
                    watch.unchanged().await?;
                }
                return Ok(Some(self.emit()));
            }
        }
    }

    async fn confirm(&mut self, durable: &Bookmark) -> Result<()> {
        let place = Place::from_bookmark(durable)?;
        if let Some(feedback) = &self.feedback {
            feedback.confirm(place.lsn);
            self.meter.confirmed(feedback.confirmed());
        }
        if std::mem::take(&mut self.report_on_confirm) {
            self.report(false);
        }
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        let Some(feedback) = self.feedback.take() else {
            return Ok(());
        };
        self.heartbeat = None;
        // What the server still sends is thrown away, or it could not get to reading our goodbye.
        let drain = async {
            while self.inbox.fill().await.is_ok() {
                self.inbox.clear();
            }
        };
        let said = timeout(GOODBYE, async { tokio::join!(feedback.finish(), drain) }).await;
        self.catalog.close().await;
        said.map(drop).map_err(|_| Error::new(&CONNECTION_LOST, "the server didn't take the end of the stream"))
    }
}

fn lsn(bytes: &[u8]) -> Lsn {
    bytes.first_chunk().map_or(Lsn(0), |bytes| Lsn(u64::from_be_bytes(*bytes)))
}
