//! TLS as libpq's `sslmode` defines it, by rustls: what is asked for, and the rustls configuration that keeps it.
//!
//! | mode | encrypted | server checked |
//! |---|---|---|
//! | `disable` | never | |
//! | `allow` | when the server insists | against the root certificates, if any are given |
//! | `prefer` | when the server can | against the root certificates, if any are given |
//! | `require` | always | against the root certificates, if any are given |
//! | `verify-ca` | always | against the root certificates |
//! | `verify-full` | always | against the root certificates (default: this machine's), and the host's name |
//!
//! Source: PostgreSQL manual, "SSL Support" in the chapter on libpq. There are two differences: no file in the home
//! folder is ever looked at, and `verify-full` without root certificates uses the machine's own.

use faucet_core::error::{Error, Result};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::TLS_FAILED;
use super::verify::{Checks, Verifier};

/// How much TLS is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SslMode {
    /// Never TLS.
    Disable,
    /// Plain first; TLS if the server refuses that.
    Allow,
    /// TLS first; plain if the server has none.
    Prefer,
    /// Only TLS.
    Require,
    /// Only TLS, with a certificate signed by a trusted authority.
    VerifyCa,
    /// The same, and the certificate names the host.
    VerifyFull,
}

impl SslMode {
    /// Every mode by libpq's name for it.
    pub(super) const NAMES: &'static [(&'static str, SslMode)] = &[
        ("disable", SslMode::Disable),
        ("allow", SslMode::Allow),
        ("prefer", SslMode::Prefer),
        ("require", SslMode::Require),
        ("verify-ca", SslMode::VerifyCa),
        ("verify-full", SslMode::VerifyFull),
    ];
}

/// Which certificate authorities are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Roots {
    /// Those of this machine.
    System,
    /// Those in a PEM file.
    File(PathBuf),
}

/// The certificate shown to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientIdentity {
    /// PEM file of the certificate, with its chain.
    pub certificate: PathBuf,
    /// PEM file of its private key.
    pub key: PathBuf,
}

/// What TLS is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    /// How much.
    pub mode: SslMode,
    /// Whom to trust.
    pub roots: Option<Roots>,
    /// What to show to the server.
    pub identity: Option<ClientIdentity>,
    /// TLS from the first byte, without PostgreSQL's own negotiation (servers from version 17 on).
    pub direct: bool,
    /// Whether the handshake tells the host's name.
    pub sni: bool,
}

impl TlsSettings {
    /// The rustls configuration that keeps these settings. Reads the files they name.
    ///
    /// # Errors
    /// `postgres.tls_failed` when a file can't be read or holds no certificate or key.
    pub fn client_config(&self) -> Result<Arc<ClientConfig>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Verifier::new(self.checks()?, &provider);
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| failed(format!("TLS can't be set up: {e}")))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => builder
                .with_client_auth_cert(certificates(&identity.certificate)?, private_key(&identity.key)?)
                .map_err(|e| failed(format!("the client certificate and its key don't fit each other: {e}")))?,
        };
        config.enable_sni = self.sni;
        // Required by servers for direct negotiation, ignored otherwise.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Arc::new(config))
    }

    fn checks(&self) -> Result<Checks> {
        let roots = match (&self.roots, self.mode) {
            (Some(Roots::File(path)), _) => file_roots(path)?,
            (Some(Roots::System), _) | (None, SslMode::VerifyFull) => (system_roots()?, Vec::new()),
            (None, _) => return Ok(Checks::Nothing),
        };
        let (store, pinned) = roots;
        Ok(Checks::Chain { store, pinned, name: self.mode == SslMode::VerifyFull })
    }
}

/// The authorities in a PEM file, and the certificates as they are: a self-signed server certificate may be listed.
fn file_roots(path: &Path) -> Result<(RootCertStore, Vec<CertificateDer<'static>>)> {
    let listed = certificates(path)?;
    let mut store = RootCertStore::empty();
    for certificate in &listed {
        store
            .add(certificate.clone())
            .map_err(|e| failed(format!("a root certificate in {} can't be used: {e}", path.display())))?;
    }
    Ok((store, listed))
}

fn system_roots() -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if store.is_empty() {
        return Err(failed("this machine has no certificate store").hint(
            "install the system's certificates (on Debian: ca-certificates), or name a file with `sslrootcert`",
        ));
    }
    Ok(store)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let unreadable = |e| failed(format!("the certificate file {} can't be read: {e}", path.display()));
    let listed: Vec<_> = CertificateDer::pem_file_iter(path)
        .map_err(unreadable)?
        .collect::<std::result::Result<_, _>>()
        .map_err(unreadable)?;
    if listed.is_empty() {
        return Err(failed(format!("{} holds no PEM certificate", path.display())));
    }
    Ok(listed)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_file(path).map_err(|e| {
        failed(format!("the client key {} can't be read: {e}", path.display()))
            .hint("it must be an unencrypted PEM key (`openssl pkey -in KEY -out PLAIN` removes a passphrase)")
    })
}

fn failed(what: impl Into<String>) -> Error {
    Error::new(&TLS_FAILED, what)
}
