//! HTTP by hand, so that what faucet's own client gets wrong is not wrong here too.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// An answer.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("it is JSON")
    }
}

/// One request on a connection of its own.
pub fn call(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the registry listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout can be set");
    let mut head = format!("{method} {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {}\r\n", body.len());
    headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    head.push_str("\r\n");
    stream.write_all(&[head.as_bytes(), body].concat()).expect("the registry reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("the registry answers");
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("an answer has a head");
    let (status, headers) = head_of(&answer[..end]);
    Answer { status, headers, body: answer[end + 4..].to_vec() }
}

fn head_of(head: &[u8]) -> (u16, Vec<(String, String)>) {
    let text = String::from_utf8_lossy(head).into_owned();
    let mut lines = text.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
    let headers = lines.filter_map(|line| line.split_once(": ")).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    (status, headers)
}
