//! Stopping in good order: finish the page in hand, persist, confirm, close; or, when asked again, at once.

use tokio_util::sync::CancellationToken;

/// What a run listens to. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    drain: CancellationToken,
    abort: CancellationToken,
}

impl Stop {
    /// A stop for a part of the work: it hears of this one, and can be asked alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { drain: self.drain.child_token(), abort: self.abort.child_token() }
    }

    /// Asks to stop at the next page boundary.
    pub fn drain(&self) {
        self.drain.cancel();
    }

    /// Stops at once; what is not durable is read again by the next run.
    pub fn abort(&self) {
        self.drain.cancel();
        self.abort.cancel();
    }

    /// Whether a stop was asked for.
    pub fn is_draining(&self) -> bool {
        self.drain.is_cancelled()
    }

    /// Resolves once a stop was asked for.
    pub async fn draining(&self) {
        self.drain.cancelled().await;
    }

    /// Resolves once the run has to end at once.
    pub async fn aborted(&self) {
        self.abort.cancelled().await;
    }
}
