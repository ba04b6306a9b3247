//! Reading a file in pieces that end where a record ends.

use faucet_core::error::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::{self, io_error};

/// How much is asked of the operating system at once.
const PIECE: usize = 256 << 10;

/// The most one record may take. Without a limit an unclosed quote would read the whole file into memory.
pub(super) const LARGEST_RECORD: usize = 64 << 20;

/// A file being read: what was read and not yet taken lies in one buffer.
pub(super) struct Input {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    /// Bytes taken since the start of the file.
    position: u64,
}

impl Input {
    /// Opens the file and skips a byte order mark.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| io_error("read", path, &e))?;
        let is_folder = file.metadata().is_ok_and(|m| m.is_dir());
        if is_folder {
            let what = format!("can't read {}: it is a folder", path.display());
            return Err(Error::new(&error::IS_A_FOLDER, what).hint("`path` has to name a file"));
        }
        let mut input =
            Self { path: path.to_owned(), file, buffer: Vec::new(), start: 0, end: 0, at_end: false, position: 0 };
        while input.rest().len() < 3 && input.more()? {}
        if input.rest().starts_with(b"\xef\xbb\xbf") {
            input.take(3);
        }
        Ok(input)
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What was read and not yet taken.
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether the rest is the last there is.
    pub(super) fn at_end(&self) -> bool {
        self.at_end
    }

    /// Takes `count` bytes off the rest; they stay readable through [`Input::taken`] until more is read.
    pub(super) fn take(&mut self, count: usize) {
        debug_assert!(self.start + count <= self.end);
        self.start += count;
        self.position += count as u64;
    }

    /// Bytes of the file that were taken.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The last `count` bytes that were taken.
    pub(super) fn taken(&self, count: usize) -> &[u8] {
        &self.buffer[self.start - count..self.start]
    }

    /// Reads more behind the rest. `false` at the end of the file.
    pub(super) fn more(&mut self) -> Result<bool> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() < self.end + PIECE {
            self.buffer.resize((self.end * 2).max(self.end + PIECE), 0);
        }
        let read = loop {
            match self.file.read(&mut self.buffer[self.end..]) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other.map_err(|e| io_error("read", &self.path, &e))?,
            }
        };
        self.end += read;
        self.at_end = read == 0;
        Ok(read > 0)
    }
}
