//! The lock of a state folder: one writer at a time, over all processes of the machine.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{BUSY, UNAVAILABLE};
use crate::error::{Error, Result};

/// How long a writer waits for another one. A write takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it waits between two tries.
const PAUSE: Duration = Duration::from_millis(2);

/// The name of the lock file.
pub(super) const LOCK_FILE: &str = ".lock";

/// Holds the lock of a folder until dropped. The operating system releases it when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock of `folder`. Blocks the thread.
    ///
    /// # Errors
    /// [`BUSY`] after ten seconds, [`UNAVAILABLE`] when the lock file can't be opened.
    pub(super) fn take(folder: &Path) -> Result<Self> {
        let path = folder.join(LOCK_FILE);
        let file = open(&path).map_err(|e| unavailable(&path, "can't open the lock file", &e))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => return Err(busy(&path)),
                Err(TryLockError::Error(e)) => return Err(unavailable(&path, "can't lock", &e)),
            }
        }
    }
}

fn open(path: &PathBuf) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    private(&mut options);
    options.open(path)
}

/// Makes files that are created readable and writable for their owner alone.
pub(super) fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = options;
}

fn busy(path: &Path) -> Error {
    Error::new(&BUSY, format!("another process has held '{}' for {} seconds", path.display(), PATIENCE.as_secs()))
        .hint("end or resume the process that holds it: `lsof` on the lock file names it")
}

/// An I/O failure at `path`.
pub(super) fn unavailable(path: &Path, doing: &str, cause: &std::io::Error) -> Error {
    Error::new(&UNAVAILABLE, format!("the state store {doing} '{}': {cause}", path.display()))
        .hint("check that the folder exists, belongs to this user and has space left")
}
