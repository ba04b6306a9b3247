//! The interface of `sdk/http/client.wit`, over `wasi:http` as the Rust SDK speaks it.

use bindings::exports::faucet::http::client::{Error, Guest, Request, Response};
use faucet_sdk::http;
use std::time::Duration;

#[allow(missing_docs)]
mod bindings {
    wit_bindgen::generate!({ path: "../../../sdk/http", world: "provider" });
}

struct Client;

impl Guest for Client {
    fn send(request: Request) -> Result<Response, Error> {
        let Request { method, url, headers, body, timeout_ms } = request;
        let outgoing = http::Request::new(method, url).body(body);
        let outgoing = headers.into_iter().fold(outgoing, |outgoing, (name, value)| outgoing.header(name, value));
        let outgoing = match timeout_ms {
            Some(milliseconds) => outgoing.timeout(Duration::from_millis(milliseconds.into())),
            None => outgoing,
        };
        let http::Response { status, headers, body } = outgoing.send().map_err(said)?;
        Ok(Response { status, headers, body })
    }
}

fn said(error: faucet_sdk::Error) -> Error {
    if error.is_unavailable() { Error::Unavailable(error.to_string()) } else { Error::Failed(error.to_string()) }
}

bindings::export!(Client with_types_in bindings);
