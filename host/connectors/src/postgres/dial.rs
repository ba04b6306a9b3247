//! Opens a byte stream to one host: TCP or a Unix socket, with TLS on top where it is asked for.
//!
//! Source: PostgreSQL manual, "Message Flow", sections "SSL Session Encryption" and "Start-up".

use faucet_core::error::{Error, Result};
use rustls::pki_types::ServerName;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::endpoint::{Endpoint, Host};
use super::error::{TLS_FAILED, UNREACHABLE, from_io};
use super::socket::{Socket, Stream, Watched, through_inner};
use super::{der, verify};

/// How a connection is encrypted in one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encryption {
    /// Not at all.
    Plain,
    /// If the server can.
    Offered,
    /// Or not at all.
    Required,
}

/// An open byte stream to a server.
#[derive(Debug)]
pub enum Link {
    /// As it is.
    Plain(Socket),
    /// TLS over TCP.
    Tls(Box<TlsStream<Socket>>),
}

impl Link {
    /// Whether it is encrypted.
    pub fn is_tls(&self) -> bool {
        matches!(self, Link::Tls(_))
    }

    /// The channel binding of its TLS session, where there is one.
    pub(super) fn end_point(&self) -> Option<Vec<u8>> {
        match self {
            Link::Plain(_) => None,
            Link::Tls(stream) => der::end_point(stream.get_ref().1.peer_certificates()?.first()?),
        }
    }

    /// From now on it is read in pauses, as a stream is.
    ///
    /// # Errors
    /// The operating system's.
    pub(super) fn pace(&mut self) -> io::Result<()> {
        match self {
            Link::Plain(socket) => socket.pace(),
            Link::Tls(stream) => stream.get_mut().0.pace(),
        }
    }

    fn inner(&mut self) -> Pin<&mut (dyn Stream + '_)> {
        match self {
            Link::Plain(socket) => Pin::new(socket),
            Link::Tls(stream) => Pin::new(stream.as_mut()),
        }
    }
}

through_inner!(Link);

/// Opens a stream to `host`, ready for the start-up message.
///
/// # Errors
/// `postgres.unreachable` or `postgres.tls_failed`.
pub(super) async fn dial(endpoint: &Endpoint, host: &Host, encryption: Encryption) -> Result<Link> {
    let limit = endpoint.connect_timeout;
    match tokio::time::timeout(limit, open(endpoint, host, encryption)).await {
        Ok(result) => result,
        Err(_) => Err(unreachable(host, &format!("timed out after {} s", limit.as_secs()))),
    }
}

async fn open(endpoint: &Endpoint, host: &Host, encryption: Encryption) -> Result<Link> {
    if let Some(folder) = host.socket_folder() {
        let path = format!("{folder}/.s.PGSQL.{}", host.port);
        return UnixStream::connect(&path)
            .await
            .map(|stream| Link::Plain(Socket::Watched(Watched::Unix(stream))))
            .map_err(|e| unreachable_io(host, &e));
    }
    let mut stream = open_tcp(endpoint, host).await?;
    if encryption == Encryption::Plain {
        return Ok(Link::Plain(Socket::Watched(Watched::Tcp(stream))));
    }
    if !endpoint.tls.direct && !negotiate(&mut stream).await? {
        return match encryption {
            Encryption::Plain | Encryption::Offered => Ok(Link::Plain(Socket::Watched(Watched::Tcp(stream)))),
            Encryption::Required => Err(Error::new(&TLS_FAILED, format!("the server at {host} doesn't offer TLS"))
                .hint("turn `ssl` on in postgresql.conf, or use sslmode=prefer on a network you trust")),
        };
    }
    handshake(endpoint, host, stream).await
}

/// Asks for TLS; whether the server has it. Reads one byte and no more, so nothing unencrypted can slip in behind it.
async fn negotiate(stream: &mut TcpStream) -> Result<bool> {
    let mut request = bytes::BytesMut::new();
    postgres_protocol::message::frontend::ssl_request(&mut request);
    let answer = async {
        stream.write_all(&request).await?;
        stream.read_u8().await
    };
    match answer.await.map_err(|e| from_io(&e))? {
        b'S' => Ok(true),
        b'N' => Ok(false),
        _ => Err(Error::new(&super::error::PROTOCOL, "the server gave no valid answer to a request for TLS")
            .hint("is it a PostgreSQL server that listens on this port?")),
    }
}

async fn handshake(endpoint: &Endpoint, host: &Host, stream: TcpStream) -> Result<Link> {
    let name = if host.name.is_empty() { host.address.clone().unwrap_or_default() } else { host.name.clone() };
    let name = ServerName::try_from(name)
        .map_err(|_| Error::new(&TLS_FAILED, format!("{host} is no name that a certificate can be checked against")))?;
    let connector = TlsConnector::from(endpoint.tls.client_config()?);
    match connector.connect(name, Socket::Watched(Watched::Tcp(stream))).await {
        Ok(stream) => Ok(Link::Tls(Box::new(stream))),
        Err(error) => Err(handshake_failed(host, &error)),
    }
}

fn handshake_failed(host: &Host, error: &io::Error) -> Error {
    let reason = match error.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>()) {
        Some(tls) => verify::explain(tls),
        None => format!("the connection broke during the TLS handshake: {}", error.kind()),
    };
    Error::new(&TLS_FAILED, format!("{host}: {reason}"))
        .hint("check `sslmode` and `sslrootcert` in the URL (or `tls.mode` and `tls.ca_cert_path`)")
}

async fn open_tcp(endpoint: &Endpoint, host: &Host) -> Result<TcpStream> {
    let name = host.address.as_deref().unwrap_or(&host.name);
    let addresses: Vec<SocketAddr> = match tokio::net::lookup_host((name, host.port)).await {
        Ok(found) => found.collect(),
        Err(_) => return Err(unreachable(host, "the name was not found")),
    };
    let mut last = unreachable(host, "the name has no address");
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return tune(endpoint, stream).map_err(|e| unreachable_io(host, &e)),
            Err(error) => last = unreachable_io(host, &error),
        }
    }
    Err(last)
}

fn tune(endpoint: &Endpoint, stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    let socket = socket2::SockRef::from(&stream);
    if let Some(keepalive) = &endpoint.keepalive {
        let timing = socket2::TcpKeepalive::new().with_time(keepalive.idle);
        #[cfg(not(any(target_os = "openbsd", target_os = "windows")))]
        let timing = timing.with_interval(keepalive.interval).with_retries(keepalive.retries);
        socket.set_tcp_keepalive(&timing)?;
    }
    user_timeout(&socket, endpoint.user_timeout)?;
    Ok(stream)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn user_timeout(socket: &socket2::SockRef<'_>, limit: Option<Duration>) -> io::Result<()> {
    limit.map_or(Ok(()), |limit| socket.set_tcp_user_timeout(Some(limit)))
}

/// Other systems don't have it; libpq ignores it there too.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn user_timeout(_: &socket2::SockRef<'_>, _: Option<Duration>) -> io::Result<()> {
    Ok(())
}

fn unreachable_io(host: &Host, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => unreachable(host, "the connection was refused"),
        io::ErrorKind::TimedOut => unreachable(host, "timed out"),
        kind => unreachable(host, &kind.to_string()),
    }
}

fn unreachable(host: &Host, why: &str) -> Error {
    Error::new(&UNREACHABLE, format!("can't reach PostgreSQL at {host}: {why}"))
        .hint("check host and port in `connection_url`, and that the server runs and listens there")
}
