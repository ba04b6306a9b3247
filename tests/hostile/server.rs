//! A web server on this machine that answers as a test wants, badly too.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Longer than any call may take.
const FOR_EVER: Duration = Duration::from_secs(60);

/// What is done with a connection whose request (the first argument: its head) has come.
type Answer = dyn Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync;

/// A server that runs until the process ends.
pub struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers every request with `answer`, each on a thread of its own.
    pub fn new(answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let (answer, log): (Arc<Answer>, _) = (Arc::new(answer), seen.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, log) = (answer.clone(), log.clone());
                thread::spawn(move || serve(stream, &*answer, &log));
            }
        });
        Self { port, seen }
    }

    /// Answers with this body.
    pub fn of(body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Self::new(move |_, stream| respond(stream, &body))
    }

    /// Takes requests and never answers, nor reads a body.
    pub fn silent() -> Self {
        Self::new(|_, _| {
            thread::sleep(FOR_EVER);
            Ok(())
        })
    }

    /// Its address, as a grant names it.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The URL of a path on it, which starts with `/`.
    pub fn url(&self, path: &str) -> String {
        self.url_at("127.0.0.1", path)
    }

    /// The same for another name of this machine.
    pub fn url_at(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    /// Its port at another name of this machine, as a grant names it.
    pub fn address_at(&self, host: &str) -> String {
        format!("{host}:{}", self.port)
    }

    /// The heads of the requests so far.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// Answers 200 with a body.
pub fn respond(stream: &mut TcpStream, body: &[u8]) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len())?;
    stream.write_all(body)
}

/// Sends the client elsewhere.
pub fn redirect(stream: &mut TcpStream, to: &str) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
}

/// Sends `text` a byte at a time, with a pause between them: slower than any call may last.
pub fn drip(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    for byte in text.bytes() {
        stream.write_all(&[byte])?;
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Sends `text` over and over, until the client is gone.
pub fn endlessly(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    let many = text.repeat(1000);
    loop {
        stream.write_all(many.as_bytes())?;
    }
}

fn serve(mut stream: TcpStream, answer: &Answer, seen: &Mutex<Vec<String>>) {
    let Some(head) = head(&mut stream) else { return };
    seen.lock().unwrap().push(head.clone());
    // A client that is gone does not wait for the rest.
    let _ = answer(&head, &mut stream);
}

/// The head of a request, up to its empty line.
fn head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}
