//! Says where the stream stands now, and which tables it covers.

use async_trait::async_trait;
use faucet_core::error::Result;
use faucet_core::model::Position;
use faucet_core::ports::{Bookmark, Capture, Coverage, Discovered, Finding, Survey};
use std::time::{Duration, Instant};
use tokio::time::sleep;

use super::blockers::{self, FIRST_WORD, NEXT_WORD};
use super::config::PostgresCdcConfig;
use super::lsn::Place;
use super::survey::PublicationSurvey;
use super::wire::Wire;
use super::{covered, examine, open, preflight, slot};
use crate::postgres::connect::Session;
use crate::postgres::endpoint::Endpoint;
use crate::postgres::error::from_driver;

/// The name shown to the server while a position is captured.
pub(super) const SHOWN: &str = "capture";

/// Captures the position of a permanent slot, which it creates where needed.
pub(super) struct SlotCapture {
    pub(super) config: PostgresCdcConfig,
}

impl SlotCapture {
    fn endpoint(&self) -> Result<Endpoint> {
        Endpoint::new(&self.config.connection_url, self.config.tls.as_ref())
    }
}

/// Waits until every transaction that runs now has ended.
///
/// The commit record of a transaction can lie in the log, before the captured position, while nobody sees its rows yet:
/// under synchronous replication it waits for a standby in between. The stream doesn't deliver it, so a snapshot must
/// not be taken before it is visible.
async fn visible(session: &Session) -> Result<()> {
    // Each holds a lock on its own number until it has ended, which is after a standby has answered.
    let running = "SELECT COALESCE(pg_catalog.array_agg(transactionid::text), '{}') FROM pg_catalog.pg_locks \
                   WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted";
    let running: Vec<String> = session.query_one(running, &[]).await.map_err(|e| from_driver(&e))?.get(0);
    let any = "SELECT EXISTS (SELECT FROM pg_catalog.pg_locks WHERE locktype = 'transactionid' \
               AND mode = 'ExclusiveLock' AND granted AND transactionid::text = ANY ($1))";
    let (mut pause, mut word) = (Duration::from_millis(5), Instant::now() + FIRST_WORD);
    while session.query_one(any, &[&running]).await.map_err(|e| from_driver(&e))?.get(0) {
        if Instant::now() >= word {
            tracing::warn!("the snapshot waits for {}", blockers::of_transactions(session, &running).await);
            word = Instant::now() + NEXT_WORD;
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(500));
    }
    Ok(())
}

#[async_trait]
impl Capture for SlotCapture {
    async fn capture(&mut self) -> Result<Bookmark> {
        let endpoint = self.endpoint()?;
        let session = endpoint.connect(SHOWN).await?;
        let server = preflight::server(&session).await?;
        preflight::publication(&session, &self.config.publication_name).await?;
        let mut wire = Wire::connect(&endpoint, SHOWN).await?;
        let here = preflight::identify(&mut wire).await?;
        let (_, confirmed) = open::ensure_slot(&self.config, &session, &mut wire, &server, true).await?;
        wire.close().await;
        visible(&session).await?;
        session.close().await;
        Ok(Place { lsn: confirmed, ..here }.to_bookmark())
    }

    fn position(&self, bookmark: &Bookmark) -> Result<Position> {
        Ok(Place::from_bookmark(bookmark)?.position())
    }

    async fn discover(&mut self) -> Result<Vec<Discovered>> {
        let session = self.endpoint()?.connect(SHOWN).await?;
        preflight::publication(&session, &self.config.publication_name).await?;
        let tables = preflight::tables(&session, &self.config.publication_name).await?;
        session.close().await;
        Ok(tables)
    }

    async fn coverage(&mut self) -> Result<Vec<Coverage>> {
        let session = self.endpoint()?.connect(SHOWN).await?;
        let covered = covered::coverage(&session, &self.config.publication_name).await;
        session.close().await;
        covered
    }

    fn survey(&self) -> Option<Box<dyn Survey>> {
        Some(Box::new(PublicationSurvey { config: self.config.clone() }))
    }

    async fn examine(&mut self, bookmark: Option<&Bookmark>) -> Result<Vec<Finding>> {
        let bookmark = bookmark.map(Place::from_bookmark).transpose()?;
        let endpoint = self.endpoint()?;
        let session = endpoint.connect(SHOWN).await?;
        let findings = examine::examine(&self.config, &endpoint, &session, bookmark.as_ref()).await;
        session.close().await;
        findings
    }

    /// The name is matched exactly, and a slot in use stays (`postgres.slot_active`).
    async fn release(&mut self) -> Result<bool> {
        let session = self.endpoint()?.connect(SHOWN).await?;
        let dropped = slot::drop_slot(&session, &self.config.slot_name).await;
        session.close().await;
        dropped
    }
}
