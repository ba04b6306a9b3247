//! HTTP requests, through the host: only to hosts that the component [asks for](crate::Wants::http) and is granted.
//!
//! Secrets never reach the component. Where a header or the path says `${secret:NAME}`, the host puts the value.
//!
//! ```no_run
//! # fn main() -> faucet_sdk::Result<()> {
//! use faucet_sdk::http::Request;
//! let response = Request::get("https://api.example.com/orders?limit=10")
//!     .header("authorization", "Bearer ${secret:api_key}")
//!     .send()?;
//! let orders = response.ok()?.json()?;
//! # let _ = orders; Ok(()) }
//! ```

use crate::{Error, Result};
use serde_json::Value;
use std::time::Duration;

/// A request in the making.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    timeout: Option<Duration>,
}

impl Request {
    /// A request with this method and absolute URL (`http` or `https`).
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self { method: method.into(), url: url.into(), headers: Vec::new(), body: Vec::new(), timeout: None }
    }

    /// A GET request.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    /// A POST request.
    pub fn post(url: impl Into<String>) -> Self {
        Self::new("POST", url)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets a JSON body and its content type.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    /// How long to wait for the answer. The host may wait less.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sends the request and reads the whole answer, whatever its status. Redirects are not followed.
    ///
    /// # Errors
    /// [`Error::unavailable`] if there is no answer; [`Error::new`] if the host may not be reached or the request is
    /// malformed.
    pub fn send(self) -> Result<Response> {
        wire::send(self)
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The status, such as 200.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Vec<u8>,
}

impl Response {
    /// The first header of this name (in lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The answer, if its status is 2xx.
    ///
    /// # Errors
    /// [`Error::unavailable`] for 408, 429 and 5xx, else [`Error::new`]; the body is not part of the message.
    pub fn ok(self) -> Result<Self> {
        match self.status {
            200..=299 => Ok(self),
            408 | 429 | 500..=599 => Err(Error::unavailable(format!("the server answered {}", self.status))),
            status => Err(Error::new(format!("the server answered {status}"))),
        }
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// If it is none.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            Error::new(format!("the answer is no JSON (line {line}, column {column})"))
        })
    }
}

#[cfg(not(target_family = "wasm"))]
mod wire {
    use super::{Request, Response};
    use crate::{Error, Result};

    pub(super) fn send(_: Request) -> Result<Response> {
        Err(Error::unsupported("there is no network in a native test: run the component with `faucet plugin test`"))
    }
}

#[cfg(target_family = "wasm")]
mod wire {
    //! Over `wasi:http` (<https://github.com/WebAssembly/wasi-http>).

    use super::{Request, Response};
    use crate::{Error, Result};
    use wasip2::http::outgoing_handler;
    use wasip2::http::types::{
        ErrorCode, Fields, IncomingBody, IncomingResponse, Method, OutgoingBody, OutgoingRequest, RequestOptions,
        Scheme, http_error_code,
    };
    use wasip2::io::streams::StreamError;

    /// Bytes that are read and written at once. A stream takes 4096 in a blocking write.
    const CHUNK: usize = 4096;

    pub(super) fn send(request: Request) -> Result<Response> {
        let timeout = request.timeout;
        let (outgoing, body) = outgoing(request)?;
        let options = timeout.map(|timeout| {
            let options = RequestOptions::new();
            let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
            // A host that knows no such timeout has its own.
            let _ = options.set_first_byte_timeout(Some(nanoseconds));
            options
        });
        let sink = outgoing.body().map_err(|()| Error::new("the request's body was taken"))?;
        let answer = outgoing_handler::handle(outgoing, options).map_err(refused)?;
        write(sink, &body)?;
        answer.subscribe().block();
        let ready = answer.get().ok_or("the answer is not ready")?;
        let incoming = ready.map_err(|()| Error::new("the answer was taken"))?.map_err(refused)?;
        read(&incoming)
    }

    fn outgoing(request: Request) -> Result<(OutgoingRequest, Vec<u8>)> {
        let (scheme, rest) = match request.url.split_once("://") {
            Some(("https", rest)) => (Scheme::Https, rest),
            Some(("http", rest)) => (Scheme::Http, rest),
            Some(_) | None => return Err(Error::new("a URL starts with http:// or https://")),
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let headers: Vec<(String, Vec<u8>)> =
            request.headers.into_iter().map(|(name, value)| (name.to_lowercase(), value.into_bytes())).collect();
        let headers = Fields::from_list(&headers).map_err(|_| Error::new("a header of the request is not allowed"))?;
        let outgoing = OutgoingRequest::new(headers);
        let malformed = |part: &str| Error::new(format!("the request's {part} is malformed"));
        outgoing.set_method(&method(request.method)).map_err(|()| malformed("method"))?;
        outgoing.set_scheme(Some(&scheme)).map_err(|()| malformed("scheme"))?;
        outgoing.set_authority(Some(authority)).map_err(|()| malformed("host"))?;
        outgoing.set_path_with_query(Some(&path)).map_err(|()| malformed("path"))?;
        Ok((outgoing, request.body))
    }

    fn method(name: String) -> Method {
        match name.as_str() {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            "PUT" => Method::Put,
            "DELETE" => Method::Delete,
            "PATCH" => Method::Patch,
            "OPTIONS" => Method::Options,
            _ => Method::Other(name),
        }
    }

    fn write(sink: OutgoingBody, body: &[u8]) -> Result<()> {
        let cut = |_| Error::unavailable("the connection ended while the request was sent");
        let stream = sink.write().map_err(|()| Error::new("the request's body was taken"))?;
        for chunk in body.chunks(CHUNK) {
            stream.blocking_write_and_flush(chunk).map_err(cut)?;
        }
        drop(stream);
        OutgoingBody::finish(sink, None).map_err(refused)
    }

    fn read(incoming: &IncomingResponse) -> Result<Response> {
        let status = incoming.status();
        let headers = incoming.headers().entries().into_iter();
        let headers = headers.map(|(name, value)| (name.to_lowercase(), String::from_utf8_lossy(&value).into_owned()));
        let headers = headers.collect();
        let taken = |()| Error::new("the answer's body was taken");
        let source = incoming.consume().map_err(taken)?;
        let stream = source.stream().map_err(taken)?;
        let mut body = Vec::new();
        loop {
            match stream.blocking_read(64 * 1024) {
                Ok(bytes) => body.extend_from_slice(&bytes),
                Err(StreamError::Closed) => break,
                Err(StreamError::LastOperationFailed(error)) => {
                    let cut = || Error::unavailable("the answer was cut off");
                    return Err(http_error_code(&error).map_or_else(cut, refused));
                }
            }
        }
        drop(stream);
        drop(IncomingBody::finish(source));
        Ok(Response { status, headers, body })
    }

    /// What the host says instead of an answer.
    fn refused(error: ErrorCode) -> Error {
        match error {
            ErrorCode::HttpRequestDenied | ErrorCode::DestinationIpProhibited => {
                Error::new("the request is not allowed: the host's log says why")
            }
            ErrorCode::HttpResponseBodySize(_) => Error::new("the answer is larger than the host allows"),
            ErrorCode::HttpRequestBodySize(_) => Error::new("the request's body is not of the announced size"),
            ErrorCode::HttpRequestUriInvalid => Error::new("the request's URL is malformed"),
            ErrorCode::InternalError(Some(why)) => Error::unavailable(why),
            other => Error::unavailable(format!("no answer: {other}")),
        }
    }
}
