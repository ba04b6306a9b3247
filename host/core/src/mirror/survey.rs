//! Looks whether the source still is what was mirrored: the same table, covered the same way, read by the same query.
//!
//! What the source says of itself is recorded in the marker when the mirror begins, and compared at every start and every
//! minute of a running stream. What makes the copy wrong without a change in the stream (a partition that came with rows in
//! it) is logged and kept in the marker as a reason to mirror anew, and the stream goes on. What would write something else
//! than was mirrored ends the mirror.
//!
//! The marker is read and written here only while no snapshot runs beside it.

use std::sync::Arc;
use std::time::Duration;

use super::driver::Mirror;
use super::marker::{Marker, Stage};
use super::place;
use super::snapshot::Rows;
use crate::error::{Error, Result};
use crate::observe::Meter;
use crate::ports::{Covered, Difference, Expect, Look, QUERY_DIFFERS, SOURCE_CHANGED, StateStore, Survey, Weight};
use serde_json::Value;

/// How often a running stream is looked after.
const INTERVAL: Duration = Duration::from_secs(60);

/// What to do about a copy that can't become equal by streaming.
pub const RESYNC: &str = "run `faucet mirror drop CONFIG`, then `faucet mirror --replace CONFIG`";

/// A look at the source, now and again.
pub(super) struct Watch {
    store: Arc<dyn StateStore>,
    name: String,
    meter: Arc<Meter>,
    survey: Box<dyn Survey>,
    rows: Arc<dyn Rows>,
}

impl Watch {
    /// Over what the mirror covers, where its source can tell.
    pub(super) fn of(mirror: &Mirror) -> Option<Self> {
        let survey = mirror.capture.survey()?;
        let (store, rows) = (mirror.store.clone(), mirror.snapshot.rows.clone());
        Some(Self { store, name: mirror.name.clone(), meter: mirror.meter.clone(), survey, rows })
    }

    /// Looks before anything is recorded, or with what a first look found a moment ago: whatever differs is refused.
    ///
    /// # Errors
    /// `mirror.source_changed`, `mirror.query_differs`, those of the source.
    pub(super) async fn begin(&mut self, known: Option<&Covered>) -> Result<Covered> {
        let reads = reads(self.rows.as_ref()).await?;
        let Look { now, findings } = self.survey.look(known, reads.as_ref()).await?;
        refuse(&findings)?;
        note(findings.iter().filter(|found| found.weight == Weight::Noted));
        match findings.iter().find(|found| found.weight == Weight::Missed) {
            None => Ok(now),
            Some(found) => Err(Error::new(&SOURCE_CHANGED, &found.what).hint("it changed just now: start again")),
        }
    }

    /// Compares the source with what the marker holds, and stores what is new. What the marker holds then.
    ///
    /// # Errors
    /// `mirror.source_changed`, `mirror.query_differs`, those of the source and of the store.
    pub(super) async fn look(&mut self) -> Result<Option<Covered>> {
        let Some((mut marker, _)) = place::stored(&self.store, &self.name).await? else { return Ok(None) };
        let reads = match (reads(self.rows.as_ref()).await, marker.stage) {
            (Ok(reads), _) => reads,
            (Err(error), Stage::Snapshot) => return Err(error),
            // It was read long ago; what the stream covers is compared with the record all the same.
            (Err(error), Stage::Cdc) => {
                tracing::warn!(code = error.code().id, %error, "the snapshot's query could not be looked at");
                None
            }
        };
        let Look { now, findings } = self.survey.look(marker.covered.as_ref(), reads.as_ref()).await?;
        note(findings.iter().filter(|found| found.weight == Weight::Noted));
        let refused = refuse(&findings);
        let before = marker.clone();
        record(&mut marker, &findings);
        if refused.is_ok() {
            marker.covered = Some(now);
        }
        if marker != before {
            let key = place::marker_key(&self.name);
            self.store.put(key.as_str(), &marker.to_value(), Expect::Any).await?;
        }
        self.meter.resync_required(!marker.resync_required.is_empty());
        refused.map(|()| marker.covered)
    }

    /// Looks as long as a stream runs, and ends with what the stream has to end for. A look that fails is no such thing.
    pub(super) async fn keep_looking(watch: Option<Self>) -> Error {
        let Some(mut watch) = watch else { return std::future::pending().await };
        loop {
            tokio::time::sleep(INTERVAL).await;
            match watch.look().await {
                Ok(_) => {}
                Err(error) if [SOURCE_CHANGED.id, QUERY_DIFFERS.id].contains(&error.code().id) => return error,
                Err(error) => tracing::warn!(code = error.code().id, %error, "the source could not be looked at"),
            }
        }
    }
}

/// What the query of the snapshot reads.
async fn reads(rows: &dyn Rows) -> Result<Option<Value>> {
    let Some(mut split) = rows.split() else { return Ok(None) };
    let reads = split.reads().await;
    split.close().await;
    reads.map_err(|error| error.context("looking at the snapshot's query"))
}

/// What happened to the source counts before what is wrong with the configuration, which may follow from it.
fn refuse(findings: &[Difference]) -> Result<()> {
    let happened = findings.iter().filter(|found| found.weight == Weight::Refused);
    happened.chain(findings).find_map(|found| found.error(RESYNC)).map_or(Ok(()), Err)
}

fn note<'d>(findings: impl Iterator<Item = &'d Difference>) {
    findings.for_each(|found| tracing::warn!(what = found.what, "the source was looked at"));
}

/// Keeps the reasons to mirror anew in the marker; each is told once.
fn record(marker: &mut Marker, findings: &[Difference]) {
    let is_reason = |weight| match weight {
        Weight::Missed | Weight::Refused => true,
        // A snapshot that is still to be read finds them.
        Weight::Arrived => marker.stage == Stage::Cdc,
        Weight::Noted | Weight::Misread(_) => false,
    };
    let reasons: Vec<String> = findings.iter().filter(|f| is_reason(f.weight)).map(|f| f.what.clone()).collect();
    for reason in reasons {
        if !marker.resync_required.contains(&reason) {
            tracing::warn!(reason, "the mirror needs to be made anew: {RESYNC}");
            marker.resync_required.push(reason);
        }
    }
}
