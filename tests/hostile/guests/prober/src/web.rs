//! HTTP requests.

use crate::{number, text};
use faucet_sdk::bindings::faucet::connector::types::Error;
use faucet_sdk::http::{Request, Response};
use faucet_sdk::serde_json::Value;
use std::time::Duration;

/// Hops that are followed at most.
const HOPS: u32 = 5;

/// What the server said, or why it said nothing.
pub fn probe(what: &str, config: &Value) -> Result<String, Error> {
    match what {
        "get" => Ok(shown(&request("GET", config).send()?)),
        "get-quietly" => Ok(request("GET", config).send().map_or_else(|error| error.to_string(), |r| shown(&r))),
        "size" => Ok(request("GET", config).send()?.body.len().to_string()),
        "post" => Ok(shown(&request("POST", config).body(vec![b'x'; number(config, "bytes") as usize]).send()?)),
        "follow" => follow(config),
        "flood" => Ok(flood(config)),
        _ => Err(Error::Failed(format!("there is no {what}"))),
    }
}

fn request(method: &str, config: &Value) -> Request {
    let mut request = Request::new(method, text(config, "url"));
    for (name, value) in config["headers"].as_object().into_iter().flatten() {
        request = request.header(name, value.as_str().unwrap_or_default());
    }
    match number(config, "timeout_ms") {
        0 => request,
        wait => request.timeout(Duration::from_millis(wait)),
    }
}

/// Status, headers and body, in lines.
fn shown(response: &Response) -> String {
    let headers: Vec<String> = response.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    format!("{}\n{}\n\n{}", response.status, headers.join("\n"), String::from_utf8_lossy(&response.body))
}

/// Goes where redirects lead.
fn follow(config: &Value) -> Result<String, Error> {
    let mut response = request("GET", config).send()?;
    for _ in 0..HOPS {
        let Some(next) = response.header("location").map(str::to_owned) else { break };
        response = Request::get(next).send()?;
    }
    Ok(shown(&response))
}

/// Sends `count` requests: how many were answered, and what became of the others.
fn flood(config: &Value) -> String {
    let mut answered = 0;
    let mut refused = String::new();
    for _ in 0..number(config, "count") {
        match request("GET", config).send() {
            Ok(_) => answered += 1,
            Err(error) => refused = error.to_string(),
        }
    }
    format!("{answered} {refused}")
}
