//! A sink that does one thing wrong; the configuration says which.

use faucet_sdk::Wants;
use faucet_sdk::bindings::faucet::connector::types::{Error, Page, Reject};
use faucet_sdk::bindings::sink::exports::faucet::connector::sinks::{
    Capabilities, Description, Guest, GuestSession, Session, WriteMode,
};
use faucet_sdk::serde_json::{Value, from_str};
use std::hint::black_box;

struct HostileSink {
    mode: String,
}

impl Guest for HostileSink {
    type Session = HostileSink;

    fn describe() -> Description {
        Description {
            name: "hostile_sink".into(),
            version: "0.1.0".into(),
            summary: "Does one thing wrong".into(),
            config_schema: r#"{ "type": "object", "properties": { "mode": { "type": "string" } } }"#.into(),
            wants: Wants::default().write("/count").into(),
        }
    }

    fn check(config: String) -> Result<Capabilities, Error> {
        let mode = mode(&config)?;
        if mode == "check-panic" {
            panic!("no configuration pleases me");
        }
        let overwrites = mode.starts_with("overwrite-");
        let writes = if overwrites { WriteMode::Overwrite } else { WriteMode::Append };
        Ok(Capabilities {
            mode: writes,
            modes: vec![writes],
            key: if mode == "key-missing" { vec!["nowhere".into()] } else { Vec::new() },
            delete_marker: (mode == "marker-missing").then(|| "nowhere".into()),
            transactional: true,
            tokens: mode.starts_with("token-"),
            evolves: true,
            rejects: mode.starts_with("reject-") && mode != "reject-unclaimed",
            parallel: mode == "parallel",
        })
    }

    fn open(config: String, _: String) -> Result<Session, Error> {
        let mode = mode(&config)?;
        match mode.as_str() {
            "open-panic" => panic!("there is no room"),
            "open-loop" => endless_loop(),
            "open-unavailable" => return Err(Error::Unavailable("the other end sleeps".into())),
            _ => {}
        }
        Ok(Session::new(HostileSink { mode }))
    }
}

fn mode(config: &str) -> Result<String, Error> {
    let config: Value = from_str(config).map_err(|_| Error::Failed("the configuration is no JSON".into()))?;
    config["mode"].as_str().map(str::to_owned).ok_or_else(|| Error::Failed("the configuration names no mode".into()))
}

fn endless_loop() -> ! {
    let mut n = 0_u64;
    loop {
        n = black_box(n.wrapping_add(1));
    }
}

impl GuestSession for HostileSink {
    fn last_token(&self, _: String) -> Result<Option<String>, Error> {
        match self.mode.as_str() {
            "token-garbage" => Ok(Some("hello".into())),
            "token-huge" => Ok(Some("1".repeat(32 << 20))),
            "token-foreign" => Ok(Some(format!("{:020}:{{\"lsn\":5}}", 7))),
            "token-greatest" => Ok(Some(format!("{}:{{\"position\":\"\",\"state\":\"\"}}", u64::MAX))),
            "token-panic" => panic!("I keep no tokens"),
            "token-failed" => Err(Error::Failed("I have forgotten".into())),
            _ => Ok(None),
        }
    }

    fn write(&self, pages: Vec<Page>) -> Result<Vec<Reject>, Error> {
        let rows: u32 = pages.iter().map(|page| page.rows).sum();
        let reject = |row, reason: &str| Reject { row, reason: reason.into() };
        match self.mode.as_str() {
            "write-panic" => panic!("I was not made for table {}", pages[0].table.name),
            "write-loop" => endless_loop(),
            "write-exit" => std::process::exit(7),
            "write-failed" => Err(Error::Failed("these rows do not please me".into())),
            "write-unavailable" => unavailable_twice(),
            "reject-first" | "reject-unclaimed" => Ok(vec![reject(0, "I do not like it")]),
            "reject-range" => Ok(vec![reject(rows, "I do not like it")]),
            "reject-twice" => Ok(vec![reject(0, "I do not like it"), reject(0, "really not")]),
            "reject-many" => Ok(vec![reject(0, "again"); 100_000]),
            "reject-long" => Ok(vec![reject(0, &"long ".repeat(100_000))]),
            _ => Ok(Vec::new()),
        }
    }

    fn commit(&self, _: Option<(String, String)>) -> Result<(), Error> {
        match self.mode.as_str() {
            "commit-panic" => panic!("nothing is ever durable"),
            "commit-loop" => endless_loop(),
            "commit-failed" => Err(Error::Failed("the disk is full".into())),
            _ => Ok(()),
        }
    }

    fn finish(&self) -> Result<(), Error> {
        match self.mode.as_str() {
            "finish-panic" | "overwrite-panic" => panic!("it never ends"),
            "finish-failed" => Err(Error::Failed("it is not over".into())),
            _ => Ok(()),
        }
    }
}

/// Takes the rows at the third try. What is tried again is another instance, so the tries are counted in a file.
fn unavailable_twice() -> Result<Vec<Reject>, Error> {
    let so_far = std::fs::read_to_string("/count/tries").unwrap_or_default() + ".";
    std::fs::write("/count/tries", &so_far).map_err(|error| Error::Failed(format!("/count: {:?}", error.kind())))?;
    if so_far.len() < 3 { Err(Error::Unavailable("the other end sleeps".into())) } else { Ok(Vec::new()) }
}

faucet_sdk::bindings::sink::export_sink!(HostileSink with_types_in faucet_sdk::bindings::sink);
