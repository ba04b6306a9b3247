//! Compiled components on disk, so that a plugin compiles once.
//!
//! Machine code that is loaded is run with all the rights of this process, so an entry is only trusted if this user
//! wrote it and it is whole: the folder is private (mode 0700), and every entry has a seal, a digest over a key that is kept
//! in the folder, the entry's name and the digest of its content. The name holds the component's digest and a digest of all
//! that compilation depends on (wasmtime's version, the processor, the engine's configuration). Any doubt about an entry, or
//! about the folder, means that the component is compiled again.
//!
//! An entry is two files, because wasmtime maps the code as it lies on disk instead of reading it: `NAME.seal`, and the code
//! under a name with its own digest, so that two processes that compile at once don't mix their files. Files are put there
//! whole and never written again.

use crate::cases::{hex, unhex};
use crate::identity::Identity;
use sha2::{Digest, Sha256};
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tracing::{debug, warn};
use wasmtime::component::Component;

/// Entries that are kept; the oldest go first.
const ENTRIES: usize = 64;

/// Length of key, digest and seal.
const SEAL: usize = 32;

/// What the files of entries are called, and how many of each are kept. Identities are small.
const KEPT: [(&str, usize); 3] = [("cwasm", ENTRIES), ("seal", ENTRIES), ("known", 16 * ENTRIES)];

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
        let sealed = fs::read(self.folder.join(format!("{name}.seal"))).ok()?;
        let found = self.unseal(&name, &sealed).map(|content| (self.code(&name, &content), content));
        let sound = found.filter(|(path, content)| fingerprint(path).is_ok_and(|is| is == *content));
        let Some((path, _)) = sound else {
            warn!("the kept form of a plugin is damaged or foreign, compiling it again: {name}");
            return None;
        };
        revive(engine, &path).inspect_err(|error| debug!("a kept plugin can't be used: {error}")).ok()
    }

    /// Keeps the compiled form. Failing to is no fault: the component is compiled again next time.
    pub(crate) fn keep(&self, digest: &str, component: &Component) {
        let kept = component.serialize().map_err(io::Error::other).and_then(|code| self.write(digest, &code));
        if let Err(error) = kept.and_then(|()| self.prune()) {
            debug!("a compiled plugin was not kept: {error}");
        }
    }

    /// The digest of the file with this identity, if it was seen before.
    pub(crate) fn known(&self, identity: &Identity) -> Option<String> {
        let name = identity.name();
        let sealed = fs::read(self.folder.join(format!("{name}.known"))).ok()?;
        Some(hex(&self.unseal(&name, &sealed)?))
    }

    /// Remembers the digest of the file with this identity.
    pub(crate) fn remember(&self, identity: &Identity, digest: &str) {
        let Some(digest) = unhex(digest).and_then(|bytes| <[u8; SEAL]>::try_from(bytes).ok()) else { return };
        let name = identity.name();
        let written = self.place(&format!("{name}.known"), &[&digest[..], &self.seal(&name, &digest)]);
        let pruned = written.and_then(|()| self.prune());
        if let Err(error) = pruned {
            debug!("the digest of a plugin was not kept: {error}");
        }
    }

    fn write(&self, digest: &str, code: &[u8]) -> io::Result<()> {
        let name = self.name(digest);
        let content = *blake3::hash(code).as_bytes();
        let path = self.code(&name, &content);
        let file = path.file_name().map_or_else(String::new, |file| file.to_string_lossy().into_owned());
        self.place(&file, &[code])?;
        self.place(&format!("{name}.seal"), &[&content[..], &self.seal(&name, &content)])
    }

    /// Puts a file there whole.
    fn place(&self, name: &str, parts: &[&[u8]]) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.persist(self.folder.join(name))?;
        Ok(())
    }

    fn prune(&self) -> io::Result<()> {
        KEPT.iter().try_for_each(|(extension, most)| self.prune_to(extension, *most))
    }

    fn prune_to(&self, extension: &str, most: usize) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.path().extension().is_some_and(|ext| ext == extension) {
                entries.push((entry.metadata()?.modified()?, entry.path()));
            }
        }
        entries.sort();
        let surplus = entries.len().saturating_sub(most);
        entries.iter().take(surplus).try_for_each(|(_, path)| fs::remove_file(path))
    }

    fn name(&self, digest: &str) -> String {
        format!("{digest}-{}", self.compiler)
    }

    /// Where code with this digest lies.
    fn code(&self, name: &str, content: &[u8; SEAL]) -> PathBuf {
        self.folder.join(format!("{name}-{}.cwasm", hex(&content[..8])))
    }

    fn seal(&self, name: &str, content: &[u8; SEAL]) -> [u8; SEAL] {
        *blake3::Hasher::new_keyed(&self.key).update(content).update(name.as_bytes()).finalize().as_bytes()
    }

    /// The digest that a file with a seal holds, if the seal is ours.
    fn unseal(&self, name: &str, sealed: &[u8]) -> Option<[u8; SEAL]> {
        let (content, seal) = sealed.split_first_chunk::<SEAL>()?;
        (seal == self.seal(name, content)).then_some(*content)
    }
}

/// The digest of a file's content.
fn fingerprint(path: &Path) -> io::Result<[u8; SEAL]> {
    Ok(*blake3::Hasher::new().update_mmap(path)?.finalize().as_bytes())
}

/// Makes a component of machine code.
#[allow(unsafe_code)]
fn revive(engine: &wasmtime::Engine, path: &Path) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize_file` must be given what wasmtime serialized, unchanged for as long as it is mapped. The only caller
    // has just compared the file with a digest under a seal, made with a key that only this user can read, at the time
    // `keep` serialized the code. Only this user can write to the folder, and there files are replaced and never written.
    // Code of another version or configuration of wasmtime is refused by `deserialize_file` itself.
    unsafe { Component::deserialize_file(engine, path) }
}

/// Sixteen hex digits over all that compiled code depends on besides the component.
fn compiler(engine: &wasmtime::Engine) -> String {
    let mut hasher = Stable(Sha256::new().chain_update(env!("CARGO_PKG_VERSION")));
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hex(&hasher.0.finalize()[..8])
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

    /// The one file with this extension.
    fn only(cache: &Cache, extension: &str) -> PathBuf {
        let files = fs::read_dir(&cache.folder).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<_> = files.filter(|path| path.extension().is_some_and(|ext| ext == extension)).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    #[test]
    fn a_digest_is_remembered_for_one_state_of_a_file() {
        let (folder, _engine, cache) = cache();
        let file = folder.path().join("it.wasm");
        fs::write(&file, EMPTY).unwrap();
        let identity = Identity::of(&fs::metadata(&file).unwrap());
        assert_eq!(cache.known(&identity), None);
        cache.remember(&identity, &"07".repeat(SEAL));
        assert_eq!(cache.known(&identity), Some("07".repeat(SEAL)));
        let known = only(&cache, "known");
        fs::write(&file, [EMPTY, EMPTY].concat()).unwrap();
        let changed = Identity::of(&fs::metadata(&file).unwrap());
        assert_eq!(cache.known(&changed), None, "another size");
        let mut forged = fs::read(&known).unwrap();
        forged[0] ^= 1;
        fs::write(&known, forged).unwrap();
        assert_eq!(cache.known(&identity), None, "without our seal");
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
        for path in [only(&cache, "cwasm"), only(&cache, "seal")] {
            let sound = fs::read(&path).unwrap();
            for at in [0, SEAL, sound.len() / 2, sound.len() - 1] {
                let mut entry = sound.clone();
                entry[at] ^= 1;
                fs::write(&path, &entry).unwrap();
                assert!(cache.load(&engine, "aa").is_none(), "byte {at} changed");
                fs::write(&path, &sound[..at]).unwrap();
                assert!(cache.load(&engine, "aa").is_none(), "cut to {at}");
            }
            fs::write(&path, &sound).unwrap();
            assert!(cache.load(&engine, "aa").is_some());
        }
        let other = cache.folder.join(format!("{}.seal", cache.name("bb")));
        fs::copy(only(&cache, "seal"), other).unwrap();
        assert!(cache.load(&engine, "bb").is_none(), "the code of another component");
        fs::remove_file(only(&cache, "cwasm")).unwrap();
        assert!(cache.load(&engine, "aa").is_none(), "the code is gone");
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
        for extension in ["cwasm", "seal"] {
            let left = fs::read_dir(&cache.folder).unwrap().map(|entry| entry.unwrap().path());
            assert_eq!(left.filter(|path| path.extension().is_some_and(|ext| ext == extension)).count(), ENTRIES);
        }
    }
}
