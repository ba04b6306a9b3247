//! The next instance of a transform, made before it is needed.
//!
//! A part of a snapshot opens transforms of its own, and a page whose instance broke is retried on another. Languages that
//! bring a runtime take a millisecond or two to start it: whoever needs an instance finds it started. There is never more
//! than one in store, nobody gets one that served before, and it was told nothing but its limits and grants.

use crate::fault::Call;
use crate::plugin::Shared;
use crate::v0_1::Guest;
use faucet_core::error::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;

/// The next instance, if it is made.
#[derive(Default)]
pub(crate) struct Ready {
    next: Mutex<Option<Box<Guest>>>,
    /// Held by the one who makes it, and never together with `next` for long.
    making: Mutex<()>,
}

impl Ready {
    fn next(&self) -> MutexGuard<'_, Option<Box<Guest>>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// An instance with all that is granted: the one that was made ahead, or one that is made now. The next is made behind
    /// the caller's back.
    pub(crate) fn next(self: &Arc<Self>, call: &Call) -> Result<Guest> {
        let ready = self.ready.next().take();
        let guest = ready.map_or_else(|| self.instantiate(call), |guest| Ok(*guest))?;
        if let Ok(handle) = Handle::try_current() {
            let shared = self.clone();
            handle.spawn_blocking(move || shared.prepare());
        }
        Ok(guest)
    }

    /// Makes the next instance, unless it is there. Where that fails, whoever needs it tries again, and is told why.
    pub(crate) fn prepare(&self) {
        let _making = self.ready.making.lock().unwrap_or_else(PoisonError::into_inner);
        if self.ready.next().is_none() {
            let made = self.instantiate(&Call::Open).ok();
            *self.ready.next() = made.map(Box::new);
        }
    }
}
