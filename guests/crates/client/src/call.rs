//! A request that can be sent again, and what sends it.

use faucet_sdk::http::{Request, Response};
use faucet_sdk::{Error, Result};
use std::time::Duration;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Call {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// An absolute URL.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Option<Vec<u8>>,
}

/// What sends requests: the host, or a script in a test.
pub trait Transport {
    /// Sends one request and reads the whole answer, whatever its status.
    ///
    /// # Errors
    /// [`Error::unavailable`] if there is no answer; another if there never will be.
    fn send(&mut self, call: &Call, timeout: Duration) -> Result<Response>;
}

/// The network, through the host.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wire;

impl Transport for Wire {
    fn send(&mut self, call: &Call, timeout: Duration) -> Result<Response> {
        let mut request = Request::new(&call.method, &call.url).timeout(timeout);
        for (name, value) in &call.headers {
            request = request.header(name, value);
        }
        if let Some(body) = &call.body {
            request = request.body(body.clone());
        }
        request.send()
    }
}

/// Text from a server, if the host would not take it for a secret's placeholder.
///
/// The host puts a secret wherever a header or a URL says `${secret:NAME}`, so a server that could place such text there
/// would be sent a secret that is not meant for it.
///
/// # Errors
/// If it would.
pub fn inert(text: &str) -> Result<&str> {
    let percent = text.contains('%').then(|| text.to_ascii_lowercase().replace("%24", "$").replace("%7b", "{"));
    if percent.as_deref().unwrap_or(text).contains("${") {
        return Err(Error::new("the server sent text with a placeholder for a secret, which is not sent back"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_a_server_are_refused() {
        for text in ["${secret:a}", "/x?y=%24%7Bsecret:a}", "a$%7bbasic:x:y}"] {
            assert!(inert(text).is_err(), "{text}");
        }
        for text in ["", "100%", "$5 {a}", "/x?y=%24z"] {
            assert_eq!(inert(text), Ok(text));
        }
    }
}
