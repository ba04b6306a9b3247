//! Writing a file so that what was committed stays and what was not goes.
//!
//! A file has no transactions, so:
//!
//! * **F1** A commit syncs the file. Rows written after it are cut off again when the sink is dropped, or when writing
//!   fails half-way.
//! * **F2** After a crash whole lines that were not committed may remain; they are written again (at least once). A last
//!   line without its line end is torn: it is moved into `PATH.torn` when the file is opened again, so that rows never
//!   run into each other and nothing that was in the file is destroyed.
//! * **F3** One writer per file, kept by a lock.
//! * **F4** Overwriting writes a hidden file beside the old one and renames it when the run ends: readers see the old
//!   rows or the new ones.

use faucet_core::error::{Error, Result};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::{IN_USE, IS_A_FOLDER, io_error};

/// A file being written.
pub(super) struct Output {
    /// What the user calls it.
    path: PathBuf,
    /// Where an overwrite writes until it ends.
    hidden: Option<PathBuf>,
    file: File,
    /// A pipe or a device can't be cut or synced.
    is_regular: bool,
    /// Bytes in the file.
    length: u64,
    /// Bytes that a commit made durable.
    committed: u64,
    /// Whether the folder knows the file durably.
    is_in_folder: bool,
}

impl Output {
    /// Opens the file to write behind what is there; creates it when it is missing. The caller mends it
    /// ([`Output::mend`]) before it writes.
    pub(super) fn append(path: &Path) -> Result<Self> {
        Self::open(path.to_owned(), None)
    }

    /// Opens a hidden file that takes the place of `path` when [`Output::finish`] is called. What is no regular file (a
    /// pipe, a device) is written directly.
    pub(super) fn overwrite(path: &Path) -> Result<Self> {
        // A link stays a link: what it points to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&path) {
            Ok(about) if about.is_dir() => return Err(is_a_folder(&path)),
            Ok(about) if !about.is_file() => return Self::open(path, None),
            Ok(_) | Err(_) => {}
        }
        let mut name = OsString::from(".");
        name.push(path.file_name().ok_or_else(|| is_a_folder(&path))?);
        name.push(".faucet-new");
        let hidden = path.with_file_name(name);
        let mut output = Self::open(path, Some(hidden))?;
        output.cut(0)?;
        Ok(output)
    }

    fn open(path: PathBuf, hidden: Option<PathBuf>) -> Result<Self> {
        let target = hidden.as_deref().unwrap_or(&path);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(target);
        let mut file = file.map_err(|e| io_error("write", &path, &e))?;
        let about = file.metadata().map_err(|e| io_error("write", &path, &e))?;
        let length = if about.is_file() {
            lock(&file, &path)?;
            file.seek(SeekFrom::End(0)).map_err(|e| io_error("write", &path, &e))?
        } else {
            0
        };
        let is_regular = about.is_file();
        Ok(Self { path, hidden, file, is_regular, length, committed: length, is_in_folder: false })
    }

    /// The file's name.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes in the file.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Whether the file that is written behind had anything in it; `None` for one that is replaced, and for a pipe.
    pub(super) fn holds_bytes(&self) -> Option<bool> {
        (self.hidden.is_none() && self.is_regular).then_some(self.length > 0)
    }

    /// Empties the file, durably.
    pub(super) fn clear(&mut self) -> Result<()> {
        self.cut(0)?;
        self.commit()
    }

    /// Appends `bytes`, all or nothing.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if let Err(e) = self.file.write_all(bytes) {
            // What was written of it would be a torn line.
            let _ = self.cut(self.length);
            return Err(io_error("write", &self.path, &e));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Makes everything written so far durable.
    pub(super) fn commit(&mut self) -> Result<()> {
        if self.is_regular && (self.committed != self.length || !self.is_in_folder) {
            self.file.sync_data().map_err(|e| io_error("sync", &self.path, &e))?;
            self.sync_folder()?;
        }
        self.committed = self.length;
        Ok(())
    }

    /// Commits; an overwrite takes the old file's place, and its permissions.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.commit()?;
        if let Some(hidden) = &self.hidden {
            if let Ok(old) = fs::metadata(&self.path) {
                let kept = self.file.set_permissions(old.permissions());
                kept.map_err(|e| io_error("set the permissions of", &self.path, &e))?;
            }
            fs::rename(hidden, &self.path).map_err(|e| io_error("replace", &self.path, &e))?;
            self.hidden = None;
            self.is_in_folder = false;
            self.sync_folder()?;
        }
        Ok(())
    }

    /// Drops what was not committed.
    pub(super) fn discard(&mut self) -> Result<()> {
        if self.hidden.is_none() && self.length != self.committed {
            self.cut(self.committed)?;
        }
        Ok(())
    }

    /// Moves what lies behind the first `whole` bytes, a torn line, out of the way (F2).
    pub(super) fn mend(&mut self, whole: u64) -> Result<()> {
        if whole < self.length {
            let torn = self.read(whole, self.length)?;
            let aside = with_suffix(&self.path, ".torn");
            keep_aside(&aside, &torn).map_err(|e| io_error("write", &aside, &e))?;
            tracing::warn!(
                path = %self.path.display(), moved_to = %aside.display(), bytes = torn.len(),
                "the last line had no end, left by a crash or by another program: it was moved"
            );
            self.cut(whole)?;
        }
        self.committed = self.length;
        Ok(())
    }

    /// Where the last line end is, and what follows it: nothing in a file that is not torn.
    pub(super) fn tail(&mut self) -> Result<(u64, Vec<u8>)> {
        const PIECE: u64 = 64 << 10;
        let mut from = if self.is_regular { self.length } else { 0 };
        let mut pieces = Vec::new();
        while from > 0 {
            let start = from.saturating_sub(PIECE);
            let mut piece = self.read(start, from)?;
            let line_end = memchr::memrchr(b'\n', &piece);
            let kept = piece.split_off(line_end.map_or(0, |at| at + 1));
            from = if line_end.is_some() { 0 } else { start };
            pieces.push(kept);
        }
        pieces.reverse();
        let tail = pieces.concat();
        Ok((self.length - tail.len() as u64, tail))
    }

    fn read(&mut self, from: u64, to: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; (to - from) as usize];
        let read = self.file.seek(SeekFrom::Start(from)).and_then(|_| self.file.read_exact(&mut bytes));
        read.and_then(|()| self.file.seek(SeekFrom::Start(self.length)))
            .map_err(|e| io_error("read", &self.path, &e))?;
        Ok(bytes)
    }

    fn cut(&mut self, length: u64) -> Result<()> {
        if self.is_regular {
            let cut = self.file.set_len(length).and_then(|()| self.file.seek(SeekFrom::Start(length)));
            cut.map_err(|e| io_error("cut", &self.path, &e))?;
            self.length = length;
        }
        Ok(())
    }

    /// A file is only durable once its folder is.
    fn sync_folder(&mut self) -> Result<()> {
        if !self.is_in_folder {
            let folder = self.path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let synced = File::open(folder).and_then(|f| f.sync_all());
            synced.map_err(|e| io_error("sync the folder of", &self.path, &e))?;
            self.is_in_folder = true;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Nobody is left to tell; what can't be cut now is absorbed by F2 later.
        match &self.hidden {
            Some(hidden) => drop(fs::remove_file(hidden)),
            None => drop(self.discard()),
        }
    }
}

fn lock(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(Error::new(&IN_USE, format!("{} is written by another run", path.display())))
        }
        // A file system without locks: F3 is then up to whoever runs faucet.
        Err(TryLockError::Error(e)) => {
            tracing::debug!(path = %path.display(), error = %e, "the file can't be locked");
            Ok(())
        }
    }
}

fn is_a_folder(path: &Path) -> Error {
    Error::new(&IS_A_FOLDER, format!("can't write {}: it is a folder", path.display()))
        .hint("`path` has to name a file")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn keep_aside(path: &Path, torn: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(torn)?;
    file.write_all(b"\n")?;
    file.sync_all()
}
