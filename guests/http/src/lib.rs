//! `http`: sends rows as JSON to an HTTP endpoint, in batches.
//!
//! At least once: a batch whose answer was lost is sent again. With an idempotency header the server can tell. See the
//! README for the configuration.

mod batch;
mod config;
mod row;
mod session;

use client::{Wire, origin};
pub use config::{Config, OnRefused};
use faucet_sdk::{Error, Page, Rejected, Result, Sink, SinkAbilities, Wants, sink};
use session::Session;

/// A destination.
#[derive(Debug)]
pub struct Http(Session<Wire>);

#[sink(name = "http")]
impl Sink for Http {
    type Config = Config;

    fn wants() -> Wants {
        // The clock is for pauses, for dates in Retry-After and for the expiry of tokens.
        Wants::default().http("*").secret("*").clock()
    }

    fn check(config: &Config) -> Result<SinkAbilities> {
        check(config)?;
        let rejects = config.on_refused == OnRefused::Split;
        Ok(SinkAbilities { evolves: true, rejects, ..SinkAbilities::default() })
    }

    fn open(config: Config, pipeline: &str) -> Result<Self> {
        check(&config)?;
        Ok(Self(Session::new(config, pipeline, Wire)))
    }

    fn write(&mut self, page: Page<'_>) -> Result<Vec<Rejected>> {
        self.0.write(page)
    }

    fn commit(&mut self, _token: Option<(&str, &str)>) -> Result<()> {
        self.0.commit()
    }

    fn finish(&mut self) -> Result<()> {
        self.0.commit()
    }
}

/// What the types of a configuration don't say.
fn check(config: &Config) -> Result<()> {
    let origin = origin(&config.url).map_err(|error| Error::config("url", error.to_string()))?;
    if origin.contains("{table}") {
        return Err(Error::config("url", "takes `{table}` in its path only"));
    }
    if config.url.contains("${secret:") || config.url.contains("${basic:") {
        return Err(Error::config("url", "holds a secret: use `auth`, which puts it into a header or the query"));
    }
    let at_least_one = [
        ("batch_size", config.batch_size),
        ("batch_bytes", config.batch_bytes),
        ("timeout_seconds", config.timeout_seconds),
    ];
    if let Some((name, _)) = at_least_one.iter().find(|(_, value)| *value == 0) {
        return Err(Error::config(*name, "must be at least 1"));
    }
    if config.idempotency_header.as_deref() == Some("") {
        return Err(Error::config("idempotency_header", "names no header"));
    }
    config.auth.as_ref().map_or(Ok(()), client::Auth::check)
}
