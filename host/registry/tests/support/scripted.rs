//! A server that answers each request as a test tells it to, however wrong that is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What was asked.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// How many requests for this path came before.
    pub before: usize,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// What to do about it.
pub enum Reply {
    /// Send these bytes and close the connection.
    Bytes(Vec<u8>),
    /// Send these bytes, then nothing, and leave the connection open.
    Hang(Vec<u8>),
    /// Send these bytes, then one more each time.
    Trickle(Vec<u8>, Duration),
    /// Send these bytes, then zeros without end.
    Endless(Vec<u8>),
}

/// An answer with a status, headers and a body that is as long as it says.
pub fn answer(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Reply {
    let length = body.as_ref().len().to_string();
    let mut head = head(status, headers);
    head.truncate(head.len() - 2);
    Reply::Bytes([head.as_slice(), format!("Content-Length: {length}\r\n\r\n").as_bytes(), body.as_ref()].concat())
}

/// The start of an answer.
pub fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} x\r\nConnection: close\r\n");
    headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
    text.push_str("\r\n");
    text.into_bytes()
}

pub struct Scripted {
    pub port: u16,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Scripted {
    /// `script` is given each request and the port of the server.
    pub fn start(script: impl Fn(&Request, u16) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (script, noted) = (Arc::new(script), Arc::clone(&seen));
        // The thread ends with the process; it holds nothing but its port.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, noted) = (Arc::clone(&script), Arc::clone(&noted));
                std::thread::spawn(move || serve(stream, |request| script(request, port), &noted));
            }
        });
        Self { port, seen }
    }

    pub fn name(&self, below: &str) -> String {
        format!("127.0.0.1:{}/{below}", self.port)
    }

    /// What was asked so far.
    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().expect("no test thread panicked").clone()
    }

    /// How often something below this path was asked for.
    pub fn count(&self, piece: &str) -> usize {
        self.seen().iter().filter(|request| request.path.contains(piece)).count()
    }
}

fn serve(mut stream: TcpStream, script: impl Fn(&Request) -> Reply, noted: &Mutex<Vec<Request>>) {
    let Some(mut request) = read(&stream) else { return };
    {
        let mut noted = noted.lock().expect("no test thread panicked");
        request.before = noted.iter().filter(|earlier| earlier.path == request.path).count();
        noted.push(request.clone());
    }
    match script(&request) {
        Reply::Bytes(bytes) => drop(stream.write_all(&bytes)),
        Reply::Hang(bytes) => {
            let _ = stream.write_all(&bytes);
            std::thread::sleep(Duration::from_secs(30));
        }
        Reply::Trickle(bytes, pause) => {
            let mut going = stream.write_all(&bytes).is_ok();
            while going {
                std::thread::sleep(pause);
                going = stream.write_all(b"x").is_ok();
            }
        }
        Reply::Endless(bytes) => {
            let mut going = stream.write_all(&bytes).is_ok();
            while going {
                going = stream.write_all(&[0; 4096]).is_ok();
            }
        }
    }
}

/// The first byte of TLS, which says nothing that ends with a line.
const TLS: u8 = 0x16;

fn read(mut stream: &TcpStream) -> Option<Request> {
    let mut first = [0];
    if stream.peek(&mut first).is_ok() && first[0] == TLS {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        return None;
    }
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let mut request = Request { method, path, headers, body: Vec::new(), before: 0 };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}
