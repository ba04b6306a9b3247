//! Watches for rows that come or go with a partition as a whole: attached, detached, dropped or truncated alone.
//!
//! Such rows are in no change of the stream, so the destination can't follow. What is found is logged and kept in the
//! marker as a reason to mirror anew; whether to do so is for people to decide, and the stream goes on.
//!
//! The marker is read and written here only while no snapshot runs beside it.

use std::sync::Arc;
use std::time::Duration;

use super::driver::Mirror;
use super::marker::Stage;
use super::place;
use crate::error::Result;
use crate::observe::Meter;
use crate::ports::{Expect, PartitionChange, Partitions, StateStore};

/// How often a running stream is looked after.
const INTERVAL: Duration = Duration::from_secs(60);

/// What to do about rows that the stream doesn't tell of.
pub const RESYNC: &str = "run `faucet mirror drop`, empty the destination, and mirror again";

/// A look at the partitions, now and again.
pub(super) struct Watch {
    store: Arc<dyn StateStore>,
    name: String,
    meter: Arc<Meter>,
    partitions: Box<dyn Partitions>,
}

impl Watch {
    /// Over the partitions of what the mirror streams, where its source can tell.
    pub(super) fn of(mirror: &Mirror) -> Option<Self> {
        let partitions = mirror.capture.partitions()?;
        Some(Self { store: mirror.store.clone(), name: mirror.name.clone(), meter: mirror.meter.clone(), partitions })
    }

    /// Compares the partitions with those in the marker, and stores what is found. Whether there are any.
    ///
    /// # Errors
    /// Of the source and of the store.
    async fn look(&mut self) -> Result<bool> {
        let Some((mut marker, _)) = place::stored(&self.store, &self.name).await? else { return Ok(false) };
        let (now, changes) = self.partitions.look(marker.partitions.as_ref()).await?;
        // A snapshot that is still to be read finds what was attached.
        let missed =
            |change: &&PartitionChange| marker.stage == Stage::Cdc || !matches!(change, PartitionChange::Attached(_));
        let reasons: Vec<String> = changes.iter().filter(missed).map(ToString::to_string).collect();
        for reason in &reasons {
            tracing::warn!(reason, "the mirror needs to be made anew: {RESYNC}");
        }
        let any = !now.is_empty();
        if marker.partitions.as_ref() != Some(&now) || !reasons.is_empty() {
            marker.partitions = Some(now);
            marker.resync_required.extend(reasons);
            let key = place::marker_key(&self.name);
            self.store.put(key.as_str(), &marker.to_value(), Expect::Any).await?;
        }
        self.meter.resync_required(!marker.resync_required.is_empty());
        Ok(any)
    }

    /// The same; that it failed is no reason to stop.
    pub(super) async fn try_look(&mut self) -> bool {
        match self.look().await {
            Ok(any) => any,
            Err(error) => {
                tracing::warn!(code = error.code().id, %error, "the partitions could not be looked at");
                false
            }
        }
    }

    /// Looks as long as a stream runs. A table without partitions gets none.
    pub(super) async fn keep_looking(watch: Option<Self>) {
        if let Some(mut watch) = watch
            && watch.try_look().await
        {
            loop {
                tokio::time::sleep(INTERVAL).await;
                watch.try_look().await;
            }
        }
    }
}
