//! What `run` and `mirror` share: logging, runtime, signals, progress, and the words at the end.

use faucet_core::config::Plan;
use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::observe::Meter;
use faucet_core::pipeline::{Ended, Limits, RetryPolicy, Stop};
use faucet_core::ports::StateStore;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

use crate::args::Global;
use crate::display::Failure;
use crate::logging;
use crate::progress::Reporter;
use crate::screen::Screen;

/// Stopping took too long, or was asked for twice.
pub static STOPPED_EARLY: Code = Code {
    id: "run.stopped_early",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "the run was stopped before it could finish the page in hand",
    help: "A second signal, or the shutdown timeout, ended the run at once. Nothing is lost: what was not durable is read \
           again by the next run. If stopping takes longer than `execution.shutdown_timeout` (30 s unless set), look for \
           a slow destination or raise the timeout.",
};

/// The runtime or the signal handlers could not be set up.
pub static NO_RUNTIME: Code = Code {
    id: "run.no_runtime",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "the process could not set up its threads or signal handlers",
    help: "The operating system refused a thread, an event queue or a signal handler. Look at the limits on processes \
           and open files of the user faucet runs as (`ulimit -a`).",
};

/// The codes raised by this crate.
pub static CODES: &[&Code] = &[
    &STOPPED_EARLY,
    &NO_RUNTIME,
    &crate::init::NOT_WRITTEN,
    &crate::doctor::UNWELL,
    &crate::doctor::NOTHING_TO_EXAMINE,
    &crate::drop_mirror::NOT_CONFIRMED,
    &crate::plugins::NO_STORE,
    &crate::replay::DIFFERS,
    &crate::replay::NO_SUCH_STEP,
    &crate::trace::NO_SUCH_COLUMN,
];

/// Runs a short piece of work to its end, without signals and progress.
pub fn block_on<T>(work: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|e| Error::new(&NO_RUNTIME, "the async runtime could not be started").caused_by(e))?;
    Ok(runtime.block_on(work))
}

/// A runtime as pipelines have it.
///
/// # Errors
/// When the system refuses a thread or an event queue.
pub fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|e| Error::new(&NO_RUNTIME, "the async runtime could not be started").caused_by(e))
}

/// A planned pipeline about to run.
pub struct Session {
    pub plan: Plan,
    pub meter: Arc<Meter>,
    pub stop: Stop,
    reporter: Reporter,
}

impl Session {
    /// Sets up logging and progress for a plan.
    pub fn new(global: &Global, plan: Plan) -> Self {
        let screen = Screen::new(global.quiet);
        logging::start(global, &plan.observability, plan.redactor.clone(), screen.clone());
        let meter = Arc::new(Meter::default());
        let interval = plan.observability.progress_interval.duration();
        let reporter = Reporter::new(global, meter.clone(), screen, plan.name.clone(), interval);
        Self { plan, meter, stop: Stop::default(), reporter }
    }

    /// The planned state store, opened.
    pub async fn store(&self) -> Result<Option<Arc<dyn StateStore>>> {
        let Some(stage) = &self.plan.store else { return Ok(None) };
        let opened = stage.kind.open(&stage.config).await;
        opened.map(Some).map_err(|e| e.context(format!("opening the state store '{}'", stage.kind.name())))
    }

    /// Limits of the pump, from `execution`.
    pub fn limits(&self) -> Limits {
        let bytes = self.plan.execution.buffer_size.as_usize();
        Limits { channel_bytes: bytes / 2, commit_bytes: bytes / 2 }
    }

    /// The retry policy, from `execution`.
    pub fn retry(&self) -> RetryPolicy {
        let retry = &self.plan.execution.retry;
        RetryPolicy {
            max_attempts: Some(retry.max_attempts),
            initial_backoff: retry.initial_backoff.duration(),
            max_backoff: retry.max_backoff.duration(),
        }
    }

    /// Runs `work` to its end while listening to signals and reporting progress.
    pub fn execute<'a, F>(&'a self, work: impl FnOnce(&'a Self) -> F) -> Result<(), Failure>
    where
        F: Future<Output = Result<Ended>> + 'a,
    {
        let runtime = runtime()?;
        let outcome = runtime.block_on(async {
            let mut side_tasks = JoinSet::new();
            let timeout = self.plan.execution.shutdown_timeout.duration();
            side_tasks.spawn(listen(Signals::new()?, self.stop.clone(), timeout));
            side_tasks.spawn(self.reporter.clone().report());
            tokio::select! {
                // The pump gives up at the same signal and calls that stopped; whoever sent a second one has to hear that
                // it was not in good order.
                biased;
                () = self.stop.aborted() => Err(Error::new(&STOPPED_EARLY, "stopped before the page in hand was finished")
                    .hint("nothing is lost: the next run reads again what was not durable")),
                ended = work(self) => ended,
            }
        });
        // Threads that still sit in a blocking call must not hold the process back.
        runtime.shutdown_timeout(Duration::from_millis(200));
        self.reporter.finish(&outcome);
        outcome.map(drop).map_err(Failure::Error)
    }
}

/// A signal handler could not be set.
pub fn no_signals(error: std::io::Error) -> Error {
    Error::new(&NO_RUNTIME, "a signal handler could not be set").caused_by(error)
}

struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> Result<Self> {
        let handler = |kind| signal(kind).map_err(no_signals);
        Ok(Self { terminate: handler(SignalKind::terminate())?, interrupt: handler(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// The first signal drains; a second one, or the timeout, aborts.
async fn listen(mut signals: Signals, stop: Stop, timeout: Duration) {
    signals.next().await;
    tracing::info!("stopping at the next page boundary; press Ctrl-C again to stop at once");
    stop.drain();
    tokio::select! {
        () = signals.next() => {}
        () = tokio::time::sleep(timeout) => {}
    }
    stop.abort();
}
