//! One writer of a lock file at a time, over all processes of the machine.

use crate::durable;
use crate::fault::LOCK_FILE;
use faucet_core::error::{Error, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a writer waits for another one. A write takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it waits between two tries.
const PAUSE: Duration = Duration::from_millis(2);

/// Holds the right to write a lock file until dropped.
///
/// The right is the operating system's lock on a file beside it, not on the file itself, which is replaced and would take
/// the lock along. The file beside it goes away with the guard, so that nothing is left in somebody's project.
#[derive(Debug)]
pub(super) struct Guard {
    path: PathBuf,
    _file: File,
}

impl Guard {
    /// Waits until no other process writes the lock file at `path`. Blocks the thread.
    ///
    /// # Errors
    /// `registry.lock_file`: after ten seconds, or when the folder can't be written.
    pub(super) fn take(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let beside = durable::folder_of(path).join(format!(".{name}.writing"));
        let start = Instant::now();
        loop {
            match try_take(&beside) {
                Ok(Some(file)) => return Ok(Self { path: beside, _file: file }),
                Ok(None) if start.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
                Ok(None) => return Err(held(path)),
                Err(error) => return Err(super::unusable(&beside, "locked", &error)),
            }
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // While the lock is still held: whoever waits for it sees that its file is gone, and makes a new one.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The locked file, or nothing while another process has it or has just removed it.
fn try_take(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(is_at(&file, path)?.then_some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether the open file is the one at `path`, and not one that was removed since it was opened.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let open = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((open.dev(), open.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere an open file can't be removed.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

fn held(path: &Path) -> Error {
    let seconds = PATIENCE.as_secs();
    Error::new(&LOCK_FILE, format!("another process has been writing '{}' for {seconds} seconds", path.display()))
        .hint("wait for it, or end it")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn one_at_a_time_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let (path, taken) = (folder.path().join("faucet.lock"), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _guard = Guard::take(&path).unwrap();
                        assert!(!taken.swap(true, Ordering::SeqCst), "two hold it");
                        std::thread::yield_now();
                        taken.store(false, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_removed_is_not_the_one_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let file = File::create(&path).unwrap();
        assert!(is_at(&file, &path).unwrap());
        std::fs::remove_file(&path).unwrap();
        assert!(!is_at(&file, &path).unwrap());
        File::create(&path).unwrap();
        assert!(!is_at(&file, &path).unwrap());
    }
}
