//! HTTP for guests, through the host.
//!
//! A request goes out only if the grants allow its host, and only to an address that was checked: the name is resolved
//! once, the connection is made to what was found, so that a name can't mean one address when it is checked and another
//! when it is used. Redirects are not followed here; a guest that follows one sends another request, which is checked
//! like the first. No proxy of the environment is used. The whole exchange ends with the deadline of the call it is part
//! of, however slowly the other end answers.

mod address;
mod secret;
mod tls;

use crate::grant::Effective;
use crate::limits::Limits;
pub(crate) use address::HostPattern;
use address::is_public;
use bytes::Bytes;
use http::{Request, Response, Uri, header};
use http_body_util::{BodyExt, Limited};
use hyper::client::conn::http1;
use secret::fill;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
pub(crate) use tls::Tls;
use tokio::net::TcpStream;
use tokio::time::timeout_at;
use tracing::warn;
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

/// What a connection is read and written through.
trait Stream: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin {}

impl<T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin> Stream for T {}

/// Work that goes on while an answer is read.
type Io = Box<dyn Future<Output = Result<(), Error>> + Send>;

/// The requests of a plugin within the last minute; all its instances share one.
#[derive(Debug, Default)]
pub(crate) struct Traffic(Mutex<Option<(Instant, u32)>>);

impl Traffic {
    /// Counts a request; false if there were `most` within a minute already.
    fn admit(&self, most: u32, now: Instant) -> bool {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, count) = window.filter(|(start, _)| now - *start < Duration::from_secs(60)).unwrap_or((now, 0));
        *window = Some((start, count.saturating_add(1)));
        count < most
    }
}

/// What the plugin was refused in a call, in words for a person.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusals(Arc<Mutex<Option<String>>>);

impl Refusals {
    /// Remembers a refusal, and logs the first of a call: a flood of requests is no flood of lines.
    fn note(&self, plugin: &str, what: String) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none() {
            warn!(plugin, "refused an HTTP request: {what}");
        }
        *last = Some(what);
    }

    /// Whether there is one.
    pub(crate) fn any(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The last one; a new call begins with none.
    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Sends a guest's requests.
pub(crate) struct Sender {
    plugin: String,
    grants: Arc<Effective>,
    limits: Limits,
    traffic: Arc<Traffic>,
    tls: Tls,
    refusals: Refusals,
    /// When the call that is running ends.
    deadline: Instant,
}

impl Sender {
    pub(crate) fn new(plugin: &str, grants: Arc<Effective>, limits: Limits, traffic: Arc<Traffic>, tls: Tls) -> Self {
        let (plugin, refusals) = (plugin.to_owned(), Refusals::default());
        Self { plugin, grants, limits, traffic, tls, refusals, deadline: Instant::now() }
    }

    /// What was refused.
    pub(crate) fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// When the call that is running ends.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// A new call.
    pub(crate) fn next_call(&mut self) {
        self.refusals.take();
        self.deadline = Instant::now() + self.limits.deadline();
    }

    fn refuse(&self, what: String) -> Error {
        self.refusals.note(&self.plugin, what);
        Error::HttpRequestDenied
    }

    /// Everything that can be said of a request before its host is looked up.
    fn admit(&self, request: &mut Request<WasiBody>) -> Result<Target, Error> {
        let target = Target::of(request.uri())?;
        self.grants.http.check(&self.plugin, &target.host, target.port).map_err(|what| self.refuse(what))?;
        let most = self.limits.http_requests_per_minute;
        if !self.traffic.admit(most, Instant::now()) {
            let key = format!("plugins.{}.limits.http_requests_per_minute", self.plugin);
            return Err(self.refuse(format!("more than {most} HTTP requests within a minute: raise {key}")));
        }
        fill(request, &self.plugin, &self.grants.secrets).map_err(|what| self.refuse(what))?;
        Ok(target)
    }
}

impl WasiHttpHooks for Sender {
    fn send_request(
        &mut self,
        mut request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Io,
    ) -> Box<dyn Future<Output = Result<(Response<WasiBody>, Io), Error>> + Send> {
        let admitted = self.admit(&mut request);
        let (grants, refusals, plugin) = (self.grants.clone(), self.refusals.clone(), self.plugin.clone());
        let (tls, most) = (self.tls.clone(), (self.limits.http_response_mb as usize) << 20);
        let asked = options.and_then(|options| options.first_byte_timeout);
        let deadline = asked.map_or(self.deadline, |wait| self.deadline.min(Instant::now() + wait));
        let (first, last) = (tokio::time::Instant::from_std(deadline), tokio::time::Instant::from_std(self.deadline));
        Box::new(async move {
            let target = admitted?;
            let found = timeout_at(first, target.resolve()).await.map_err(|_| Error::DnsTimeout)??;
            let reachable = |address: &SocketAddr| is_public(address.ip()) || grants.http.names(address.ip());
            let Some(address) = found.into_iter().find(reachable) else {
                let key = format!("plugins.{plugin}.grants.http");
                let host = &target.host;
                let what = if grants.http.is_capped() {
                    format!("{host} is not a public address, and {key} or the operator's ceiling does not name it")
                } else {
                    format!("{host} is not a public address: if that is meant, add its address or network to {key}")
                };
                refusals.note(&plugin, what);
                return Err(Error::HttpRequestDenied);
            };
            let exchanged = timeout_at(first, exchange(&target, address, &tls, request, last)).await;
            let response = exchanged.map_err(|_| Error::ConnectionTimeout)??;
            let limit = Limit { most, plugin, refusals };
            Ok((response.map(|body| bounded(body, limit, last)), Box::new(async { Ok(()) }) as Io))
        })
    }
}

/// Where a request goes.
#[derive(Debug)]
struct Target {
    /// In lower case, an address without brackets.
    host: String,
    port: u16,
    secure: bool,
}

impl Target {
    fn of(uri: &Uri) -> Result<Self, Error> {
        let authority = uri.authority().ok_or(Error::HttpRequestUriInvalid)?;
        if authority.as_str().contains('@') {
            return Err(Error::HttpRequestUriInvalid);
        }
        let secure = uri.scheme() != Some(&http::uri::Scheme::HTTP);
        let host = authority.host().trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        let host = host.parse::<IpAddr>().map_or(host, |address| address.to_string());
        Ok(Self { host, port: authority.port_u16().unwrap_or(if secure { 443 } else { 80 }), secure })
    }

    async fn resolve(&self) -> Result<Vec<SocketAddr>, Error> {
        let found = tokio::net::lookup_host((self.host.as_str(), self.port)).await;
        let found: Vec<SocketAddr> = found.map_err(|_| Error::DnsError { rcode: None, info_code: None })?.collect();
        if found.is_empty() { Err(Error::DestinationNotFound) } else { Ok(found) }
    }
}

/// One request and the head of its answer, over a connection of its own, which ends at the deadline: a guest that is
/// writing a body nobody reads, or reading one that doesn't come, is let go then.
async fn exchange(
    target: &Target,
    address: SocketAddr,
    tls: &Tls,
    request: Request<WasiBody>,
    deadline: tokio::time::Instant,
) -> Result<Response<hyper::body::Incoming>, Error> {
    let connected = TcpStream::connect(address).await.map_err(Error::Connect)?;
    let stream: Box<dyn Stream> = match target.secure {
        false => Box::new(connected),
        true => Box::new(tls.connect(&target.host, connected).await.map_err(Error::Tls)?),
    };
    let (mut sender, connection) = http1::Builder::new().handshake(TokioIo::new(stream)).await?;
    tokio::spawn(timeout_at(deadline, connection));
    Ok(sender.send_request(in_origin_form(request)?).await?)
}

/// The request as a server takes it: the path without the host (RFC 9112, section 3.2.1).
fn in_origin_form(request: Request<WasiBody>) -> Result<Request<WasiBody>, Error> {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let path = path.parse().map_err(|_| Error::HttpRequestUriInvalid)?;
    parts.uri = path;
    if !parts.headers.contains_key(header::USER_AGENT) {
        let agent = header::HeaderValue::from_static(concat!("faucet/", env!("CARGO_PKG_VERSION")));
        parts.headers.insert(header::USER_AGENT, agent);
    }
    Ok(Request::from_parts(parts, body))
}

/// How large an answer may be, and who is told that it was larger.
struct Limit {
    /// Bytes.
    most: usize,
    plugin: String,
    refusals: Refusals,
}

/// The body of an answer, which may neither be larger than its limit nor last longer than the call.
fn bounded(body: hyper::body::Incoming, limit: Limit, deadline: tokio::time::Instant) -> WasiBody {
    let Limit { most, plugin, refusals } = limit;
    let size = Limited::new(body, most).map_err(move |error| match error.downcast::<hyper::Error>() {
        Ok(error) => Error::from(*error),
        Err(_) => {
            let key = format!("plugins.{plugin}.limits.http_response_mb");
            refusals.note(&plugin, format!("the answer is larger than {} MiB: raise {key}", most >> 20));
            Error::HttpResponseBodySize(Some(most as u64))
        }
    });
    Timed { body: Box::pin(size.boxed_unsync()), sleep: Box::pin(tokio::time::sleep_until(deadline)) }.boxed_unsync()
}

/// A body that ends with an error at a moment.
struct Timed {
    body: Pin<Box<WasiBody>>,
    sleep: Pin<Box<tokio::time::Sleep>>,
}

impl hyper::body::Body for Timed {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Error>>> {
        use std::task::Poll;
        if let Poll::Ready(frame) = self.body.as_mut().poll_frame(context) {
            return Poll::Ready(frame);
        }
        self.sleep.as_mut().poll(context).map(|()| Some(Err(Error::ConnectionReadTimeout)))
    }
}
