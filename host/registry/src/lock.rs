//! `faucet.lock`: which components the references of a configuration stand for.
//!
//! A reference with a tag means whatever the tag points to today. The lock file, which is committed with the
//! configuration, says what it meant when somebody looked. Its bytes depend on nothing but its entries.

mod guard;

use crate::digest::{Digest, shown};
use crate::fault::{LOCK_FILE, LOCK_INVALID};
use crate::reference::Reference;
use crate::{durable, read_bounded};
use faucet_core::error::{Error, Result};
use guard::Guard;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

/// The version of the file that is written and read.
const VERSION: u64 = 1;

/// Files beyond this are no lock files.
const LARGEST: u64 = 4 << 20;

/// What stands on top.
const TOP: &str = "\
# Written by `faucet plugin pull CONFIG`: which components the `oci` references of the configuration stand for.
# Commit it. Don't edit it.
";

/// What a reference stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    /// The digest of the manifest in the registry.
    pub manifest: Digest,
    /// The digest of the component, which is its name in the [`Store`](crate::Store).
    pub component: Digest,
    /// The length of the component in bytes.
    pub size: u64,
}

/// The content of a lock file, by reference.
///
/// ```
/// use faucet_registry::{Digest, Lock, Locked};
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("faucet.lock");
/// let mask = "ghcr.io/acme/mask:1.2".parse().unwrap();
/// let locked = Locked { manifest: Digest::of(b"m"), component: Digest::of(b"c"), size: 1 };
///
/// Lock::update(&path, |lock| lock.insert(&mask, locked)).unwrap();
/// assert_eq!(Lock::read(&path).unwrap().lookup(&mask), Some(&locked));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    entries: BTreeMap<Reference, Locked>,
}

impl Lock {
    /// Reads a lock file. One that isn't there has no entries.
    ///
    /// # Errors
    /// `registry.lock_invalid` with the line, `registry.lock_file` if it can't be read.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = match read_bounded(path, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unusable(path, "read", &error)),
        };
        let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned());
        text.and_then(|text| parse(&text)).map_err(|why| invalid(path, &why))
    }

    /// Puts the file at `path`, whole or not at all. What others wrote since it was read is lost: [`Lock::update`] keeps
    /// it.
    ///
    /// # Errors
    /// `registry.lock_file`.
    pub fn write(&self, path: &Path) -> Result<()> {
        durable::replace(path, self.to_string().as_bytes()).map_err(|error| unusable(path, "written", &error))
    }

    /// Reads the file, changes it, and writes it if that changed something, while no other process does. So no entry is
    /// lost when two lock at once: the second one starts from what the first one wrote. Returns the new content.
    ///
    /// Blocks the thread, at most ten seconds for the other process.
    ///
    /// # Errors
    /// Those of [`Lock::read`] and [`Lock::write`].
    pub fn update(path: &Path, change: impl FnOnce(&mut Self)) -> Result<Self> {
        let _guard = Guard::take(path)?;
        let before = Self::read(path)?;
        let mut after = before.clone();
        change(&mut after);
        if after != before {
            after.write(path)?;
        }
        Ok(after)
    }

    /// What a reference stands for, as it is written: a pinned one and the same one without its pin are two.
    pub fn lookup(&self, reference: &Reference) -> Option<&Locked> {
        self.entries.get(reference)
    }

    /// Sets what a reference stands for.
    pub fn insert(&mut self, reference: &Reference, locked: Locked) {
        self.entries.insert(reference.clone(), locked);
    }

    /// Every entry, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&Reference, &Locked)> {
        self.entries.iter()
    }
}

impl fmt::Display for Lock {
    /// The file's text. References hold nothing that quotes would have to escape.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{TOP}version: {VERSION}\ncomponents:")?;
        if self.entries.is_empty() {
            return writeln!(f, " {{}}");
        }
        writeln!(f)?;
        for (reference, locked) in &self.entries {
            writeln!(f, "  \"{reference}\":")?;
            writeln!(f, "    manifest: {}", locked.manifest)?;
            writeln!(f, "    component: {}", locked.component)?;
            writeln!(f, "    size: {}", locked.size)?;
        }
        Ok(())
    }
}

/// The version alone, so that a newer file is told from a damaged one.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    #[serde(rename = "version")]
    _version: u64,
    components: Entries,
}

/// A map that refuses a key that is there twice, as a merge by hand can leave it.
struct Entries(BTreeMap<Reference, Locked>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Once;
        impl<'de> Visitor<'de> for Once {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from references to what they stand for")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some(key) = map.next_key::<String>()? {
                    let reference: Reference = key.parse().map_err(serde::de::Error::custom)?;
                    if entries.insert(reference, map.next_value()?).is_some() {
                        return Err(serde::de::Error::custom(format_args!("'{}' is there twice", shown(&key))));
                    }
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Once)
    }
}

fn parse(text: &str) -> Result<Lock, String> {
    let head: Head = serde_yaml::from_str(text).map_err(|e| placed(&e))?;
    if head.version != VERSION {
        return Err(format!("has version {}, and this faucet knows version {VERSION}", head.version));
    }
    let body: Body = serde_yaml::from_str(text).map_err(|e| placed(&e))?;
    Ok(Lock { entries: body.components.0 })
}

/// An error with its line. The parser's own words say it in the middle of them, or not at all.
fn placed(error: &serde_yaml::Error) -> String {
    let words = error.to_string();
    match error.location() {
        Some(at) if !words.contains(" line ") => format!("line {}: {}", at.line(), shown(&words)),
        _ => shown(&words),
    }
}

fn invalid(path: &Path, why: &str) -> Error {
    Error::new(&LOCK_INVALID, format!("'{}': {why}", path.display()))
        .hint("restore it from version control, or remove it and run `faucet plugin pull CONFIG`")
}

fn unusable(path: &Path, verb: &str, error: &io::Error) -> Error {
    Error::new(&LOCK_FILE, format!("'{}' can't be {verb}: {error}", path.display()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
