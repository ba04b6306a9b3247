//! Components on disk, each under the name of its digest.

use crate::artifact::{check_component, too_large};
use crate::digest::Digest;
use crate::durable;
use crate::fault::{PULL, STORE, TAMPERED};
use crate::{LARGEST, read_bounded};
use faucet_core::error::{Error, Result};
use std::io;
use std::path::{Path, PathBuf};

/// A folder of components: `FOLDER/sha256/HEX.wasm`.
///
/// Any number of processes may use one folder at once: a file appears whole or not at all, and two that write the same
/// name write the same bytes. A file whose bytes have another digest than its name is an error, never a component.
///
/// ```
/// use faucet_registry::{Digest, Store};
/// let folder = tempfile::tempdir().unwrap();
/// let store = Store::at(folder.path());
/// let digest = store.put(b"\0asm\x0d\0\x01\0").unwrap();
/// assert_eq!(store.find(digest).unwrap(), Some(store.path_of(digest)));
/// assert_eq!(store.find(Digest::of(b"another one")).unwrap(), None);
/// ```
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store in `folder`, which is made when something is put into it.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where a component of this digest is, or would be.
    pub fn path_of(&self, digest: Digest) -> PathBuf {
        self.folder.join("sha256").join(format!("{}.wasm", digest.hex()))
    }

    /// The path of a component, if it is here; its bytes have been read and have this digest.
    ///
    /// A file can change after it was looked at: give the digest on to whatever reads the path, and let it check again.
    ///
    /// # Errors
    /// `registry.tampered`: the file has another digest. `registry.store`: it can't be read.
    pub fn find(&self, digest: Digest) -> Result<Option<PathBuf>> {
        let path = self.path_of(digest);
        let bytes = match read_bounded(&path, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Err(tampered(&path)),
            Err(error) => return Err(unusable(&path, "read", &error)),
        };
        if Digest::of(&bytes) == digest { Ok(Some(path)) } else { Err(tampered(&path)) }
    }

    /// Puts a component here and returns its digest. One that is here already is left alone; a damaged one is replaced.
    ///
    /// # Errors
    /// `registry.not_a_component` and `registry.too_large`; `registry.store`: the folder can't be written.
    pub fn put(&self, component: &[u8]) -> Result<Digest> {
        check_component(component)?;
        if component.len() as u64 > LARGEST {
            return Err(too_large(&format!("{} bytes", component.len()), LARGEST));
        }
        let digest = Digest::of(component);
        if matches!(self.find(digest), Ok(Some(_))) {
            return Ok(digest);
        }
        let path = self.path_of(digest);
        std::fs::create_dir_all(durable::folder_of(&path))
            .and_then(|()| durable::replace(&path, component))
            .map_err(|error| unusable(&path, "written", &error))?;
        Ok(digest)
    }
}

fn tampered(path: &Path) -> Error {
    Error::new(&TAMPERED, format!("'{}' has other bytes than its name says", path.display()))
        .hint(format!("{PULL}, which replaces it, and find out who changed it"))
}

fn unusable(path: &Path, verb: &str, error: &io::Error) -> Error {
    Error::new(&STORE, format!("'{}' can't be {verb}: {error}", path.display()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0 and more";

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("not/made/yet"));
        (folder, store)
    }

    #[test]
    fn what_is_put_is_found_under_its_digest() {
        let (_folder, store) = store();
        let digest = store.put(COMPONENT).unwrap();
        let path = store.find(digest).unwrap().unwrap();
        assert!(path.ends_with(format!("sha256/{}.wasm", digest.hex())));
        assert_eq!(std::fs::read(path).unwrap(), COMPONENT);
    }

    #[test]
    fn a_tampered_file_is_never_used_and_is_replaced() {
        let (_folder, store) = store();
        let digest = store.put(COMPONENT).unwrap();
        for bytes in [&b"\0asm\x0d\0\x01\0 but changed"[..], b"", &COMPONENT[..10]] {
            std::fs::write(store.path_of(digest), bytes).unwrap();
            let error = store.find(digest).unwrap_err();
            assert_eq!(error.code().id, "registry.tampered");
        }
        store.put(COMPONENT).unwrap();
        assert!(store.find(digest).unwrap().is_some());
    }

    #[test]
    fn only_components_get_in() {
        let (_folder, store) = store();
        assert_eq!(store.put(b"\0asm\x01\0\0\0").unwrap_err().code().id, "registry.not_a_component");
    }

    #[test]
    fn a_folder_in_the_way_is_an_error_with_its_path() {
        let (_folder, store) = store();
        let digest = Digest::of(COMPONENT);
        std::fs::create_dir_all(store.path_of(digest)).unwrap();
        let error = store.put(COMPONENT).unwrap_err();
        assert_eq!(error.code().id, "registry.store");
        assert!(error.to_string().contains(&digest.hex()));
        assert_eq!(store.find(digest).unwrap_err().code().id, "registry.store");
    }

    #[test]
    fn many_writers_and_readers_see_whole_files() {
        let (_folder, store) = store();
        let large = [COMPONENT, &[7; 200_000]].concat();
        let digest = Digest::of(&large);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| store.put(&large).unwrap());
                scope.spawn(|| (0..50).for_each(|_| drop(store.find(digest).unwrap())));
            }
        });
        let left = std::fs::read_dir(durable::folder_of(&store.path_of(digest))).unwrap().count();
        assert_eq!(left, 1);
    }
}
