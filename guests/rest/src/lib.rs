//! `rest`: records of a JSON API over HTTP.
//!
//! Requests follow each other from page to page; each answer's records become a page of columns. A full read has no
//! bookmark: no API promises that page 7 is the same tomorrow. An incremental read has one after its last page, when
//! every record below it was delivered. See the README for the configuration.

mod bind;
mod config;
mod cursor;
mod fields;
mod fingerprint;
mod infer;
mod json;
mod key;
mod link;
mod pagination;
mod path;
mod plan;
mod request;
mod session;
mod water;
mod window;

use client::Wire;
pub use config::Config;
use faucet_sdk::{Batch, Bookmark, Result, Source, SourceAbilities, Wants, source};
use plan::Plan;
use session::Session;

/// A read of an API.
#[derive(Debug)]
pub struct Rest(Session<Wire>);

#[source(name = "rest")]
impl Source for Rest {
    type Config = Config;

    fn wants() -> Wants {
        // The clock is for dates in Retry-After, for the expiry of tokens and for windows.
        Wants::default().http("*").secret("*").clock()
    }

    fn check(config: &Config) -> Result<SourceAbilities> {
        Plan::new(config.clone())?;
        Ok(SourceAbilities::default())
    }

    fn open(config: Config, bookmark: Option<Bookmark>) -> Result<Self> {
        Session::new(Plan::new(config)?, Wire, bookmark.as_ref()).map(Self)
    }

    fn read(&mut self, max_bytes: usize) -> Result<Option<Batch>> {
        self.0.read(max_bytes)
    }
}
