//! Heartbeats: a small transactional message in the source's log at an interval, so that a database where nothing else
//! happens has positions to confirm, and the server can let go of its log.
//!
//! The message says nothing and changes no table. Source: PostgreSQL manual, `pg_logical_emit_message`.

use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::postgres::connect::Session;
use crate::postgres::endpoint::Endpoint;
use crate::postgres::error::from_driver;

const BEAT: &str = "SELECT pg_catalog.pg_logical_emit_message(true, 'faucet.heartbeat', '')";

/// Beats until it is dropped.
#[derive(Debug)]
pub(super) struct Heartbeat(JoinHandle<()>);

impl Heartbeat {
    /// Beats every `pause` over a session of its own. A beat that fails is logged, and the next one tries anew: the
    /// stream itself goes on.
    pub(super) fn start(endpoint: Endpoint, pipeline: String, pause: Duration) -> Self {
        Self(tokio::spawn(async move {
            let mut ticks = interval(pause);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let mut session: Option<Session> = None;
            loop {
                ticks.tick().await;
                if let Err(error) = beat(&endpoint, &pipeline, &mut session).await {
                    session = None;
                    tracing::warn!(code = error.code().id, error = %error, "a heartbeat could not be sent");
                }
            }
        }))
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn beat(endpoint: &Endpoint, pipeline: &str, session: &mut Option<Session>) -> faucet_core::error::Result<()> {
    let session = match session {
        Some(session) => session,
        None => session.insert(endpoint.connect(pipeline).await?),
    };
    session.batch_execute(BEAT).await.map_err(|e| from_driver(&e))
}
