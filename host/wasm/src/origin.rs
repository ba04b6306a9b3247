//! Where a plugin comes from, and whether that is what was meant.

use crate::cache::Cache;
use crate::cases::hex;
use crate::fault::{DIGEST_MISMATCH, NOT_A_COMPONENT, NOT_FOUND};
use crate::grant::{Ceiling, Grants};
use crate::identity::Identity;
use crate::limits::Limits;
use faucet_core::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files beyond this are not read.
const LARGEST: u64 = 256 << 20;

/// A plugin as configured.
#[derive(Debug, Clone)]
pub struct PluginSpec {
    /// The name it goes by in the configuration.
    pub name: String,
    /// Where its bytes are.
    pub origin: Origin,
    /// The digest its bytes must have, in hex, if it is pinned. A prefix `sha256:` is allowed.
    pub sha256: Option<String>,
    /// What each instance may use.
    pub limits: Limits,
    /// What it may do beyond its pages.
    pub grants: Grants,
    /// Values of the secrets that the grants name.
    pub secrets: BTreeMap<String, String>,
    /// What the operator allows at most.
    pub ceiling: Ceiling,
    /// Where relative paths of the grants start.
    pub folder: PathBuf,
}

/// Where a plugin's bytes are.
#[derive(Debug, Clone)]
pub enum Origin {
    /// In a file.
    File(PathBuf),
    /// In this binary.
    Bundled(&'static [u8]),
}

/// A plugin's bytes, known to be a component and to have the pinned digest.
pub(crate) struct Loaded {
    /// `None` where the digest alone was asked for and known.
    pub(crate) bytes: Option<Cow<'static, [u8]>>,
    /// SHA-256 in lower-case hex.
    pub(crate) digest: String,
}

impl PluginSpec {
    /// A plugin with nothing granted and the usual limits.
    pub fn new(name: impl Into<String>, origin: Origin) -> Self {
        Self {
            name: name.into(),
            origin,
            sha256: None,
            limits: Limits::default(),
            grants: Grants::default(),
            secrets: BTreeMap::new(),
            ceiling: Ceiling::none(),
            folder: PathBuf::new(),
        }
    }

    /// The bytes, or their digest alone where that file was read before and has not changed since. What is pinned is always
    /// read.
    pub(crate) fn find(&self, cache: Option<&Cache>) -> Result<Loaded> {
        let (Origin::File(path), None, Some(cache)) = (&self.origin, &self.sha256, cache) else { return self.read() };
        let identity = std::fs::metadata(path).ok().filter(Metadata::is_file).map(|file| Identity::of(&file));
        let Some(identity) = identity.filter(Identity::is_settled) else { return self.read() };
        if let Some(digest) = cache.known(&identity) {
            return Ok(Loaded { bytes: None, digest });
        }
        let loaded = self.read()?;
        // What changed while it was read is not what was read.
        let unchanged = std::fs::metadata(path).is_ok_and(|file| Identity::of(&file) == identity);
        if unchanged {
            cache.remember(&identity, &loaded.digest);
        }
        Ok(loaded)
    }

    pub(crate) fn read(&self) -> Result<Loaded> {
        let bytes = match &self.origin {
            Origin::Bundled(bytes) => Cow::Borrowed(*bytes),
            Origin::File(path) => Cow::Owned(self.read_file(path)?),
        };
        let digest = hex(&Sha256::digest(&bytes));
        self.check_pin(&digest)?;
        self.check_sort(&bytes)?;
        Ok(Loaded { bytes: Some(bytes), digest })
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        let (name, shown) = (&self.name, path.display());
        let failed = |why: String| {
            Error::new(&NOT_FOUND, format!("plugin '{name}': {shown}: {why}"))
                .hint(format!("check plugins.{name}.path; a relative path starts at the configuration file's folder"))
        };
        let file = std::fs::File::open(path).map_err(|error| failed(error.to_string()))?;
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
        if bytes.len() as u64 > LARGEST {
            return Err(failed(format!("the file is larger than {} MiB", LARGEST >> 20)));
        }
        Ok(bytes)
    }

    fn check_pin(&self, digest: &str) -> Result<()> {
        let Some(pin) = &self.sha256 else { return Ok(()) };
        let pin = pin.trim().to_ascii_lowercase();
        if pin.strip_prefix("sha256:").unwrap_or(&pin) == digest {
            return Ok(());
        }
        let name = &self.name;
        let error = Error::new(&DIGEST_MISMATCH, format!("plugin '{name}' has sha256 {digest}, and {pin} is pinned"));
        Err(error.hint(format!("if the file is the one you want, set plugins.{name}.sha256 to its digest")))
    }

    /// The first eight bytes tell a component from a core module (<https://webassembly.github.io/spec/core/> and the
    /// component model's binary format).
    fn check_sort(&self, bytes: &[u8]) -> Result<()> {
        let (what, hint) = match bytes {
            [0, b'a', b's', b'm', _, _, 1, 0, ..] => return Ok(()),
            [0, b'a', b's', b'm', _, _, 0, 0, ..] => (
                "is a core WebAssembly module, not a component",
                "build it with `cargo build --release --target wasm32-wasip2`, or run `wasm-tools component new` on it",
            ),
            [] => ("is empty", "build the plugin again"),
            _ => ("is not WebAssembly", "build the plugin for the target wasm32-wasip2"),
        };
        Err(Error::new(&NOT_A_COMPONENT, format!("plugin '{}' {what}", self.name)).hint(hint))
    }
}
