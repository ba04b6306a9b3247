//! HTTP over TLS: who is trusted, where redirects may lead, and what a failure of the network means.

use super::Options;
use super::retry::Failure;
use crate::fault::{MALFORMED, TLS, UNAVAILABLE};
use faucet_core::error::{Error, Result};
use reqwest::redirect::{Attempt, Policy};
use rustls::RootCertStore;
use rustls::crypto::ring;
use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

/// What is said in the `User-Agent`.
const AGENT: &str = concat!("faucet/", env!("CARGO_PKG_VERSION"));

/// Redirects beyond this go in circles.
const MOST_REDIRECTS: usize = 5;

/// A registry's connections.
#[derive(Debug)]
pub(super) struct Transport {
    /// For what is only read: registries keep blobs elsewhere.
    pub(super) follow: reqwest::Client,
    /// For what carries a body. A redirect would carry it to where the registry likes, and with it a token.
    pub(super) stay: reqwest::Client,
}

/// The machine's root certificates, and ring, whatever the process has as its default.
pub(super) fn tls() -> Result<Arc<rustls::ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(&TLS, format!("TLS can't be set up: {error}")))?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}

impl Transport {
    /// `local`: the registry is this machine, which no proxy stands before.
    pub(super) fn open(options: &Options, tls: &rustls::ClientConfig, local: bool) -> Result<Self> {
        let build = |policy: Policy| {
            let builder = reqwest::Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .connect_timeout(options.connect_timeout)
                .user_agent(AGENT)
                .redirect(policy);
            let builder = if local { builder.no_proxy() } else { builder };
            builder.build().map_err(|error| Error::new(&TLS, format!("HTTP can't be set up: {}", cause(&error))))
        };
        Ok(Self { follow: build(Policy::custom(follow))?, stay: build(Policy::none())? })
    }
}

/// Never from TLS to none. The credentials stay behind when the host changes: reqwest removes them.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let secure = attempt.previous().iter().any(|url| url.scheme() == "https");
    if secure && attempt.url().scheme() != "https" {
        return attempt.error("it redirects to a place without TLS");
    }
    if attempt.previous().len() > MOST_REDIRECTS {
        return attempt.error("it redirects in circles");
    }
    attempt.follow()
}

/// What a failure below HTTP means. The URL is left out: it can hold a key to a blob.
pub(super) fn network(error: &reqwest::Error, host: &str) -> Failure {
    let why = cause(error);
    if error.is_redirect() || error.is_builder() {
        return Failure::Final(Error::new(&MALFORMED, format!("the answer of {host} can't be followed: {why}")));
    }
    if let Some(reason) = tls_reason(error) {
        let hint = "a registry without TLS needs --plain-http; another authority's certificate has to be installed";
        return Failure::Final(Error::new(&TLS, format!("no secure connection to {host}: {reason}")).hint(hint));
    }
    let hint = "check the registry's name and port, and the network";
    Failure::passing(Error::new(&UNAVAILABLE, format!("{host} can't be reached: {why}")).hint(hint))
}

/// The innermost reason.
fn cause(error: &reqwest::Error) -> String {
    let last = chain(error).last().map(|inner| inner.to_string());
    last.unwrap_or_else(|| "the connection failed".to_owned())
}

/// What TLS itself says, if it is what failed.
fn tls_reason(error: &reqwest::Error) -> Option<String> {
    chain(error).find_map(tls_error).map(|said| said.to_string())
}

/// What an I/O error wraps is not its source but stands in its place, and wraps again.
fn tls_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    match error.downcast_ref::<rustls::Error>() {
        Some(said) => Some(said),
        None => tls_error(error.downcast_ref::<io::Error>()?.get_ref()?),
    }
}

/// What is below an error; the error itself would name its URL.
fn chain<'a>(error: &'a reqwest::Error) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(error.source(), |inner: &&'a (dyn StdError + 'static)| (*inner).source())
}
