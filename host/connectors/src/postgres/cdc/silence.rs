//! A server that says nothing.
//!
//! It may have nothing to say: one that hears from us regularly has no reason to speak by itself. It may be busy, with
//! a transaction of which nothing is for us. Or the connection is broken. So it is asked first; if it doesn't answer, it is
//! looked at over another session.

use faucet_core::error::{Error, Result};
use std::time::Duration;
use tokio::time::Instant;
use tokio_postgres::Client;

use crate::postgres::error::{CONNECTION_LOST, from_driver};

/// The server's process that streams to us, and what it streams.
#[derive(Debug)]
pub(super) struct Walsender {
    pub(super) pid: i32,
    pub(super) slot: String,
    pub(super) publication: String,
}

/// What it is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// It has the slot no more.
    Gone,
    /// It waits: for something to send, or until what it sent is taken. It would have answered.
    Waiting,
    /// It reads its log.
    Working,
}

/// What it waits for when it would hear us.
const WAITS: &[&str] = &["walsendermain", "walsenderwaitforwal", "walsenderwritedata"];

const LOOK: &str = "SELECT pg_catalog.lower(a.wait_event) FROM pg_catalog.pg_replication_slots s \
                    LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = s.active_pid \
                    WHERE s.slot_name = $1::text AND s.active_pid = $2";

impl Walsender {
    async fn look(&self, client: &Client) -> Result<Doing> {
        let row = client.query_opt(LOOK, &[&self.slot, &self.pid]).await.map_err(|e| from_driver(&e))?;
        Ok(match row.map(|row| row.get::<_, Option<String>>(0)) {
            None => Doing::Gone,
            Some(Some(event)) if WAITS.contains(&event.as_str()) => Doing::Waiting,
            Some(_) => Doing::Working,
        })
    }
}

/// How to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask it for an answer.
    Ask,
    /// Look at it, with [`Silence::look`].
    Look,
}

/// How long it has been silent, and what was done about it.
#[derive(Debug)]
pub(super) struct Silence {
    walsender: Walsender,
    limit: Duration,
    since: Instant,
    /// Questions without an answer.
    asked: u32,
    /// That it works was said.
    told: bool,
}

impl Silence {
    /// It is asked after half of `limit`, and looked at after all of it.
    pub(super) fn new(limit: Duration, walsender: Walsender) -> Self {
        Self { walsender, limit, since: Instant::now(), asked: 0, told: false }
    }

    /// Something came, or nobody listened until now.
    pub(super) fn ends(&mut self) {
        (self.since, self.asked, self.told) = (Instant::now(), 0, false);
    }

    /// What is streamed.
    pub(super) fn publication(&self) -> &str {
        &self.walsender.publication
    }

    /// When the next thing is to be done.
    pub(super) fn due(&self) -> Instant {
        self.since + self.limit / 2 * (self.asked + 1)
    }

    /// What is to be done now that it is due.
    pub(super) fn next(&mut self) -> Next {
        if self.asked > 0 {
            return Next::Look;
        }
        self.asked = 1;
        Next::Ask
    }

    /// How long a look may take.
    pub(super) fn patience(&self) -> Duration {
        self.limit.min(Duration::from_secs(30))
    }

    /// Looks at it; whether to ask once more.
    ///
    /// # Errors
    /// `postgres.connection_lost` when it isn't there, or waits and doesn't answer.
    pub(super) async fn look(&mut self, client: &Client) -> Result<bool> {
        match self.walsender.look(client).await? {
            Doing::Gone => Err(self.lost("it doesn't stream to us any more")),
            // What it answered may be on its way.
            Doing::Waiting if self.asked == 1 => {
                self.asked = 2;
                Ok(true)
            }
            Doing::Waiting => Err(self.lost("it waits, and nothing of it gets here")),
            Doing::Working => {
                self.tell();
                (self.since, self.asked) = (Instant::now(), 0);
                Ok(false)
            }
        }
    }

    fn tell(&mut self) {
        if !std::mem::replace(&mut self.told, true) {
            let pid = self.walsender.pid;
            tracing::info!(
                pid,
                "the server is reading a part of its log of which nothing is for this stream; it is alive"
            );
        }
    }

    /// The error for a connection that is broken.
    pub(super) fn lost(&self, why: &str) -> Error {
        let seconds = self.since.elapsed().as_secs();
        Error::new(&CONNECTION_LOST, format!("the server has said nothing for {seconds} s: {why}"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_silent_server_is_asked_before_it_is_looked_at() {
        let walsender = Walsender { pid: 1, slot: "s".into(), publication: "p".into() };
        let (limit, began) = (Duration::from_secs(10), Instant::now());
        let mut silence = Silence::new(limit, walsender);
        assert_eq!(silence.due() - began, limit / 2);
        assert_eq!(silence.next(), Next::Ask);
        assert_eq!(silence.due() - began, limit);
        assert_eq!(silence.next(), Next::Look);
        tokio::time::advance(limit).await;
        silence.ends();
        assert_eq!((silence.due() - began, silence.next()), (limit * 3 / 2, Next::Ask));
    }
}
