//! What a run tells while it goes: counters that stages bump and a display reads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// What a run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Connecting and checking.
    #[default]
    Starting,
    /// Reading the rows that exist.
    Snapshot,
    /// Following changes.
    Streaming,
    /// Copying a source that ends.
    Copying,
    /// Waiting before trying again.
    Waiting,
    /// Finishing the page in hand.
    Stopping,
}

impl Phase {
    /// The word that progress lines show.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Starting => "starting",
            Phase::Snapshot => "snapshot",
            Phase::Streaming => "streaming",
            Phase::Copying => "copying",
            Phase::Waiting => "waiting",
            Phase::Stopping => "stopping",
        }
    }
}

/// Counters of one pipeline. Shared; every method takes `&self`.
#[derive(Debug, Default)]
pub struct Meter {
    phase: Mutex<Phase>,
    rows_read: AtomicU64,
    rows_written: AtomicU64,
    bytes_read: AtomicU64,
    commits: AtomicU64,
    retries: AtomicU64,
    set_aside: AtomicU64,
    /// Commit time of the last change that is durable in the destination; Unix microseconds, 0 = none yet.
    durable_at_source: AtomicI64,
    /// Whether everything the source had was durable when it last said so.
    caught_up: std::sync::atomic::AtomicBool,
    in_hand: Mutex<InHand>,
    snapshot: Mutex<Option<Snapshot>>,
    resync_required: std::sync::atomic::AtomicBool,
}

/// What was read and is not durable in the destination yet.
#[derive(Debug, Clone, Copy, Default)]
struct InHand {
    rows: u64,
    /// Commit time of the oldest change among them, or of one before it.
    oldest: Option<i64>,
}

/// How far a snapshot is.
#[derive(Debug, Clone, Copy)]
struct Snapshot {
    /// Rows in all, as far as the source can tell.
    estimated: Option<u64>,
    /// Rows that earlier runs read of them, as far as their parts tell.
    before: u64,
    /// [`Meter::rows_written`] when this run began.
    written_before: u64,
    parts_done: u32,
    parts_total: u32,
    began: Instant,
}

impl Snapshot {
    fn reading(&self, written: u64) -> SnapshotReading {
        let now = written.saturating_sub(self.written_before);
        let done = self.before + now;
        let estimated = self.estimated.filter(|rows| *rows > 0);
        // An estimate may be too small; only the end is 100 %.
        let percent = estimated.map(|rows| u32::try_from(done.saturating_mul(100) / rows).map_or(99, |p| p.min(99)));
        let left = estimated.and_then(|rows| rows.checked_sub(done)).filter(|left| *left > 0 && now > 0);
        SnapshotReading {
            snapshot_rows_estimated: self.estimated,
            snapshot_parts_done: self.parts_done,
            snapshot_parts_total: self.parts_total,
            snapshot_percent: percent,
            snapshot_seconds_left: left.map(|left| left as f64 * self.began.elapsed().as_secs_f64() / now as f64),
        }
    }
}

/// How far a snapshot is.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct SnapshotReading {
    /// Rows in all, as far as the source can tell.
    pub snapshot_rows_estimated: Option<u64>,
    /// Parts that are durable in the destination.
    pub snapshot_parts_done: u32,
    /// Parts in all.
    pub snapshot_parts_total: u32,
    /// How much of the estimate is read; at most 99 before the end.
    pub snapshot_percent: Option<u32>,
    /// Seconds until the end at the mean rate so far; none before the first row.
    pub snapshot_seconds_left: Option<f64>,
}

/// A reading of a [`Meter`].
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Reading {
    /// What the run is doing.
    #[serde(serialize_with = "phase_word")]
    pub phase: Phase,
    /// Rows or changes read.
    pub rows_read: u64,
    /// Rows durable in the destination.
    pub rows_written: u64,
    /// Bytes of pages read.
    pub bytes_read: u64,
    /// Durable commits.
    pub commits: u64,
    /// Times the run was tried again.
    pub retries: u64,
    /// Rows that went to the dead-letter queue.
    pub rows_set_aside: u64,
    /// Seconds between the source's commit and now for the oldest change that was read and is not durable here yet; when
    /// there is none, for the last one that is. 0 when caught up.
    pub lag_seconds: Option<f64>,
    /// How far the snapshot is, while one is read in parts.
    #[serde(flatten)]
    pub snapshot: Option<SnapshotReading>,
    /// Whether rows came or went at the source that no change tells of.
    pub resync_required: bool,
}

fn phase_word<S: serde::Serializer>(phase: &Phase, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(phase.word())
}

impl Meter {
    /// Says what the run is doing now.
    pub fn enter(&self, phase: Phase) {
        // What another attempt had in hand is read again.
        *self.in_hand.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = InHand::default();
        *self.phase.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = phase;
    }

    /// A snapshot of about `rows` rows begins, of which `done` of `total` parts are done already.
    pub fn snapshot_begins(&self, rows: Option<u64>, done: u32, total: u32) {
        let share = f64::from(done) / f64::from(total.max(1));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
        let before = rows.map_or(0, |rows| (rows as f64 * share) as u64);
        self.set_snapshot(Some(Snapshot {
            estimated: rows,
            before,
            written_before: self.rows_written.load(Relaxed),
            parts_done: done,
            parts_total: total,
            began: Instant::now(),
        }));
    }

    /// A part of the snapshot is durable in the destination and recorded.
    pub fn snapshot_part_done(&self) {
        if let Some(snapshot) = self.snapshot.lock().unwrap_or_else(std::sync::PoisonError::into_inner).as_mut() {
            snapshot.parts_done += 1;
        }
    }

    /// The snapshot ended, well or not.
    pub fn snapshot_ends(&self) {
        self.set_snapshot(None);
    }

    fn set_snapshot(&self, snapshot: Option<Snapshot>) {
        *self.snapshot.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = snapshot;
    }

    /// Counts a batch that was read, whose first change was committed at the source at `committed_at` (Unix microseconds).
    pub fn read(&self, rows: u64, bytes: u64, committed_at: Option<i64>) {
        let mut in_hand = self.in_hand.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        in_hand.rows += rows;
        in_hand.oldest = in_hand.oldest.or(committed_at);
        drop(in_hand);
        self.rows_read.fetch_add(rows, Relaxed);
        self.bytes_read.fetch_add(bytes, Relaxed);
    }

    /// Counts a durable commit of `rows` source rows, the last of which was committed at the source at
    /// `committed_at` (Unix microseconds). A commit of no row says that the stream is idle and caught up.
    pub fn committed(&self, rows: u64, committed_at: Option<i64>) {
        self.commits.fetch_add(1, Relaxed);
        self.rows_written.fetch_add(rows, Relaxed);
        if let Some(at) = committed_at {
            self.durable_at_source.store(at, Relaxed);
        }
        self.caught_up.store(rows == 0, Relaxed);
        let mut in_hand = self.in_hand.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        in_hand.rows = in_hand.rows.saturating_sub(rows);
        in_hand.oldest = if in_hand.rows == 0 { None } else { committed_at.or(in_hand.oldest) };
        drop(in_hand);
        metrics::counter!("faucet_pipeline_rows_written_total").increment(rows);
        metrics::counter!("faucet_pipeline_commits_total").increment(1);
    }

    /// Whether rows came or went at the source that no change tells of.
    pub fn resync_required(&self, required: bool) {
        self.resync_required.store(required, Relaxed);
    }

    /// Counts another try.
    pub fn retried(&self) {
        self.retries.fetch_add(1, Relaxed);
        metrics::counter!("faucet_pipeline_retries_total").increment(1);
    }

    /// Counts rows that went to the dead-letter queue.
    pub fn set_aside(&self, rows: u64) {
        self.set_aside.fetch_add(rows, Relaxed);
        metrics::counter!("faucet_pipeline_rows_set_aside_total").increment(rows);
    }

    /// The counters now.
    pub fn reading(&self) -> Reading {
        let rows_written = self.rows_written.load(Relaxed);
        let snapshot = *self.snapshot.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Reading {
            phase: *self.phase.lock().unwrap_or_else(std::sync::PoisonError::into_inner),
            rows_read: self.rows_read.load(Relaxed),
            rows_written,
            bytes_read: self.bytes_read.load(Relaxed),
            commits: self.commits.load(Relaxed),
            retries: self.retries.load(Relaxed),
            rows_set_aside: self.set_aside.load(Relaxed),
            lag_seconds: self.lag(),
            snapshot: snapshot.map(|snapshot| snapshot.reading(rows_written)),
            resync_required: self.resync_required.load(Relaxed),
        }
    }

    fn lag(&self) -> Option<f64> {
        let in_hand = self.in_hand.lock().unwrap_or_else(std::sync::PoisonError::into_inner).oldest;
        if in_hand.is_none() && self.caught_up.load(Relaxed) {
            return Some(0.0);
        }
        let at = in_hand.unwrap_or_else(|| self.durable_at_source.load(Relaxed));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as i64);
        (at != 0).then(|| (now - at).max(0) as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_is_zero_once_an_idle_stream_says_so() {
        let meter = Meter::default();
        assert_eq!(meter.reading().lag_seconds, None);
        meter.committed(3, Some(1_000_000));
        assert!(meter.reading().lag_seconds.is_some_and(|lag| lag > 1e6));
        meter.committed(0, None);
        assert_eq!(meter.reading().lag_seconds, Some(0.0));
        assert_eq!(meter.reading().rows_written, 3);
    }

    #[test]
    fn lag_grows_while_a_transaction_is_in_hand() {
        let meter = Meter::default();
        meter.committed(0, None);
        meter.read(10, 100, Some(1_000_000));
        meter.read(10, 100, Some(1_000_000));
        assert!(meter.reading().lag_seconds.is_some_and(|lag| lag > 1e6), "it was read, and is not written");
        meter.committed(15, Some(1_000_000));
        assert!(meter.reading().lag_seconds.is_some_and(|lag| lag > 1e6), "a part of it is not written");
        meter.committed(5, Some(1_000_000));
        meter.committed(0, None);
        assert_eq!(meter.reading().lag_seconds, Some(0.0));
        meter.read(10, 100, Some(1_000_000));
        meter.enter(Phase::Waiting);
        assert_eq!(meter.reading().lag_seconds, Some(0.0), "what a failed attempt had in hand is read again");
    }

    #[test]
    fn a_snapshot_is_never_done_before_its_end() {
        let meter = Meter::default();
        let read = || meter.reading().snapshot.expect("a snapshot runs");
        meter.committed(50, None);
        meter.snapshot_begins(Some(1000), 2, 4);
        assert_eq!((read().snapshot_percent, read().snapshot_seconds_left), (Some(50), None), "no rate, no time left");
        meter.committed(250, None);
        assert_eq!(read().snapshot_percent, Some(75));
        assert!(read().snapshot_seconds_left.is_some_and(|left| left > 0.0));
        meter.committed(5000, None);
        assert_eq!((read().snapshot_percent, read().snapshot_seconds_left), (Some(99), None));
        meter.snapshot_part_done();
        assert_eq!((read().snapshot_parts_done, read().snapshot_parts_total), (3, 4));
        meter.snapshot_begins(None, 0, 1);
        assert_eq!(read().snapshot_percent, None);
        meter.snapshot_ends();
        assert_eq!(meter.reading().snapshot, None);
    }
}
