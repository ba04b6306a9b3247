//! Deadlines of guest calls, by epochs: compiled code looks at a counter on every loop and function entry, and a thread
//! raises the counter while any call runs. An idle process has no ticking thread.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Length of an epoch. A call overruns its deadline by at most two of them.
const TICK: Duration = Duration::from_millis(10);

/// Raises an engine's epoch while calls run.
#[derive(Debug)]
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    stopped: bool,
}

impl Shared {
    /// The state is two plain values, so a panic elsewhere leaves nothing half-done.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a call to be running; false when the ticker is stopped.
    fn wait(&self) -> bool {
        let idle = |state: &mut State| state.running == 0 && !state.stopped;
        let state = self.changed.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        !state.stopped
    }
}

impl Ticker {
    /// Starts the thread; it sleeps until a call runs.
    pub(crate) fn start(engine: wasmtime::Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let seen = shared.clone();
        let tick = move || {
            while seen.wait() {
                std::thread::sleep(TICK);
                engine.increment_epoch();
            }
        };
        let thread = std::thread::Builder::new().name("faucet-epoch".into()).spawn(tick)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Keeps the epoch rising until the guard is dropped.
    pub(crate) fn running(&self) -> Running<'_> {
        self.shared.lock().running += 1;
        self.shared.changed.notify_one();
        Running(&self.shared)
    }

    /// Number of epochs after which `time` has surely passed.
    pub(crate) fn epochs(time: Duration) -> u64 {
        (time.as_millis() / TICK.as_millis()) as u64 + 2
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.changed.notify_one();
        let ended = self.thread.take().map(JoinHandle::join);
        debug_assert!(!matches!(ended, Some(Err(_))), "the ticking thread does not panic");
    }
}

/// A call is running.
#[derive(Debug)]
pub(crate) struct Running<'t>(&'t Shared);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
    }
}
