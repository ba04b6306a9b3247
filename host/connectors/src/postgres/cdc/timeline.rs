//! Notices that the server of a stream went over to another timeline while the stream lived on.
//!
//! A stream from a standby isn't cut when that, or the server it follows, is promoted. Positions from there on are of the new
//! timeline, and bookmarks that name the old one would be taken for places that this server never was at. So before a
//! bookmark is made the server is asked where it is; after a change the stream ends and is opened again.

use faucet_core::error::{Error, Result};
use tokio::task::JoinHandle;

use super::lsn::Place;
use super::preflight;
use super::wire::Wire;
use crate::postgres::error::CONNECTION_LOST;

/// Asks a standby for its timeline, over a replication session of its own.
#[derive(Debug)]
pub(super) struct Watch {
    timeline: u32,
    wire: Option<Wire>,
    /// The question that is on its way. Whoever waits for its answer may give up waiting and come again.
    asked: Option<JoinHandle<(Wire, Result<Place>)>>,
}

impl Watch {
    /// Watches over a server that is on `timeline` now.
    pub(super) fn new(wire: Wire, timeline: u32) -> Self {
        Self { timeline, wire: Some(wire), asked: None }
    }

    /// Checks that all that was received until now is of the same timeline.
    ///
    /// # Errors
    /// After a change, and failures of the connection: a stream that is opened again learns the timeline anew.
    pub(super) async fn unchanged(&mut self) -> Result<()> {
        let asked = match (&mut self.asked, self.wire.take()) {
            (Some(asked), _) => asked,
            (none, Some(mut wire)) => none.insert(tokio::spawn(async move {
                let here = preflight::identify(&mut wire).await;
                (wire, here)
            })),
            (None, None) => return Err(gone()),
        };
        let answer = asked.await;
        self.asked = None;
        let (wire, here) = answer.map_err(|_| gone())?;
        let now = here?.timeline;
        self.wire = Some(wire);
        if now == self.timeline {
            return Ok(());
        }
        let text = format!("the server was promoted: it went from timeline {} to {now}", self.timeline);
        Err(Error::new(&CONNECTION_LOST, text).context("streaming changes"))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(asked) = &self.asked {
            asked.abort();
        }
    }
}

fn gone() -> Error {
    Error::new(&CONNECTION_LOST, "the session that asks for the server's timeline is gone")
}
