//! Reading a recording.

use serde::Deserialize;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::frame::{Frame, MAGIC, Torn};
use super::page::{self, PageHead};
use super::{DAMAGED, Entry, FILE, NOT_A_RECORDING, Origin};
use crate::error::{Error, Result};
use crate::model::Page;
use crate::ports::{Bookmark, Boundary, Rejected};

/// What a frame is.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Head {
    Origin(Origin),
    Delivered(PageHead),
    Applied { step: u32, pages: u32, rejected: Vec<(u32, String)> },
    Made(PageHead),
    Inside,
    Committed,
    CommittedAt(serde_json::Value),
}

/// A recording being read: an iterator over what happened. After an error it has ended.
pub struct Recording<R = BufReader<File>> {
    path: PathBuf,
    from: R,
    origin: Origin,
    /// Entries that were read.
    count: u64,
    ended: bool,
}

impl Recording {
    /// Opens a file.
    ///
    /// # Errors
    /// `recording.file`, `recording.not_one`, `recording.damaged`.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::new(&FILE, format!("{}: {error}", path.display())))?;
        Self::read(path, BufReader::new(file))
    }
}

impl<R: Read> Recording<R> {
    /// Reads from anything; `path` is what to call it in errors.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn read(path: &Path, mut from: R) -> Result<Self> {
        let mut magic = Vec::new();
        let read = (&mut from).take(MAGIC.len() as u64).read_to_end(&mut magic);
        read.map_err(|error| Error::new(&FILE, format!("{}: {error}", path.display())))?;
        if magic != MAGIC {
            let what = format!("{} does not begin with the line `faucet pages 1`", path.display());
            return Err(Error::new(&NOT_A_RECORDING, what).hint("`faucet record` makes recordings"));
        }
        let mut recording = Self { path: path.to_owned(), from, origin: nothing(), count: 0, ended: false };
        match recording.head()? {
            Some((Head::Origin(origin), _)) => recording.origin = origin,
            _ => return Err(recording.damaged("the first frame does not say what the recording is of")),
        }
        Ok(recording)
    }

    /// What it is a recording of.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    fn entry(&mut self) -> Result<Option<Entry>> {
        let Some((head, body)) = self.head()? else { return Ok(None) };
        let entry = match head {
            Head::Delivered(head) => Entry::Delivered(self.page(head, &body)?),
            Head::Applied { step, pages, rejected } => self.applied(step, pages, rejected)?,
            Head::Inside => Entry::Ended(Boundary::Inside),
            Head::Committed => Entry::Ended(Boundary::Commit(None)),
            Head::CommittedAt(bookmark) => Entry::Ended(Boundary::Commit(Some(Bookmark(bookmark)))),
            Head::Origin(_) | Head::Made(_) => return Err(self.damaged("a frame is out of place")),
        };
        self.count += 1;
        Ok(Some(entry))
    }

    fn applied(&mut self, step: u32, count: u32, rejected: Vec<(u32, String)>) -> Result<Entry> {
        if step == 0 || step as usize > self.origin.steps.len() {
            return Err(self.damaged("a step is named that the pipeline did not have"));
        }
        let mut pages = Vec::new();
        for _ in 0..count {
            match self.head()? {
                Some((Head::Made(head), body)) => pages.push(self.page(head, &body)?),
                _ => return Err(self.damaged("a page of a step is missing")),
            }
        }
        let rejected = rejected.into_iter().map(|(row, reason)| Rejected { row, reason }).collect();
        Ok(Entry::Applied { step, pages, rejected })
    }

    fn head(&mut self) -> Result<Option<(Head, Vec<u8>)>> {
        let frame = match Frame::read(&mut self.from) {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(None),
            Err(Torn::Damaged(what)) => return Err(self.damaged(what)),
            Err(Torn::Io(error)) => return Err(Error::new(&FILE, format!("{}: {error}", self.path.display()))),
        };
        match serde_json::from_slice(&frame.head) {
            Ok(head) => Ok(Some((head, frame.body))),
            Err(_) => Err(self.damaged("a frame does not say what it is")),
        }
    }

    fn page(&self, head: PageHead, body: &[u8]) -> Result<Page> {
        page::decode(head, body).map_err(|what| self.damaged(&what))
    }

    fn damaged(&self, what: &str) -> Error {
        let what = format!("{}, after {} entries: {what}", self.path.display(), self.count);
        Error::new(&DAMAGED, what).hint("record again")
    }
}

fn nothing() -> Origin {
    Origin {
        faucet: String::new(),
        pipeline: String::new(),
        config: None,
        source: String::new(),
        steps: Vec::new(),
        began: 0,
    }
}

impl<R: Read> Iterator for Recording<R> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let entry = self.entry().transpose();
        self.ended = !matches!(entry, Some(Ok(_)));
        entry
    }
}
