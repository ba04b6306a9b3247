//! What tells one state of a file from another without reading it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

/// A file that changed so short a while ago may change again without a new time.
const FRESH: Duration = Duration::from_secs(2);

/// A state of a file: where it is, its size, and when its content and its inode changed last. The last of these can't be set
/// by whoever writes the file, so another content has another identity, but for the moment in which a file changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    parts: [u64; 7],
}

impl Identity {
    /// Of a file with this metadata.
    pub(crate) fn of(file: &Metadata) -> Self {
        let times = [file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec()].map(i64::cast_unsigned);
        let [mtime, mtime_nsec, ctime, ctime_nsec] = times;
        Self { parts: [file.dev(), file.ino(), file.len(), mtime, mtime_nsec, ctime, ctime_nsec] }
    }

    /// Whether the file is at rest: only then does its identity say which content it has.
    pub(crate) fn is_settled(&self) -> bool {
        let [.., ctime, _] = self.parts;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        now.checked_sub(Duration::from_secs(ctime)).is_some_and(|since| since > FRESH)
    }

    /// A name for it.
    pub(crate) fn name(&self) -> String {
        let bytes: Vec<u8> = self.parts.iter().flat_map(|part| part.to_le_bytes()).collect();
        blake3::hash(&bytes).to_hex()[..32].to_owned()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_settled_a_while_after_it_changed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let fresh = Identity::of(&file.as_file().metadata().unwrap());
        assert!(!fresh.is_settled());
        let mut old = fresh.clone();
        old.parts[5] -= 10;
        assert!(old.is_settled());
        assert_ne!(old.name(), fresh.name());
        // A clock that was set back makes nothing settled.
        old.parts[5] += 1_000_000;
        assert!(!old.is_settled());
    }
}
