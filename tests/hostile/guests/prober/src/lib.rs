//! Reaches for the world, in one way; the configuration says which (`do`) and where. What it saw is a text column.

mod files;
mod web;

use faucet_sdk::bindings::exports::faucet::connector::transforms::{Description, Guest, GuestTransform, Transform};
use faucet_sdk::bindings::faucet::connector::types::{Column, ColumnOut, Error, Kind, Output, Page, PageOut};
use faucet_sdk::serde_json::{Value, from_str};
use faucet_sdk::{Wants, count, gauge, secrets};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

struct Prober(Value);

impl Guest for Prober {
    type Transform = Prober;

    fn describe() -> Description {
        let files = Wants::default().write("/data").read("/reference");
        let asked = files.http("*").env("PATH").env("FAUCET_PROBE").secret("*").clock().random();
        Description {
            name: "prober".into(),
            version: "0.1.0".into(),
            summary: "Reaches for the world".into(),
            config_schema: r#"{ "type": "object" }"#.into(),
            deterministic: false,
            wants: asked.into(),
        }
    }

    fn open(config: String) -> Result<Transform, Error> {
        let config = from_str(&config).map_err(|_| Error::Failed("the configuration is no JSON".into()))?;
        Ok(Transform::new(Prober(config)))
    }
}

impl GuestTransform for Prober {
    fn apply(&self, page: Page) -> Result<Output, Error> {
        let Self(config) = self;
        let seen = match text(config, "do") {
            "secrets" => secrets().join(","),
            "env" => format!("{:?}", std::env::vars().collect::<Vec<_>>()),
            "clock" => clock(number(config, "pause_ms")),
            "random" => format!("{:016x}", RandomState::new().hash_one(7)),
            "count" => counted(text(config, "name"), number(config, "times")),
            "gauge" => {
                gauge(text(config, "name"), number(config, "value") as f64);
                String::new()
            }
            what if what.starts_with("file-") => files::probe(what, config),
            what => web::probe(what, config)?,
        };
        Ok(report(&page, &seen))
    }
}

/// A text of the configuration.
pub(crate) fn text<'c>(config: &'c Value, key: &str) -> &'c str {
    config[key].as_str().unwrap_or_default()
}

/// A number of the configuration.
pub(crate) fn number(config: &Value, key: &str) -> u64 {
    config[key].as_u64().unwrap_or_default()
}

/// Counts 3 in metrics of so many names.
fn counted(name: &str, times: u64) -> String {
    (0..times).for_each(|nth| count(&format!("{name}{nth}"), 3));
    String::new()
}

/// Seconds since 1970, and the milliseconds that a pause took.
fn clock(pause: u64) -> String {
    let start = Instant::now();
    std::thread::sleep(Duration::from_millis(pause));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{} {}", now.as_secs(), start.elapsed().as_millis())
}

/// The same text in every row.
fn report(page: &Page, seen: &str) -> Output {
    let lengths = (0..=page.rows).map(|row| row as i32 * seen.len() as i32);
    let column = Column {
        name: "seen".into(),
        kind: Kind::Text,
        native: None,
        validity: Vec::new(),
        absent: Vec::new(),
        offsets: lengths.flat_map(i32::to_le_bytes).collect(),
        data: seen.repeat(page.rows as usize).into_bytes(),
    };
    let columns = vec![ColumnOut::Buffers(column)];
    let out = PageOut { table: None, rows: page.rows, selection: None, key: Some(Vec::new()), columns };
    Output { pages: vec![out], rejected: Vec::new() }
}

faucet_sdk::bindings::export_component!(Prober with_types_in faucet_sdk::bindings);
