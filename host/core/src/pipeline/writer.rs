//! The last stage of the pump: gathers pages, writes them, settles what may be settled.
//!
//! While the sink works, pages pile up in the channel before it. Those that are there already are written as one: a sink
//! that folds rows per key, or pays for each statement, has less to do for it. When none is waiting, nothing is held
//! back, so a stream that is followed closely loses no time. P1 to P3 are explained in [`super::pump`].

use std::mem;
use std::sync::Arc;

use super::ack::Ledger;
use super::channel::{Held, Receiver};
use super::dlq::DeadLetters;
use super::pump::{Limits, Message};
use crate::error::Result;
use crate::failpoint;
use crate::model::Page;
use crate::observe::Meter;
use crate::ports::{Bookmark, Boundary, SetAside, Sink};

/// Most bytes of a joined page: far below what the 32-bit offsets of a column can address.
const MOST_JOINED: usize = 1 << 30;

/// Pages on their way to the sink, with what the writer needs to settle them.
pub(super) struct Parcel {
    pub(super) pages: Vec<Page>,
    /// Rows that transforms rejected, with the transform's name.
    pub(super) aside: Vec<(String, SetAside)>,
    pub(super) boundary: Boundary,
    /// Rows at the source, before transforms.
    pub(super) rows: u64,
    pub(super) bytes: usize,
    pub(super) committed_at: Option<i64>,
}

/// What came since the last commit.
#[derive(Default)]
struct Pending {
    rows: u64,
    bytes: usize,
    committed_at: Option<i64>,
    /// The last boundary that was passed, if any: up to there it may be settled.
    boundary: Option<Option<Bookmark>>,
}

/// Pages that came and are not written yet.
#[derive(Default)]
struct Gathered {
    pages: Vec<Page>,
    bytes: usize,
}

pub(super) struct Writer {
    sink: Box<dyn Sink>,
    dead_letters: Option<DeadLetters>,
    ledger: Ledger,
    meter: Arc<Meter>,
    limits: Limits,
    page_failpoint: &'static str,
    gathered: Gathered,
    pending: Pending,
}

impl Writer {
    pub(super) fn new(
        (sink, dead_letters): (Box<dyn Sink>, Option<DeadLetters>),
        ledger: Ledger,
        meter: Arc<Meter>,
        limits: Limits,
        page_failpoint: &'static str,
    ) -> Self {
        let (gathered, pending) = Default::default();
        Self { sink, dead_letters, ledger, meter, limits, page_failpoint, gathered, pending }
    }

    pub(super) async fn run(mut self, mut parcels: Receiver<Message<Parcel>>) -> Result<()> {
        while let Some(Held { item, .. }) = self.next(&mut parcels).await? {
            match item {
                Message::Work(parcel) => self.take(parcel).await?,
                Message::Exhausted => {
                    self.write().await?;
                    self.settle().await?;
                    self.sink.finish().await?;
                }
            }
        }
        // What is pending here is an unfinished transaction; it goes with the sink (P3).
        self.sink.close().await?;
        match &mut self.dead_letters {
            Some(dead_letters) => dead_letters.close().await,
            None => Ok(()),
        }
    }

    /// The next message. Before it waits for one, it writes what was gathered and settles what may be settled.
    async fn next(&mut self, parcels: &mut Receiver<Message<Parcel>>) -> Result<Option<Held<Message<Parcel>>>> {
        let bytes = if self.pending.boundary.is_some() { self.pending.bytes } else { self.gathered.bytes };
        if bytes < self.limits.commit_bytes
            && let Some(ready) = parcels.try_recv()
        {
            return Ok(Some(ready));
        }
        self.write().await?;
        self.settle().await?;
        Ok(parcels.recv().await)
    }

    async fn take(&mut self, parcel: Parcel) -> Result<()> {
        // Small commits that are followed by a large transaction don't wait for its end (P1).
        if parcel.boundary == Boundary::Inside && self.pending.boundary.is_some() {
            self.write().await?;
            self.settle().await?;
        }
        self.put_aside(parcel.aside).await?;
        self.gathered.pages.extend(parcel.pages);
        self.gathered.bytes += parcel.bytes;
        self.pending.rows += parcel.rows;
        self.pending.bytes += parcel.bytes;
        self.pending.committed_at = parcel.committed_at.or(self.pending.committed_at);
        self.pending.boundary = match (parcel.boundary, self.pending.boundary.take()) {
            (Boundary::Commit(Some(bookmark)), _) => Some(Some(bookmark)),
            (Boundary::Commit(None), passed) => Some(passed.flatten()),
            (Boundary::Inside, _) => None,
        };
        Ok(())
    }

    /// Writes what was gathered, with as few pages as it fits.
    async fn write(&mut self) -> Result<()> {
        let mut pages = mem::take(&mut self.gathered).pages.into_iter().peekable();
        while let Some(first) = pages.next() {
            let (mut bytes, mut joined) = (first.size_bytes(), vec![first]);
            let fits = |bytes: usize, next: &Page| bytes + next.size_bytes() <= MOST_JOINED;
            while let Some(next) = pages.next_if(|next| joined[0].continues_in(next) && fits(bytes, next)) {
                bytes += next.size_bytes();
                joined.push(next);
            }
            let pages_written = joined.len();
            self.sink.write(Page::concat(joined)).await?;
            (0..pages_written).for_each(|_| failpoint::hit(self.page_failpoint));
            let aside = self.sink.set_aside();
            self.put_aside(aside.into_iter().map(|rows| ("sink".to_owned(), rows)).collect()).await?;
        }
        Ok(())
    }

    /// Hands rows to the dead-letter queue, which is there when anything sets rows aside.
    async fn put_aside(&mut self, aside: Vec<(String, SetAside)>) -> Result<()> {
        let Some(dead_letters) = &mut self.dead_letters else { return Ok(()) };
        for (stage, rows) in aside {
            dead_letters.write(&stage, rows, &self.meter).await?;
        }
        Ok(())
    }

    /// Settles up to the last boundary; does nothing in the middle of a transaction (P1).
    async fn settle(&mut self) -> Result<()> {
        let Some(bookmark) = self.pending.boundary.take() else { return Ok(()) };
        if let Some(dead_letters) = &mut self.dead_letters {
            dead_letters.commit().await?;
        }
        match bookmark.as_ref().filter(|_| self.pending.rows == 0) {
            Some(passed) => self.ledger.pass(passed).await?,
            None => self.ledger.settle(self.sink.as_mut(), bookmark.as_ref()).await?,
        }
        self.meter.committed(self.pending.rows, self.pending.committed_at);
        self.pending = Pending::default();
        Ok(())
    }
}
