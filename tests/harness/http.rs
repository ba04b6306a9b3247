//! An HTTP server that answers by a script, faults included.
//!
//! Each connection carries one request. Replies are made by a function that is told how many requests came before.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A request that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// `GET` and so on.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body, put together if it came in chunks.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// The header of this name (in lower case), or nothing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The value of a query parameter as it was written, or nothing.
    pub fn parameter(&self, name: &str) -> &str {
        let pairs = self.path.split(['?', '&']).skip(1).filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }
}

/// What a request is answered with.
#[derive(Debug, Clone)]
pub struct HttpReply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    fault: Fault,
}

/// How a reply goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The connection ends after so many bytes of the body.
    Cut(usize),
    /// A pause follows each byte of the body.
    Drip(Duration),
    /// The connection ends without an answer.
    Hangup,
}

impl HttpReply {
    /// A JSON document with this status.
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::text(status, "application/json", &body.to_string())
    }

    /// Text of any kind.
    pub fn text(status: u16, kind: &str, body: &str) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status, headers, body: body.as_bytes().to_vec(), fault: Fault::None }
    }

    /// A status and nothing else.
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), fault: Fault::None }
    }

    /// No answer: the connection ends.
    pub fn hangup() -> Self {
        Self { fault: Fault::Hangup, ..Self::status(200) }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Ends the connection after so many bytes of the body.
    #[must_use]
    pub fn cut(mut self, after: usize) -> Self {
        self.fault = Fault::Cut(after);
        self
    }

    /// Pauses after each byte of the body.
    #[must_use]
    pub fn drip(mut self, pause: Duration) -> Self {
        self.fault = Fault::Drip(pause);
        self
    }

    fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        if self.fault == Fault::Hangup {
            return stream.shutdown(Shutdown::Both);
        }
        let mut head =
            format!("HTTP/1.1 {} x\r\ncontent-length: {}\r\nconnection: close\r\n", self.status, self.body.len());
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        match self.fault {
            Fault::None | Fault::Hangup => stream.write_all(&self.body),
            Fault::Cut(after) => {
                stream.write_all(&self.body[..after.min(self.body.len())])?;
                stream.shutdown(Shutdown::Both)
            }
            Fault::Drip(pause) => self.body.iter().try_for_each(|byte| {
                stream.write_all(&[*byte])?;
                std::thread::sleep(pause);
                Ok(())
            }),
        }
    }
}

type Script = dyn Fn(usize, &HttpRequest) -> HttpReply + Send + Sync;

/// A running server on loopback. Takes no further request after it was dropped.
#[derive(Debug)]
pub struct HttpServer {
    port: u16,
    requests: Arc<Mutex<Vec<HttpRequest>>>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl HttpServer {
    /// Starts a server. `answer` gets the number of requests that came before, and the request.
    pub fn start(answer: impl Fn(usize, &HttpRequest) -> HttpReply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port can be bound");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let (requests, stopped) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let (seen, ends) = (Arc::clone(&requests), stopped.clone());
        let script: Arc<Script> = Arc::new(answer);
        let thread = std::thread::spawn(move || accept(&listener, &script, &seen, &ends));
        Self { port, requests, stopped, thread: Some(thread) }
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of a path on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Release);
        // Wakes the thread that waits for a connection.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn accept(listener: &TcpListener, script: &Arc<Script>, seen: &Arc<Mutex<Vec<HttpRequest>>>, stopped: &AtomicBool) {
    for stream in listener.incoming().map_while(Result::ok) {
        if stopped.load(Ordering::Acquire) {
            return;
        }
        let (script, seen) = (script.clone(), seen.clone());
        // A client that goes away in the middle is none of the server's business.
        std::thread::spawn(move || drop(serve(stream, &script, &seen)));
    }
}

fn serve(mut stream: TcpStream, script: &Arc<Script>, seen: &Mutex<Vec<HttpRequest>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let request = read(&mut BufReader::new(stream.try_clone()?))?;
    let before = {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(request.clone());
        seen.len() - 1
    };
    script(before, &request).write(&mut stream)
}

fn read(from: &mut impl BufRead) -> io::Result<HttpRequest> {
    let first = line(from)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let mut headers = Vec::new();
    loop {
        let line = line(from)?;
        match line.split_once(':') {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let mut request = HttpRequest { method, path, headers, body: Vec::new() };
    request.body = body(from, &request)?;
    Ok(request)
}

fn body(from: &mut impl BufRead, request: &HttpRequest) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if request.header("transfer-encoding") != "chunked" {
        let length = request.header("content-length").parse().unwrap_or(0);
        from.take(length).read_to_end(&mut body)?;
        return Ok(body);
    }
    loop {
        let size = u64::from_str_radix(line(from)?.trim(), 16).map_err(io::Error::other)?;
        from.take(size).read_to_end(&mut body)?;
        line(from)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    match from.read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end().to_owned()),
    }
}
