//! From a reference to a file, without a network.

use crate::digest::Digest;
use crate::fault::{LOCK_MISMATCH, NOT_FETCHED, NOT_LOCKED, PULL};
use crate::lock::{Lock, Locked};
use crate::reference::Reference;
use crate::store::Store;
use faucet_core::error::{Error, Result};
use std::path::PathBuf;

/// A component on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Where it is.
    pub path: PathBuf,
    /// The digest its bytes had a moment ago; whoever reads the path has to check it again.
    pub digest: Digest,
}

/// The component that a reference stands for, by the lock file, out of the store. Never asks a registry.
///
/// ```
/// use faucet_registry::{Lock, Store, resolve};
/// let reference = "ghcr.io/acme/mask:1.2".parse().unwrap();
/// let error = resolve(&reference, &Lock::default(), &Store::at("nowhere")).unwrap_err();
/// assert_eq!(error.code().id, "registry.not_locked");
/// ```
///
/// # Errors
/// `registry.not_locked`, `registry.lock_mismatch`, `registry.not_fetched`, and those of [`Store::find`].
pub fn resolve(reference: &Reference, lock: &Lock, store: &Store) -> Result<Resolved> {
    let Some(locked) = agreed(reference, lock)? else {
        return Err(Error::new(&NOT_LOCKED, format!("{reference} is not in the lock file")).hint(PULL));
    };
    let digest = locked.component;
    match store.find(digest)? {
        Some(path) => Ok(Resolved { path, digest }),
        None => Err(Error::new(&NOT_FETCHED, format!("{reference} ({digest}) was not pulled here")).hint(PULL)),
    }
}

/// What the lock says of a reference, if it says something and that is what the reference itself says.
pub(crate) fn agreed(reference: &Reference, lock: &Lock) -> Result<Option<Locked>> {
    let Some(locked) = lock.lookup(reference) else { return Ok(None) };
    match reference.digest() {
        Some(digest) if digest != locked.manifest => {
            let what = format!("the lock file says {} for {reference}", locked.manifest);
            Err(Error::new(&LOCK_MISMATCH, what).hint(format!("remove the entry from the lock file and {PULL}")))
        }
        _ => Ok(Some(*locked)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

    struct Setting {
        _folder: tempfile::TempDir,
        store: Store,
        lock: Lock,
        reference: Reference,
        locked: Locked,
    }

    fn setting() -> Setting {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let component = store.put(COMPONENT).unwrap();
        let locked = Locked { manifest: Digest::of(b"m"), component, size: 8 };
        let reference: Reference = "ghcr.io/acme/mask:1.2".parse().unwrap();
        let mut lock = Lock::default();
        lock.insert(&reference, locked);
        Setting { _folder: folder, store, lock, reference, locked }
    }

    #[test]
    fn what_is_locked_and_here_is_found() {
        let Setting { store, lock, reference, locked, .. } = &setting();
        let resolved = resolve(reference, lock, store).unwrap();
        assert_eq!(resolved, Resolved { path: store.path_of(locked.component), digest: locked.component });
    }

    #[test]
    fn what_is_not_locked_says_what_to_run() {
        let Setting { store, lock, reference, .. } = &setting();
        let error = resolve(&reference.pinned(Digest::of(b"m")), lock, store).unwrap_err();
        assert_eq!((error.code().id, error.hint_text()), ("registry.not_locked", Some(PULL)));
    }

    #[test]
    fn what_is_not_here_says_what_to_run() {
        let Setting { lock, reference, .. } = &setting();
        let elsewhere = tempfile::tempdir().unwrap();
        let error = resolve(reference, lock, &Store::at(elsewhere.path())).unwrap_err();
        assert_eq!((error.code().id, error.hint_text()), ("registry.not_fetched", Some(PULL)));
    }

    #[test]
    fn a_lock_against_the_pin_is_refused() {
        let Setting { store, mut lock, reference, locked, .. } = setting();
        let pinned = reference.pinned(Digest::of(b"another"));
        lock.insert(&pinned, locked);
        assert_eq!(resolve(&pinned, &lock, &store).unwrap_err().code().id, "registry.lock_mismatch");
    }

    #[test]
    fn a_changed_file_is_refused() {
        let Setting { store, lock, reference, locked, .. } = &setting();
        std::fs::write(store.path_of(locked.component), b"\0asm\x0d\0\x01\0!").unwrap();
        assert_eq!(resolve(reference, lock, store).unwrap_err().code().id, "registry.tampered");
    }
}
