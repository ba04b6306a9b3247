//! TLS towards the servers of guests' requests, with the roots of this machine.

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::sync::{Arc, OnceLock};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Connects by TLS. Clones share the roots, which are read when they are first needed.
#[derive(Clone, Default)]
pub(crate) struct Tls(Arc<OnceLock<Arc<ClientConfig>>>);

impl Tls {
    /// A connection to a server that proved to be `host`.
    pub(crate) async fn connect(&self, host: &str, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let config = self.config()?;
        TlsConnector::from(config).connect(name, stream).await
    }

    fn config(&self) -> io::Result<Arc<ClientConfig>> {
        if let Some(config) = self.0.get() {
            return Ok(config.clone());
        }
        let config = Arc::new(with_roots_of_this_machine()?);
        Ok(self.0.get_or_init(|| config).clone())
    }
}

fn with_roots_of_this_machine() -> io::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    // Certificates that can't be read are left out: the others may do.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config = builder.map_err(io::Error::other)?.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
