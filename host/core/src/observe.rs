//! What a run tells while it goes: counters that stages bump and a display reads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

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
    /// Seconds between the source's commit and now for the last change that is durable here; 0 when caught up.
    pub lag_seconds: Option<f64>,
}

fn phase_word<S: serde::Serializer>(phase: &Phase, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(phase.word())
}

impl Meter {
    /// Says what the run is doing now.
    pub fn enter(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = phase;
    }

    /// Counts a batch that was read.
    pub fn read(&self, rows: u64, bytes: u64) {
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
        metrics::counter!("faucet_pipeline_rows_written_total").increment(rows);
        metrics::counter!("faucet_pipeline_commits_total").increment(1);
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
        Reading {
            phase: *self.phase.lock().unwrap_or_else(std::sync::PoisonError::into_inner),
            rows_read: self.rows_read.load(Relaxed),
            rows_written: self.rows_written.load(Relaxed),
            bytes_read: self.bytes_read.load(Relaxed),
            commits: self.commits.load(Relaxed),
            retries: self.retries.load(Relaxed),
            rows_set_aside: self.set_aside.load(Relaxed),
            lag_seconds: self.lag(),
        }
    }

    fn lag(&self) -> Option<f64> {
        if self.caught_up.load(Relaxed) {
            return Some(0.0);
        }
        let at = self.durable_at_source.load(Relaxed);
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
}
