//! The write half of a stream: tells the server how far we are.
//!
//! A task owns it, so that the server hears from us at intervals even while a sink keeps the reader busy; otherwise it
//! would end the session after `wal_sender_timeout`. The position reported as flushed is the confirmed one and nothing
//! else: the server forgets its log up to there.
//!
//! Source: PostgreSQL manual, "Streaming Replication Protocol", "Standby status update".

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::lsn::Lsn;

/// Microseconds from 1970-01-01 to 2000-01-01.
const EPOCH_MICROS: u128 = 946_684_800_000_000;

#[derive(Debug, Default)]
struct Shared {
    /// Received, as far as the reader got.
    received: AtomicU64,
    /// Confirmed as durable.
    confirmed: AtomicU64,
    /// Ask the server to answer the next report.
    ask: AtomicBool,
    /// Finish: report once more and end the stream.
    finish: AtomicBool,
    wake: Notify,
}

/// Reports positions to the server; ends with its handle.
#[derive(Debug)]
pub(super) struct Feedback {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for Feedback {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Feedback {
    /// Starts reporting on `out` every `interval`, with `start` as the confirmed position.
    pub(super) fn start<W>(out: W, start: Lsn, interval: Duration) -> Self
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let shared = Arc::new(Shared::default());
        shared.received.store(start.0, Ordering::Relaxed);
        shared.confirmed.store(start.0, Ordering::Relaxed);
        let task = tokio::spawn(report(out, shared.clone(), interval));
        Self { shared, task }
    }

    /// Everything up to `lsn` was read.
    #[inline]
    pub(super) fn received(&self, lsn: Lsn) {
        self.shared.received.fetch_max(lsn.0, Ordering::Relaxed);
    }

    /// Everything up to `lsn` is durable. Never goes back.
    pub(super) fn confirm(&self, lsn: Lsn) {
        self.shared.confirmed.fetch_max(lsn.0, Ordering::Relaxed);
    }

    /// The confirmed position.
    pub(super) fn confirmed(&self) -> Lsn {
        Lsn(self.shared.confirmed.load(Ordering::Relaxed))
    }

    /// Reports now; with `ask`, the server answers with its own position.
    pub(super) fn now(&self, ask: bool) {
        self.shared.ask.fetch_or(ask, Ordering::Relaxed);
        self.shared.wake.notify_one();
    }

    /// Reports once more, ends the stream and says goodbye. The server has it all once it closed the connection.
    pub(super) async fn finish(mut self) {
        self.shared.finish.store(true, Ordering::Relaxed);
        self.shared.wake.notify_one();
        // It ends by itself after that, with or without a failed write; a panic in it was reported by the runtime.
        let _ = (&mut self.task).await;
    }
}

async fn report<W: AsyncWrite + Unpin>(mut out: W, shared: Arc<Shared>, interval: Duration) {
    loop {
        let finish = shared.finish.load(Ordering::Relaxed);
        let mut bytes = status(&shared, now());
        if finish {
            // CopyDone, Terminate.
            bytes.extend_from_slice(b"c\0\0\0\x04X\0\0\0\x04");
        }
        let sent = async {
            out.write_all(&bytes).await?;
            out.flush().await
        };
        // The reader meets the same broken connection and reports it.
        if sent.await.is_err() || finish {
            return;
        }
        let _ = tokio::time::timeout(interval, shared.wake.notified()).await;
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    i64::try_from(since.saturating_sub(EPOCH_MICROS)).unwrap_or(i64::MAX)
}

/// A standby status update in a CopyData message.
fn status(shared: &Shared, clock: i64) -> Vec<u8> {
    let confirmed = shared.confirmed.load(Ordering::Relaxed);
    let received = shared.received.load(Ordering::Relaxed).max(confirmed);
    let ask = shared.ask.swap(false, Ordering::Relaxed);
    let mut out = Vec::with_capacity(64);
    out.push(b'd');
    out.extend_from_slice(&38_u32.to_be_bytes());
    out.push(b'r');
    // Written, flushed, applied.
    for position in [received, confirmed, confirmed] {
        out.extend_from_slice(&position.to_be_bytes());
    }
    out.extend_from_slice(&clock.to_be_bytes());
    out.push(u8::from(ask));
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    async fn next(server: &mut tokio::io::DuplexStream) -> (u64, u64, u8) {
        let mut bytes = [0; 39];
        server.read_exact(&mut bytes).await.unwrap();
        assert_eq!((bytes[0], bytes[5], bytes[14..22] == bytes[22..30]), (b'd', b'r', true));
        let number = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap());
        (number(6), number(14), bytes[38])
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_confirmed_position_is_flushed_and_it_never_goes_back() {
        let (mut server, out) = tokio::io::duplex(1024);
        let feedback = Feedback::start(out, Lsn(100), Duration::from_secs(10));
        assert_eq!(next(&mut server).await, (100, 100, 0));
        feedback.received(Lsn(500));
        feedback.now(false);
        assert_eq!(next(&mut server).await, (500, 100, 0));
        feedback.confirm(Lsn(300));
        feedback.confirm(Lsn(200));
        let before = tokio::time::Instant::now();
        assert_eq!(next(&mut server).await, (500, 300, 0));
        assert_eq!(before.elapsed(), Duration::from_secs(10));
        feedback.now(true);
        assert_eq!(next(&mut server).await, (500, 300, 1));
        feedback.confirm(Lsn(400));
        feedback.finish().await;
        assert_eq!(next(&mut server).await, (500, 400, 0));
        let mut rest = Vec::new();
        server.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"c\0\0\0\x04X\0\0\0\x04");
    }
}
