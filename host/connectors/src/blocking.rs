//! Drivers that block, on threads of their own, so that the runtime's threads never wait for a disk.
//!
//! Two shapes: a [`Worker`] answers requests one at a time (sinks), a [`PageReader`] runs ahead by one page (sources).
//! Dropping either ends its thread before the drop returns, so whatever the driver held (a lock, a transaction) is
//! released by then and the same thing can be opened anew.

use async_trait::async_trait;
use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::model::Page;
use faucet_core::ports::{Batch, Bookmark, Boundary, Source};
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};
use tokio::sync::{mpsc as pages, oneshot};

/// A connector's thread is gone.
pub static THREAD_LOST: Code = Code {
    id: "connector.thread_lost",
    blame: Blame::Bug,
    retry: Retry::Backoff,
    title: "a connector's thread ended without an answer",
    help: "The thread that talks to a file or to SQLite panicked, or could not be started. Please report it with the \
           log. Running again continues from the last stored position.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&THREAD_LOST];

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread = Builder::new().name(name.to_owned()).spawn(run);
    thread.map_err(|e| Error::new(&THREAD_LOST, format!("no thread could be started for {name}")).caused_by(e))
}

fn lost(name: &str) -> Error {
    Error::new(&THREAD_LOST, format!("the thread of {name} ended without an answer"))
}

type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// A state that lives on a thread and is used by one request at a time.
pub(crate) struct Worker<S> {
    name: &'static str,
    jobs: Option<mpsc::Sender<Job<S>>>,
    thread: Option<JoinHandle<()>>,
}

impl<S: 'static> Worker<S> {
    /// Opens the state on a new thread called `name`.
    ///
    /// # Errors
    /// Of `open`.
    pub(crate) async fn start(name: &'static str, open: impl FnOnce() -> Result<S> + Send + 'static) -> Result<Self> {
        let (jobs, requests) = mpsc::channel::<Job<S>>();
        let (opened, answer) = oneshot::channel();
        let thread = spawn(name, move || match open() {
            Ok(mut state) => {
                let _ = opened.send(Ok(()));
                requests.iter().for_each(|job| job(&mut state));
            }
            Err(error) => {
                let _ = opened.send(Err(error));
            }
        })?;
        let worker = Self { name, jobs: Some(jobs), thread: Some(thread) };
        answer.await.map_err(|_| lost(name))??;
        Ok(worker)
    }

    /// Runs `job` on the thread. When the call is dropped, the job still runs to its end.
    ///
    /// # Errors
    /// Of `job`.
    pub(crate) async fn run<R: Send + 'static>(
        &mut self,
        job: impl FnOnce(&mut S) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let (done, answer) = oneshot::channel();
        let job: Job<S> = Box::new(move |state| {
            let _ = done.send(job(state));
        });
        let jobs = self.jobs.as_ref().expect("the channel is taken only when the worker is dropped");
        jobs.send(job).map_err(|_| lost(self.name))?;
        answer.await.map_err(|_| lost(self.name))?
    }
}

impl<S> Drop for Worker<S> {
    fn drop(&mut self) {
        self.jobs = None;
        join(self.thread.take());
    }
}

fn join(thread: Option<JoinHandle<()>>) {
    // A thread that panicked has said so through the channel it dropped.
    let _ = thread.map(JoinHandle::join);
}

/// Where a reading thread puts its pages.
pub(crate) struct Pages {
    /// `Ok(None)` is the end; a channel that closes before it means that the thread is lost.
    sender: pages::Sender<Result<Option<Page>>>,
}

impl Pages {
    /// Hands on a page and waits while the last one was not taken. `false` when nobody reads any more.
    #[must_use]
    pub(crate) fn send(&self, page: Page) -> bool {
        self.sender.blocking_send(Ok(Some(page))).is_ok()
    }
}

/// What a reading thread is stopped with while it is inside the driver.
pub(crate) type Interrupt = Box<dyn Fn() + Send + Sync>;

/// A source whose pages are read by a thread; plain rows, without bookmarks.
pub(crate) struct PageReader {
    name: &'static str,
    /// Taken at the end and after an error.
    pages: Option<pages::Receiver<Result<Option<Page>>>>,
    interrupt: Option<Interrupt>,
    thread: Option<JoinHandle<()>>,
}

impl PageReader {
    /// Opens on a new thread called `name`, and goes on to read there.
    ///
    /// # Errors
    /// Of `open`. Those of `read` come out of [`Source::next`].
    pub(crate) async fn start<S: 'static>(
        name: &'static str,
        open: impl FnOnce() -> Result<(S, Option<Interrupt>)> + Send + 'static,
        read: impl FnOnce(S, &Pages) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let (sender, pages) = pages::channel(1);
        let (opened, answer) = oneshot::channel();
        let thread = spawn(name, move || match open() {
            Ok((state, interrupt)) => {
                let _ = opened.send(Ok(interrupt));
                let pages = Pages { sender };
                let end = read(state, &pages).map(|()| None);
                let _ = pages.sender.blocking_send(end);
            }
            Err(error) => {
                let _ = opened.send(Err(error));
            }
        })?;
        let mut reader = Self { name, pages: Some(pages), interrupt: None, thread: Some(thread) };
        reader.interrupt = answer.await.map_err(|_| lost(name))??;
        Ok(reader)
    }

    fn stop(&mut self) {
        self.pages = None;
        if let Some(interrupt) = self.interrupt.take() {
            interrupt();
        }
        join(self.thread.take());
    }
}

#[async_trait]
impl Source for PageReader {
    async fn next(&mut self) -> Result<Option<Batch>> {
        let Some(pages) = &mut self.pages else { return Ok(None) };
        let end = match pages.recv().await {
            Some(Ok(Some(page))) => {
                return Ok(Some(Batch { pages: vec![page], boundary: Boundary::Commit(None) }));
            }
            Some(Ok(None)) => Ok(None),
            Some(Err(error)) => Err(error),
            None => Err(lost(self.name)),
        };
        self.pages = None;
        end
    }

    async fn confirm(&mut self, _: &Bookmark) -> Result<()> {
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        self.stop();
        Ok(())
    }
}

impl Drop for PageReader {
    fn drop(&mut self) {
        self.stop();
    }
}
