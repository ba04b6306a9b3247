//! Writing a recording.

use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::frame::{Frame, MAGIC};
use super::page::{self, PageHead};
use super::{Entry, FILE, Origin};
use crate::error::{Error, Result};
use crate::model::Page;
use crate::ports::{Boundary, Rejected};

/// What a frame is.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Head<'a> {
    Origin(&'a Origin),
    Delivered(PageHead),
    Applied {
        step: u32,
        pages: u32,
        rejected: Vec<(u32, &'a str)>,
    },
    Made(PageHead),
    /// A transaction goes on.
    Inside,
    /// A transaction ended, without a place to resume at.
    Committed,
    /// A transaction ended, and a stream can resume here.
    CommittedAt(&'a serde_json::Value),
}

/// A recording being made.
///
/// ```
/// use faucet_core::recording::{Entry, Origin, Recorder, Recording};
/// use faucet_core::ports::Boundary;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.fpg");
/// let origin = Origin {
///     faucet: "0.1.0".into(), pipeline: "orders".into(), config: None, source: "csv".into(), steps: vec![], began: 0,
/// };
/// let mut recorder = Recorder::create(&path, &origin)?;
/// recorder.push(&Entry::Ended(Boundary::Inside))?;
/// recorder.finish()?;
/// let recording = Recording::open(&path)?;
/// assert_eq!(recording.origin(), &origin);
/// assert_eq!(recording.map(Result::unwrap).collect::<Vec<_>>(), [Entry::Ended(Boundary::Inside)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Recorder {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Recorder {
    /// Makes the file, which must not be there yet; only its owner may read it.
    ///
    /// # Errors
    /// `recording.file`.
    pub fn create(path: &Path, origin: &Origin) -> Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let out = BufWriter::new(file.map_err(|error| failed(path, error))?);
        let mut recorder = Self { path: path.to_owned(), out };
        recorder.out.write_all(MAGIC).map_err(|error| failed(path, error))?;
        recorder.frame(&Head::Origin(origin), Vec::new())?;
        recorder.flush()?;
        Ok(recorder)
    }

    /// Appends what happened. What a batch brought is in the file once its end was appended.
    ///
    /// # Errors
    /// `recording.file`.
    pub fn push(&mut self, entry: &Entry) -> Result<()> {
        match entry {
            Entry::Delivered(page) => self.page(page, Head::Delivered),
            Entry::Applied { step, pages, rejected } => self.applied(*step, pages, rejected),
            Entry::Ended(boundary) => {
                let head = match boundary {
                    Boundary::Inside => Head::Inside,
                    Boundary::Commit(None) => Head::Committed,
                    Boundary::Commit(Some(bookmark)) => Head::CommittedAt(&bookmark.0),
                };
                self.frame(&head, Vec::new())?;
                self.flush()
            }
        }
    }

    /// Makes everything durable.
    ///
    /// # Errors
    /// `recording.file`.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.out.get_ref().sync_all().map_err(|error| failed(&self.path, error))
    }

    fn applied(&mut self, step: u32, pages: &[Page], rejected: &[Rejected]) -> Result<()> {
        let rejected = rejected.iter().map(|row| (row.row, row.reason.as_str())).collect();
        self.frame(&Head::Applied { step, pages: pages.len() as u32, rejected }, Vec::new())?;
        pages.iter().try_for_each(|page| self.page(page, Head::Made))
    }

    fn page(&mut self, page: &Page, head: impl FnOnce(PageHead) -> Head<'static>) -> Result<()> {
        let mut body = Vec::with_capacity(page.size_bytes());
        let head = head(page::encode(page, &mut body));
        self.frame(&head, body)
    }

    fn frame(&mut self, head: &Head<'_>, body: Vec<u8>) -> Result<()> {
        let head = serde_json::to_vec(head).expect("a head is plain data");
        Frame { head, body }.write(&mut self.out).map_err(|error| failed(&self.path, error))
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(|error| failed(&self.path, error))
    }
}

fn failed(path: &Path, error: io::Error) -> Error {
    let failed = Error::new(&FILE, format!("{}: {error}", path.display()));
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            failed.hint("a recording never replaces a file: name another one, or remove it")
        }
        _ => failed,
    }
}
