//! One small tokio runtime behind the blocking interface.
//!
//! Work is handed to the runtime and waited for through a channel rather than with `block_on`, so that it can be
//! called from any thread, a tokio worker included.

use std::future::Future;
use std::sync::{OnceLock, mpsc};

use tokio::runtime::{Builder, Runtime};

/// The runtime all connections and proxies of this process live on.
pub fn handle() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).thread_name("harness").enable_all();
        builder.build().expect("a tokio runtime starts")
    })
}

/// Runs `future` to its end and returns what it gives. Panics if the future panics.
pub fn wait<F>(future: F) -> F::Output
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (tx, rx) = mpsc::sync_channel(1);
    handle().spawn(async move {
        let _ = tx.send(future.await);
    });
    rx.recv().expect("the future ran to its end without a panic")
}
