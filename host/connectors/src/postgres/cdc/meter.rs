//! What the stream shows of itself: how old what it delivers is, and how much log it holds back.

use metrics::{Gauge, gauge};

use super::lsn::Lsn;

/// Gauges of one stream.
pub(super) struct Meter {
    committed_at: Gauge,
    received: Gauge,
    confirmed: Gauge,
}

impl Meter {
    pub(super) fn new(pipeline: &str) -> Self {
        let pipeline = || pipeline.to_owned();
        metrics::describe_gauge!(
            "faucet_source_committed_timestamp_seconds",
            metrics::Unit::Seconds,
            "Unix time of the commit of the last change that was delivered"
        );
        metrics::describe_gauge!(
            "faucet_source_received_position_bytes",
            metrics::Unit::Bytes,
            "Position in the server's log up to which the stream was read"
        );
        metrics::describe_gauge!(
            "faucet_source_confirmed_position_bytes",
            metrics::Unit::Bytes,
            "Position in the server's log up to which the server was told that everything is durable"
        );
        Self {
            committed_at: gauge!("faucet_source_committed_timestamp_seconds", "pipeline" => pipeline()),
            received: gauge!("faucet_source_received_position_bytes", "pipeline" => pipeline()),
            confirmed: gauge!("faucet_source_confirmed_position_bytes", "pipeline" => pipeline()),
        }
    }

    /// The last commit delivered, in microseconds since the Unix epoch.
    pub(super) fn committed(&self, micros: i64) {
        self.committed_at.set(micros as f64 / 1e6);
    }

    /// The stream was read up to `lsn`.
    pub(super) fn received(&self, lsn: Lsn) {
        self.received.set(lsn.0 as f64);
    }

    /// The server was told `lsn`.
    pub(super) fn confirmed(&self, lsn: Lsn) {
        self.confirmed.set(lsn.0 as f64);
    }
}
