//! [`FileStore`]: one JSON file for each key in a folder of this machine.
//!
//! A write makes a temporary file, forces it to disk, renames it over the old one and forces the folder to disk. At any
//! instant, whatever is killed or loses power, the file under its name is the old value or the new one, whole. Writers
//! take the folder's lock, so a compare-and-put has one winner over all processes; readers take nothing.
//!
//! A file holds its own key, a version that never repeats, and the value; sealed, all three are inside the seal.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::escape::{Named, file_name, hex, named};
use super::lock::{Lock, private, unavailable};
use super::memory::holds;
use super::sealed::{Sealed, Sealer};
use super::{CORRUPT, SEALED, conflict};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::ports::{Expect, StateStore, Version, Versioned};

/// How temporary files are called.
const TEMPORARY: &str = ".tmp-";

/// The largest state file that is read, in bytes. Real ones have less than a kilobyte.
const LARGEST: u64 = 64 << 20;

/// A store over a folder.
#[derive(Debug, Clone)]
pub struct FileStore {
    folder: Arc<Folder>,
}

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    sealer: Option<Sealer>,
}

/// What a file says, once it is open.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    key: String,
    version: String,
    value: Value,
}

impl FileStore {
    /// Opens the store in the folder `path`, which is made if it isn't there, and removes what a crashed writer left.
    ///
    /// # Errors
    /// `state.unavailable` when the folder can't be used.
    pub async fn open(path: impl Into<PathBuf>, sealer: Option<Sealer>) -> Result<Self> {
        let folder = Arc::new(Folder { path: path.into(), sealer });
        let store = Self { folder };
        store.blocking(|folder| folder.prepare()).await?;
        Ok(store)
    }

    /// Runs file work where it may block. The work goes on to its end when the caller is cancelled.
    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce(&Folder) -> Result<T> + Send + 'static) -> Result<T> {
        let folder = Arc::clone(&self.folder);
        match tokio::task::spawn_blocking(move || work(&folder)).await {
            Ok(result) => result,
            Err(e) => Err(unavailable(&self.folder.path, "was interrupted in", &std::io::Error::other(e.to_string()))),
        }
    }
}

#[async_trait]
impl StateStore for FileStore {
    async fn get(&self, key: &str) -> Result<Option<Versioned>> {
        let key = key.to_owned();
        let content = self.blocking(move |folder| folder.read(&key)).await?;
        Ok(content.map(|content| Versioned { value: content.value, version: Version(content.version) }))
    }

    async fn put(&self, key: &str, value: &Value, expect: Expect) -> Result<Version> {
        let content = Content { key: key.to_owned(), version: hex(&rand::random::<[u8; 16]>()), value: value.clone() };
        self.blocking(move |folder| folder.put(content, &expect)).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let prefix = prefix.to_owned();
        self.blocking(move |folder| folder.list(&prefix)).await
    }

    async fn delete(&self, key: &str) -> Result<()> {
        let key = key.to_owned();
        self.blocking(move |folder| folder.delete(&key)).await
    }

    fn durable(&self) -> bool {
        true
    }
}

impl Folder {
    fn prepare(&self) -> Result<()> {
        if !self.path.is_dir() {
            make_folder(&self.path).map_err(|e| unavailable(&self.path, "can't make the folder", &e))?;
        }
        // Whoever holds the lock is the only writer, so every temporary file is a leftover.
        let _lock = Lock::take(&self.path)?;
        for name in self.file_names()?.iter().filter(|name| name.starts_with(TEMPORARY)) {
            let path = self.path.join(name);
            std::fs::remove_file(&path).map_err(|e| unavailable(&path, "can't remove", &e))?;
            tracing::info!(file = %path.display(), "removed what an interrupted write left in the state folder");
        }
        Ok(())
    }

    fn read(&self, key: &str) -> Result<Option<Content>> {
        let path = self.path.join(file_name(key));
        let Some(bytes) = read_bytes(&path)? else { return Ok(None) };
        let content = self.decode(&bytes, &path)?;
        if content.key != key {
            return Err(corrupt(&path, "it belongs to another state key"));
        }
        Ok(Some(content))
    }

    /// Reads a file's text.
    fn decode(&self, bytes: &[u8], path: &Path) -> Result<Content> {
        // The parser's own messages could quote the value.
        let tree: Value = serde_json::from_slice(bytes).map_err(|_| corrupt(path, "it is not whole JSON"))?;
        let content: Option<Content> = if tree.get("sealed").is_some() {
            let sealed: Sealed = serde_json::from_value(tree).map_err(|_| corrupt(path, "its seal is damaged"))?;
            let sealer = self.sealer.as_ref().ok_or_else(|| no_key(path))?;
            serde_json::from_slice(&sealer.open(&sealed)?).ok().filter(|content: &Content| content.key == sealed.key)
        } else {
            serde_json::from_value(tree).ok()
        };
        content.ok_or_else(|| corrupt(path, "it lacks the fields of a state file"))
    }

    fn put(&self, content: Content, expect: &Expect) -> Result<Version> {
        let _lock = Lock::take(&self.path)?;
        // Overwriting whatever is there needs no look at it: that is how a damaged file is replaced.
        if *expect != Expect::Any {
            let stored = self.read(&content.key)?.map(|stored| Version(stored.version));
            if !holds(expect, stored.as_ref()) {
                return Err(conflict(&content.key));
            }
        }
        let text = self.encode(&content)?;
        self.replace(&file_name(&content.key), &text)?;
        Ok(Version(content.version))
    }

    fn encode(&self, content: &Content) -> Result<Vec<u8>> {
        let unwritable = |e: serde_json::Error| unavailable(&self.path, "can't encode a value for", &e.into());
        let mut plain = serde_json::to_vec(content).map_err(unwritable)?;
        if let Some(sealer) = &self.sealer {
            plain = serde_json::to_vec(&sealer.seal(&content.key, &plain)?).map_err(unwritable)?;
        }
        plain.push(b'\n');
        Ok(plain)
    }

    /// Puts `text` under `name`, all of it or nothing.
    fn replace(&self, name: &str, text: &[u8]) -> Result<()> {
        let temporary = self.path.join(format!("{TEMPORARY}{}", hex(&rand::random::<[u8; 8]>())));
        let written = write_through(&temporary, text).map_err(|e| unavailable(&temporary, "can't write", &e));
        failpoint::hit("mid_state_write");
        let path = self.path.join(name);
        let moved = written
            .and_then(|()| std::fs::rename(&temporary, &path).map_err(|e| unavailable(&path, "can't replace", &e)));
        if moved.is_err() {
            // The error that matters is the first one; a leftover is removed when the store is opened next.
            let _ = std::fs::remove_file(&temporary);
        }
        moved.and_then(|()| self.sync())
    }

    fn delete(&self, key: &str) -> Result<()> {
        let _lock = Lock::take(&self.path)?;
        let path = self.path.join(file_name(key));
        match std::fs::remove_file(&path) {
            Ok(()) => self.sync(),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
            Err(e) => Err(unavailable(&path, "can't remove", &e)),
        }
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        for name in self.file_names()? {
            let key = match named(&name) {
                Named::Key(key) => key,
                Named::Long => match self.long_key(&name)? {
                    Some(key) => key,
                    None => continue,
                },
                Named::Other => continue,
            };
            if key.starts_with(prefix) {
                keys.push(key);
            }
        }
        keys.sort_unstable();
        Ok(keys)
    }

    /// The key of a file whose name only holds a part of it; `None` when the file went away meanwhile.
    fn long_key(&self, name: &str) -> Result<Option<String>> {
        let path = self.path.join(name);
        let Some(bytes) = read_bytes(&path)? else { return Ok(None) };
        self.decode(&bytes, &path).map(|content| Some(content.key))
    }

    fn file_names(&self) -> Result<Vec<String>> {
        let failed = |e| unavailable(&self.path, "can't list the folder", &e);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path).map_err(failed)? {
            // A name that isn't UTF-8 isn't ours.
            names.extend(entry.map_err(failed)?.file_name().into_string());
        }
        Ok(names)
    }

    /// Forces the folder itself to disk: without it a rename can be undone by a power cut.
    fn sync(&self) -> Result<()> {
        let synced = if cfg!(unix) { File::open(&self.path).and_then(|folder| folder.sync_all()) } else { Ok(()) };
        synced.map_err(|e| unavailable(&self.path, "can't write through", &e))
    }
}

fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

fn write_through(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    private(&mut options);
    let mut file = options.open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

/// The bytes of a file, or `None` when there is none.
fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(unavailable(path, "can't read", &e)),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| unavailable(path, "can't read", &e))?;
    if bytes.len() as u64 > LARGEST {
        return Err(corrupt(path, "it is larger than 64 MiB"));
    }
    Ok(Some(bytes))
}

fn corrupt(path: &Path, why: &str) -> Error {
    Error::new(&CORRUPT, format!("the state file '{}' is damaged: {why}", path.display()))
        .hint("restore it from a backup; or delete it, which starts a pipeline over, and for a mirror run `faucet mirror drop CONFIG`, \
             then `faucet mirror --replace CONFIG`")
}

fn no_key(path: &Path) -> Error {
    Error::new(
        &SEALED,
        format!("the state file '{}' is encrypted, but the state store has no `encryption`", path.display()),
    )
    .hint("add encryption: { key: ... } with the key it was written with")
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod crash_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
