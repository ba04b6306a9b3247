//! What a registry answers, and what it means.

use super::retry::Failure;
use crate::digest::shown;
use crate::fault::{NOT_FOUND, REFUSED, UNAUTHORIZED, UNAVAILABLE};
use faucet_core::error::Error;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde::Deserialize;
use std::time::Duration;

/// More than this of an error's body is not read.
pub(super) const LARGEST_ERROR: u64 = 64 << 10;

/// The error format of the distribution specification.
#[derive(Deserialize)]
struct Envelope {
    errors: Vec<Said>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// What an answer other than success means. `secrets` are texts that the registry knows and must not put into an error.
pub(super) fn judge(status: StatusCode, headers: &HeaderMap, body: &[u8], what: &str, secrets: &[&str]) -> Failure {
    let code = match status.as_u16() {
        408 | 429 | 500 | 502..=504 => &UNAVAILABLE,
        401 | 403 => &UNAUTHORIZED,
        404 => &NOT_FOUND,
        _ => &REFUSED,
    };
    let words = words(body).filter(|words| !secrets.iter().any(|secret| words.contains(secret)));
    let words = words.map_or_else(String::new, |words| format!(" ({words})"));
    let error = Error::new(code, format!("{what}: the registry answers {}{words}", status.as_u16()));
    if std::ptr::eq(code, &UNAVAILABLE) {
        return Failure::Passing { error, after: wanted_pause(headers) };
    }
    Failure::Final(error)
}

/// What the registry says, in one line.
fn words(body: &[u8]) -> Option<String> {
    let envelope: Envelope = serde_json::from_slice(body).ok()?;
    let each = |said: &Said| match (said.code.as_str(), said.message.as_str()) {
        (text, "") | ("", text) => shown(text),
        (code, message) => format!("{}: {}", shown(code), shown(message)),
    };
    let words = envelope.errors.iter().take(3).map(each).collect::<Vec<_>>().join("; ");
    Some(words).filter(|words| !words.is_empty())
}

/// `Retry-After` in seconds. As a date it is not honoured: clocks differ, and the usual pauses grow anyway.
fn wanted_pause(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn judged(status: u16, body: &str, secrets: &[&str]) -> (bool, Error) {
        let status = StatusCode::from_u16(status).unwrap();
        match judge(status, &HeaderMap::new(), body.as_bytes(), "mask:1", secrets) {
            Failure::Passing { error, .. } => (true, error),
            Failure::Final(error) => (false, error),
        }
    }

    #[test]
    fn what_may_pass_is_told_from_what_will_not() {
        let cases = [
            (429, true, "registry.unavailable"),
            (503, true, "registry.unavailable"),
            (500, true, "registry.unavailable"),
            (501, false, "registry.refused"),
            (401, false, "registry.unauthorized"),
            (403, false, "registry.unauthorized"),
            (404, false, "registry.not_found"),
            (405, false, "registry.refused"),
            (307, false, "registry.refused"),
        ];
        for (status, passes, id) in cases {
            let (passing, error) = judged(status, "", &[]);
            assert_eq!((passing, error.code().id), (passes, id), "{status}");
        }
    }

    #[test]
    fn the_registry_may_speak_but_not_of_secrets() {
        let body = r#"{"errors":[{"code":"DENIED","message":"no s3cret\u001b[2J"},{"code":"X"}]}"#;
        assert_eq!(judged(403, body, &[]).1.to_string(), "mask:1: the registry answers 403 (DENIED: no s3cret[2J; X)");
        assert_eq!(judged(403, body, &["s3cret"]).1.to_string(), "mask:1: the registry answers 403");
        assert_eq!(judged(403, "<html>", &[]).1.to_string(), "mask:1: the registry answers 403");
    }

    #[test]
    fn a_wanted_pause_is_read() {
        let mut headers = HeaderMap::new();
        for (value, pause) in [("7", Some(7)), (" 7 ", Some(7)), ("-1", None), ("Wed, 21 Oct 2015 07:28:00 GMT", None)]
        {
            headers.insert(RETRY_AFTER, value.parse().unwrap());
            assert_eq!(wanted_pause(&headers), pause.map(Duration::from_secs), "{value}");
        }
    }
}
