//! A source that does one thing wrong; the configuration says which.

mod changes;
mod pages;
mod trouble;

use faucet_sdk::bindings::faucet::connector::types::Error;
use faucet_sdk::bindings::source::exports::faucet::connector::sources::{
    Batch, Bookmark, Boundary, Capabilities, Description, Discovered, Guest, GuestSession, Session, SourcePage,
};
use faucet_sdk::serde_json::{Value, from_str};
use faucet_sdk::{Wants, count};
use std::cell::Cell;

/// Hosts that it asks for. Nothing is there.
const ASKED: [&str; 2] = ["asked.invalid:443", "also.invalid:443"];

struct HostileSource {
    mode: String,
    calls: Cell<u32>,
}

impl Guest for HostileSource {
    type Session = HostileSource;

    fn describe() -> Description {
        Description {
            name: "hostile_source".into(),
            version: "0.1.0".into(),
            summary: "Does one thing wrong".into(),
            config_schema: r#"{ "type": "object", "properties": { "mode": { "type": "string" } } }"#.into(),
            wants: Wants::default().http(ASKED[0]).http(ASKED[1]).write("/count").clock().into(),
        }
    }

    fn check(config: String) -> Result<Capabilities, Error> {
        count("checks", 1);
        let mode = mode(&config)?;
        match mode.as_str() {
            "check-http" => drop(trouble::request(&format!("https://{}/", ASKED[0]))?),
            "check-file" => drop(trouble::tries()?),
            "check-panic" => panic!("no configuration pleases me"),
            "check-loop" => trouble::endless_loop(),
            _ => {}
        }
        let changes = mode.starts_with("change-") && mode != "change-unclaimed" || mode == "rows-for-changes";
        Ok(Capabilities { changes, capture: true, replayable: true })
    }

    fn discover(config: String) -> Result<Vec<Discovered>, Error> {
        if mode(&config)? == "discover-panic" {
            panic!("nothing to discover");
        }
        Ok(vec![Discovered { table: pages::table("orders"), key: vec!["id".into()] }])
    }

    fn capture(config: String) -> Result<Bookmark, Error> {
        match mode(&config)?.as_str() {
            "capture-loop" => trouble::endless_loop(),
            "capture-unsupported" => Err(Error::Unsupported("I have no place to stand".into())),
            _ => Ok(bookmark(0)),
        }
    }

    fn open(config: String, at: Option<Bookmark>) -> Result<Session, Error> {
        let mode = mode(&config)?;
        match mode.as_str() {
            "open-panic" => panic!("this is no place to begin"),
            "open-loop" => trouble::endless_loop(),
            "open-unavailable" => return Err(Error::Unavailable("the other end sleeps".into())),
            _ => {}
        }
        let calls = Cell::new(at.map_or(0, |at| at.state.len() as u32));
        Ok(Session::new(HostileSource { mode, calls }))
    }
}

fn mode(config: &str) -> Result<String, Error> {
    let config: Value = from_str(config).map_err(|_| Error::Failed("the configuration is no JSON".into()))?;
    config["mode"].as_str().map(str::to_owned).ok_or_else(|| Error::Failed("the configuration names no mode".into()))
}

/// The bookmark after so many batches. Its state is one byte a batch.
fn bookmark(batches: u32) -> Bookmark {
    Bookmark { position: u64::from(batches).to_be_bytes().to_vec(), state: vec![b'.'; batches as usize] }
}

fn commit(pages: Vec<SourcePage>, at: Option<Bookmark>) -> Batch {
    Batch { pages, boundary: Boundary::Commit(at), wait_ms: 0 }
}

impl GuestSession for HostileSource {
    fn read(&self, _: u32) -> Result<Option<Batch>, Error> {
        let call = self.calls.replace(self.calls.get() + 1);
        let honest = |page| commit(vec![page], Some(bookmark(call + 1)));
        let batch = match self.mode.as_str() {
            "good" if call == 3 => return Ok(None),
            "slow" if call == 3 => return Ok(None),
            "slow" => honest(trouble::after_a_pause(call)?),
            "good" | "confirm-panic" => honest(pages::good()),
            "endless-empty" => commit(Vec::new(), None),
            "endless-inside" => Batch { pages: Vec::new(), boundary: Boundary::Inside, wait_ms: 0 },
            "ends-inside" if call == 1 => return Ok(None),
            "ends-inside" => Batch { pages: vec![pages::good()], boundary: Boundary::Inside, wait_ms: 0 },
            "endless-pause" => Batch { wait_ms: u32::MAX, ..commit(Vec::new(), Some(bookmark(call))) },
            "bookmark-none" => commit(vec![pages::good()], None),
            "bookmark-none-inside" if call == 0 => {
                Batch { pages: vec![pages::good()], boundary: Boundary::Inside, wait_ms: 0 }
            }
            "bookmark-none-inside" => commit(Vec::new(), None),
            "bookmark-back" => commit(vec![pages::good()], Some(bookmark(9 - call))),
            "bookmark-hidden" => commit(vec![pages::good()], Some(hidden(call))),
            "bookmark-huge" => commit(Vec::new(), Some(Bookmark { position: vec![1], state: vec![0xff; 32 << 20] })),
            "schema-changes" if call == 4 => return Ok(None),
            "schema-changes" => honest(pages::changing(call)),
            "change-ends" if call == 2 => return Ok(None),
            mode if mode.starts_with("change-") => honest(changes::tell(mode, call)),
            mode if mode.starts_with("use-") => return trouble::consume(mode, call),
            mode => honest(pages::tell(mode)),
        };
        Ok(Some(batch))
    }

    fn confirm(&self, at: Bookmark) -> Result<(), Error> {
        match self.mode.as_str() {
            "confirm-panic" => panic!("nothing is ever durable"),
            "slow" => trouble::note(&format!("confirm {}", at.state.len())),
            _ => Ok(()),
        }
    }
}

/// Goes back, behind a bookmark that claims to have no order.
fn hidden(call: u32) -> Bookmark {
    match call {
        0 => bookmark(9),
        1 => Bookmark { position: Vec::new(), ..bookmark(0) },
        _ => bookmark(1),
    }
}

faucet_sdk::bindings::source::export_source!(HostileSource with_types_in faucet_sdk::bindings::source);
