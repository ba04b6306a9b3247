//! `postgres-cdc`: every committed change to the tables of a publication, from a replication slot.
//!
//! [`open`] looks at the server first and starts the stream on its own [`wire`] client; [`decode`] reads the plugin's
//! messages; [`intake`] knows what they mean for transactions, positions and batches, and [`assemble`] builds pages of
//! their rows with what the [`catalog`] adds; [`stream`] decides when a batch goes out and when a cycle ends;
//! [`feedback`] tells the server what is durable.

mod assemble;
mod blockers;
mod capture;
mod catalog;
mod config;
mod covered;
pub mod decode;
pub mod error;
mod examine;
mod feedback;
mod heartbeat;
mod inbox;
mod intake;
pub mod lsn;
mod meter;
mod open;
mod preflight;
#[cfg(test)]
mod sample;
mod silence;
mod slot;
mod stream;
mod survey;
mod timeline;
mod wire;

use async_trait::async_trait;
use faucet_core::error::{Problem, Result};
use faucet_core::ports::{Capture, Source, SourceCapabilities, SourceConnector, SourceContext};

pub use config::{PostgresCdcConfig, SlotType};

/// The `postgres-cdc` source.
pub struct PostgresCdc;

#[async_trait]
impl SourceConnector for PostgresCdc {
    type Config = PostgresCdcConfig;
    const NAME: &'static str = "postgres-cdc";
    const SUMMARY: &'static str = "Stream of committed changes from PostgreSQL 14 or newer (logical replication)";

    fn capabilities(config: &PostgresCdcConfig) -> SourceCapabilities {
        // A temporary slot is gone with its session: nothing can be captured and nothing resumed.
        let lasting = config.slot_type == SlotType::Permanent;
        SourceCapabilities { changes: true, capture: lasting, replayable: lasting, split: false }
    }

    fn validate(config: &PostgresCdcConfig) -> Vec<Problem> {
        config.problems()
    }

    async fn open(config: PostgresCdcConfig, context: SourceContext) -> Result<Box<dyn Source>> {
        let slot = config.slot_name.clone();
        let opened = open::stream(config, context).await;
        let stream = opened.map_err(|e| e.context(format!("opening the change stream of slot \"{slot}\"")))?;
        Ok(Box::new(stream))
    }

    fn capture(config: PostgresCdcConfig) -> Option<Box<dyn Capture>> {
        (config.slot_type == SlotType::Permanent).then(|| Box::new(capture::SlotCapture { config }) as Box<dyn Capture>)
    }
}
