//! Compiled components on disk, so that a plugin compiles once.
//!
//! Machine code that is loaded is run with all the rights of this process, so an entry is only trusted if this user
//! wrote it and it is whole: the folder is private (mode 0700), and every entry starts with a seal, a digest over a key
//! that is kept in the folder, the entry's name and its content. The name holds the component's digest and a digest of
//! all that compilation depends on (wasmtime's version, the processor, the engine's configuration). Any doubt about an
//! entry, or about the folder, means that the component is compiled again.

use sha2::{Digest, Sha256};
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tracing::{debug, warn};
use wasmtime::component::Component;

/// Entries that are kept; the oldest go first.
const ENTRIES: usize = 64;

/// Length of key and seal.
const SEAL: usize = 32;

/// A folder of compiled components.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    key: [u8; SEAL],
    compiler: String,
}

impl Cache {
    /// Opens the folder, making it if it is not there. Without a private folder there is no cache.
    pub(crate) fn open(folder: PathBuf, engine: &wasmtime::Engine) -> Option<Self> {
        let opened = make_private(&folder).and_then(|()| read_or_make_key(&folder));
        match opened {
            Ok(key) => Some(Self { folder, key, compiler: compiler(engine) }),
            Err(error) => {
                let folder = folder.display();
                warn!("compiled plugins are not kept: {folder}: {error}");
                None
            }
        }
    }

    /// The compiled form of the component with this digest, if there is a sound one.
    pub(crate) fn load(&self, engine: &wasmtime::Engine, digest: &str) -> Option<Component> {
        let name = self.name(digest);
        let entry = fs::read(self.folder.join(&name)).ok()?;
        let (seal, code) = entry.split_at_checked(SEAL)?;
        if seal != self.seal(&name, code) {
            warn!("the kept form of a plugin is damaged or foreign, compiling it again: {name}");
            return None;
        }
        revive(engine, code).inspect_err(|error| debug!("a kept plugin can't be used: {error}")).ok()
    }

    /// Keeps the compiled form. Failing to is no fault: the component is compiled again next time.
    pub(crate) fn keep(&self, digest: &str, component: &Component) {
        let kept = component.serialize().map_err(io::Error::other).and_then(|code| self.write(digest, &code));
        if let Err(error) = kept.and_then(|()| self.prune()) {
            debug!("a compiled plugin was not kept: {error}");
        }
    }

    fn write(&self, digest: &str, code: &[u8]) -> io::Result<()> {
        let name = self.name(digest);
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&self.seal(&name, code))?;
        file.write_all(code)?;
        file.persist(self.folder.join(name))?;
        Ok(())
    }

    fn prune(&self) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.path().extension().is_some_and(|ext| ext == "cwasm") {
                entries.push((entry.metadata()?.modified()?, entry.path()));
            }
        }
        entries.sort();
        let surplus = entries.len().saturating_sub(ENTRIES);
        entries.iter().take(surplus).try_for_each(|(_, path)| fs::remove_file(path))
    }

    fn name(&self, digest: &str) -> String {
        format!("{digest}-{}.cwasm", self.compiler)
    }

    /// Two rounds, so that a seal can't be extended to a longer entry.
    fn seal(&self, name: &str, code: &[u8]) -> [u8; SEAL] {
        let inner = Sha256::new().chain_update(self.key).chain_update(name).chain_update(code).finalize();
        Sha256::new().chain_update(self.key).chain_update(inner).finalize().into()
    }
}

/// Makes a component of machine code.
#[allow(unsafe_code)]
fn revive(engine: &wasmtime::Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` must be given what wasmtime serialized, unchanged. The only caller has checked a seal over
    // these very bytes in memory, made with a key that only this user can read, at the time `keep` serialized them.
    // Code of another version or configuration of wasmtime is refused by `deserialize` itself.
    unsafe { Component::deserialize(engine, code) }
}

/// Sixteen hex digits over all that compiled code depends on besides the component.
fn compiler(engine: &wasmtime::Engine) -> String {
    let mut hasher = Stable(Sha256::new().chain_update(env!("CARGO_PKG_VERSION")));
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.0.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A hasher whose result does not depend on the Rust release.
struct Stable(Sha256);

impl Hasher for Stable {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest = self.0.clone().finalize();
        u64::from_le_bytes(digest[..8].try_into().expect("a SHA-256 digest has 32 bytes"))
    }
}

#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let own = tempfile::NamedTempFile::new_in(folder)?.as_file().metadata()?.uid();
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != own {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the folder belongs to somebody else"));
    }
    if found.mode() & 0o022 != 0 {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "others may write to the folder; remove it"));
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

fn read_or_make_key(folder: &Path) -> io::Result<[u8; SEAL]> {
    let path = folder.join("key");
    if !path.exists() {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&rand::random::<[u8; SEAL]>())?;
        match file.persist_noclobber(&path) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.error),
        }
    }
    let key = fs::read(&path)?;
    key.try_into().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file 'key' is damaged; delete it"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A component with nothing in it.
    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    fn cache() -> (tempfile::TempDir, wasmtime::Engine, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let engine = wasmtime::Engine::default();
        let cache = Cache::open(folder.path().join("deep/plugins"), &engine).unwrap();
        (folder, engine, cache)
    }

    #[test]
    fn what_was_kept_is_found_again() {
        let (_folder, engine, cache) = cache();
        assert!(cache.load(&engine, "aa").is_none());
        cache.keep("aa", &Component::new(&engine, EMPTY).unwrap());
        assert!(cache.load(&engine, "aa").is_some());
        let again = Cache::open(cache.folder.clone(), &engine).unwrap();
        assert!(again.load(&engine, "aa").is_some(), "also by the next process");
        let mut other = wasmtime::Config::new();
        other.epoch_interruption(true);
        let other = wasmtime::Engine::new(&other).unwrap();
        assert!(
            Cache::open(cache.folder.clone(), &other).unwrap().load(&other, "aa").is_none(),
            "another configuration"
        );
    }

    #[test]
    fn a_changed_cut_or_renamed_entry_is_not_loaded() {
        let (_folder, engine, cache) = cache();
        cache.keep("aa", &Component::new(&engine, EMPTY).unwrap());
        let path = cache.folder.join(cache.name("aa"));
        let sound = fs::read(&path).unwrap();
        for at in [0, SEAL, sound.len() / 2, sound.len() - 1] {
            let mut entry = sound.clone();
            entry[at] ^= 1;
            fs::write(&path, &entry).unwrap();
            assert!(cache.load(&engine, "aa").is_none(), "byte {at} changed");
            fs::write(&path, &sound[..at]).unwrap();
            assert!(cache.load(&engine, "aa").is_none(), "cut to {at}");
        }
        fs::write(cache.folder.join(cache.name("bb")), &sound).unwrap();
        assert!(cache.load(&engine, "bb").is_none(), "the code of another component");
        fs::write(&path, &sound).unwrap();
        assert!(cache.load(&engine, "aa").is_some());
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_is_private_or_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, engine, cache) = cache();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&cache.folder), mode(&cache.folder.join("key"))), (0o700, 0o600));
        fs::set_permissions(&cache.folder, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Cache::open(cache.folder.clone(), &engine).is_some());
        assert_eq!(mode(&cache.folder), 0o700);
        fs::set_permissions(&cache.folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Cache::open(cache.folder.clone(), &engine).is_none(), "others may have planted an entry and a key");
    }

    #[test]
    fn old_entries_go() {
        let (_folder, engine, cache) = cache();
        let component = Component::new(&engine, EMPTY).unwrap();
        for at in 0..ENTRIES + 3 {
            cache.keep(&format!("{at:04}"), &component);
        }
        let left = fs::read_dir(&cache.folder).unwrap().filter(|e| e.as_ref().unwrap().path().extension().is_some());
        assert_eq!(left.count(), ENTRIES);
    }
}
