//! Pushes components to registries and pulls them back: the OCI distribution specification, as far as one component at
//! a time needs it.
//!
//! A registry is a stranger. Nothing it sends is read beyond a bound or waited for without one, and no byte of it is
//! used before it has the digest that was asked for.

mod answer;
mod challenge;
mod retry;
mod session;
mod transport;
mod upload;

use crate::artifact::{self, ACCEPT, Artifact, LARGEST_MANIFEST, Layer, Metadata, check_component, too_large};
use crate::credentials::Credentials;
use crate::digest::Digest;
use crate::durable;
use crate::fault::{BAD_REFERENCE, DIGEST_MISMATCH, STORE};
use crate::lock::Locked;
use crate::reference::Reference;
use bytes::Bytes;
use faucet_core::error::{Error, Result};
use reqwest::header::{ACCEPT as ACCEPT_HEADER, HeaderValue};
use retry::{Failure, persist};
use session::{Actions, Ask, Session};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How to speak to registries.
///
/// ```
/// use faucet_registry::Options;
/// let options = Options { plain_http: true, ..Options::default() };
/// assert_eq!(options.largest, 256 << 20);
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    /// Without TLS, for every registry and for those that hand out its tokens. This machine is spoken to without TLS
    /// in any case.
    pub plain_http: bool,
    /// How long a connection may take to be made.
    pub connect_timeout: Duration,
    /// How long a registry may be silent. A body that trickles may take twice this and a second for each 32 KiB.
    pub idle_timeout: Duration,
    /// How often a request is tried while what is wrong with it may pass, the first time included.
    pub attempts: u32,
    /// The pause before the second attempt; it doubles from there.
    pub first_pause: Duration,
    /// No pause is longer. A registry that asks for a longer one is not tried again.
    pub longest_pause: Duration,
    /// Components beyond this many bytes are neither pushed nor pulled.
    pub largest: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            plain_http: false,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(30),
            attempts: 5,
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(60),
            largest: crate::LARGEST,
        }
    }
}

/// A component out of a registry: known to be one, and to have these digests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// The component.
    pub bytes: Bytes,
    /// The digest of its manifest, which pins a [`Reference`].
    pub manifest: Digest,
    /// The digest of the component itself.
    pub component: Digest,
}

impl Pulled {
    /// Writes the component to a file, whole or not at all.
    ///
    /// # Errors
    /// `registry.store`.
    pub fn write_to(&self, path: &Path) -> Result<()> {
        let failed = |error| Error::new(&STORE, format!("'{}' can't be written: {error}", path.display()));
        durable::replace(path, &self.bytes).map_err(failed)
    }

    /// What goes into a lock file.
    pub fn locked(&self) -> Locked {
        Locked { manifest: self.manifest, component: self.component, size: self.bytes.len() as u64 }
    }
}

/// Speaks to registries.
///
/// ```no_run
/// # async fn example() -> faucet_core::error::Result<()> {
/// use faucet_registry::{Client, Credentials, Metadata, Options};
/// let client = Client::new(Options::default(), Credentials::of_this_user()?)?;
/// let reference = "ghcr.io/acme/mask:1.2".parse()?;
/// let digest = client.push(std::fs::read("mask.wasm").unwrap().into(), &reference, &Metadata::default()).await?;
/// let pulled = client.pull(&reference.pinned(digest)).await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    options: Options,
    credentials: Credentials,
    tls: Arc<rustls::ClientConfig>,
}

impl Client {
    /// A client that speaks as `options` say and shows `credentials` to registries that ask. It trusts the root
    /// certificates of this machine.
    ///
    /// # Errors
    /// `registry.tls`: TLS can't be set up.
    pub fn new(options: Options, credentials: Credentials) -> Result<Self> {
        Ok(Self { options, credentials, tls: transport::tls()? })
    }

    /// Pulls the component that `reference` names. With a tag and a digest, the tag has to stand for that digest.
    ///
    /// # Errors
    /// Any `registry.` code but those of the store and the lock file.
    pub async fn pull(&self, reference: &Reference) -> Result<Pulled> {
        self.fetch(reference, &reference.version(), reference.digest()).await
    }

    /// Pulls the component that a lock file names, wherever the tag of `reference` points to by now.
    ///
    /// # Errors
    /// As [`Client::pull`]; `registry.digest_mismatch` too if the manifest names another component than the lock file.
    pub async fn pull_locked(&self, reference: &Reference, locked: &Locked) -> Result<Pulled> {
        let pulled = self.fetch(reference, &locked.manifest.to_string(), Some(locked.manifest)).await?;
        if pulled.component == locked.component {
            return Ok(pulled);
        }
        let (found, wanted) = (pulled.component, locked.component);
        let what = format!("the manifest of {reference} names {found}, and the lock file says {wanted}");
        Err(Error::new(&DIGEST_MISMATCH, what).hint("the lock file was edited: restore it"))
    }

    /// Pushes a component under the tag of `reference` and returns the digest of its manifest. What the registry has
    /// already is not sent again.
    ///
    /// # Errors
    /// `registry.bad_reference`: there is no tag, or a digest, which is not known before. `registry.not_a_component`,
    /// `registry.too_large`, and what the registry answers.
    pub async fn push(&self, component: Bytes, reference: &Reference, metadata: &Metadata) -> Result<Digest> {
        let (Some(tag), None) = (reference.tag(), reference.digest()) else {
            let what = format!("{reference}: a push needs a tag, and no digest");
            return Err(Error::new(&BAD_REFERENCE, what).hint("write it like ghcr.io/acme/mask:1.2"));
        };
        check_component(&component)?;
        if component.len() as u64 > self.options.largest {
            return Err(too_large(&format!("{} bytes", component.len()), self.options.largest));
        }
        let Artifact { manifest, config } = Artifact::of(&component, metadata);
        let session = self.session(reference, Actions::Push)?;
        for blob in [component, config.into()] {
            persist(&self.options, || upload::blob(&session, &blob)).await.map_err(|e| pushing(e, reference))?;
        }
        let manifest = Bytes::from(manifest);
        persist(&self.options, || upload::manifest(&session, tag, &manifest)).await.map_err(|e| pushing(e, reference))
    }

    pub(crate) fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    fn session<'a>(&'a self, reference: &'a Reference, actions: Actions) -> Result<Session<'a>> {
        Session::open(&self.options, &self.credentials, &self.tls, reference, actions)
    }

    async fn fetch(&self, reference: &Reference, version: &str, pin: Option<Digest>) -> Result<Pulled> {
        let during = |error: Error| error.context(format!("pulling {reference}"));
        let session = self.session(reference, Actions::Pull)?;
        let manifest = persist(&self.options, || manifest(&session, version)).await.map_err(during)?;
        let digest = Digest::of(&manifest);
        if let Some(pin) = pin.filter(|pin| *pin != digest) {
            return Err(during(moved(reference, pin, digest)));
        }
        let layer = artifact::layer_of(&manifest, self.options.largest).map_err(during)?;
        let bytes = persist(&self.options, || component(&session, &layer)).await.map_err(during)?;
        check_component(&bytes).map_err(during)?;
        Ok(Pulled { bytes: bytes.into(), manifest: digest, component: layer.digest })
    }
}

async fn manifest(session: &Session<'_>, version: &str) -> Result<Vec<u8>, Failure> {
    let ask =
        Ask::get(session.url(&format!("manifests/{version}"))).header(ACCEPT_HEADER, HeaderValue::from_static(ACCEPT));
    let answer = session.call(&ask).await?;
    session.read(answer, LARGEST_MANIFEST).await
}

/// The bytes of a layer, which have its size and its digest.
async fn component(session: &Session<'_>, layer: &Layer) -> Result<Vec<u8>, Failure> {
    let answer = session.call(&Ask::get(session.url(&format!("blobs/{}", layer.digest)))).await?;
    if let Some(length) = answer.content_length().filter(|length| *length != layer.size) {
        return Err(Failure::Final(wrong_size(layer, &format!("is {length} bytes long"))));
    }
    let bytes = session.read(answer, layer.size).await?;
    if (bytes.len() as u64) < layer.size {
        return Err(Failure::passing(wrong_size(layer, &format!("ends after {} bytes", bytes.len()))));
    }
    let found = Digest::of(&bytes);
    if found == layer.digest {
        return Ok(bytes);
    }
    let what = format!("the component has the digest {found}, and its manifest says {}", layer.digest);
    Err(Failure::Final(Error::new(&DIGEST_MISMATCH, what).hint("its bytes were changed or damaged: push it again")))
}

fn wrong_size(layer: &Layer, what: &str) -> Error {
    Error::new(&DIGEST_MISMATCH, format!("the component {what}, and its manifest says {}", layer.size))
        .hint("its bytes were changed or damaged: push it again")
}

fn moved(reference: &Reference, wanted: Digest, found: Digest) -> Error {
    let what = match reference.tag() {
        Some(tag) => format!("the tag {tag} stands for {found}, and {wanted} was asked for"),
        None => format!("the registry sent the manifest {found}, and {wanted} was asked for"),
    };
    Error::new(&DIGEST_MISMATCH, what).hint("if the new one is the one you want, put its digest into the reference")
}

fn pushing(error: Error, reference: &Reference) -> Error {
    error.context(format!("pushing {reference}"))
}
