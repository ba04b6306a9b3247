//! Keeps rows `(id, a)` and tokens in one file of a granted folder, which every commit replaces at once: a sink with
//! transactions, tokens, and every mode.

use faucet_sdk::serde::{Deserialize, Serialize};
use faucet_sdk::{Error, Mode, Page, Rejected, Result, Sink, SinkAbilities, Value, Wants, config, serde_json, sink};
use std::collections::BTreeMap;
use std::fs;

const FILE: &str = "/ledger/now.json";

/// How rows meet those that are there.
#[config]
pub struct Config {
    /// append, upsert or overwrite.
    mode: String,
}

#[derive(Default, Clone, Serialize, Deserialize)]
#[serde(crate = "faucet_sdk::serde")]
struct Book {
    rows: Vec<(i64, Option<String>)>,
    tokens: BTreeMap<String, String>,
}

struct Ledger {
    mode: Mode,
    /// As it will be at the next commit.
    next: Book,
    /// The rows of this run, until it ends.
    run: Vec<(i64, Option<String>)>,
}

fn mode(config: &Config) -> Result<Mode> {
    Ok(match config.mode.as_str() {
        "append" => Mode::Append,
        "upsert" => Mode::Upsert,
        "overwrite" => Mode::Overwrite,
        other => return Err(Error::config("mode", format!("there is no mode {other}"))),
    })
}

#[sink(name = "ledger", summary = "Keeps rows in a file")]
impl Sink for Ledger {
    type Config = Config;

    fn wants() -> Wants {
        Wants::default().write("/ledger")
    }

    fn check(config: &Config) -> Result<SinkAbilities> {
        let mode = mode(config)?;
        let upsert = mode == Mode::Upsert;
        Ok(SinkAbilities {
            mode,
            modes: vec![Mode::Append, Mode::Upsert, Mode::Overwrite],
            key: if upsert { vec!["id".into()] } else { Vec::new() },
            delete_marker: upsert.then(|| "__op".into()),
            transactional: true,
            // Rows of an overwrite are seen at its end only, so a token could not go with them.
            tokens: mode != Mode::Overwrite,
            evolves: true,
            ..SinkAbilities::default()
        })
    }

    fn open(config: Config, _: &str) -> Result<Self> {
        let next = match fs::read(FILE) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| Error::new(error.to_string()))?,
            Err(_) => Book::default(),
        };
        Ok(Self { mode: mode(&config)?, next, run: Vec::new() })
    }

    fn last_token(&mut self, scope: &str) -> Result<Option<String>> {
        Ok(self.next.tokens.get(scope).cloned())
    }

    fn write(&mut self, page: Page<'_>) -> Result<Vec<Rejected>> {
        let (id, a) = (page.column("id")?, page.find("a")?);
        let op = page.find("__op")?;
        for row in 0..page.rows() {
            let text = a.as_ref().map_or(Value::Absent, |a| a.value(row));
            let deletes = op.as_ref().is_some_and(|op| op.value(row) == Value::Text("d"));
            match id.value(row) {
                Value::Int64(id) => self.take(id, text, deletes),
                _ => return Err(Error::new("a row has no id")),
            }
        }
        Ok(Vec::new())
    }

    fn commit(&mut self, token: Option<(&str, &str)>) -> Result<()> {
        if let Some((scope, token)) = token {
            self.next.tokens.insert(scope.into(), token.into());
        }
        if self.mode == Mode::Overwrite { Ok(()) } else { save(&self.next) }
    }

    fn finish(&mut self) -> Result<()> {
        if self.mode == Mode::Overwrite {
            self.next.rows = std::mem::take(&mut self.run);
            save(&self.next)?;
        }
        Ok(())
    }
}

impl Ledger {
    fn take(&mut self, id: i64, text: Value<'_>, deletes: bool) {
        let new = text.as_str().map(str::to_owned);
        match self.mode {
            Mode::Append => self.next.rows.push((id, new)),
            Mode::Overwrite => self.run.push((id, new)),
            Mode::Upsert => {
                let at = self.next.rows.iter().position(|(known, _)| *known == id);
                match (at, deletes, text) {
                    (Some(at), true, _) => drop(self.next.rows.remove(at)),
                    (None, true, _) | (_, false, Value::Absent) => {}
                    (Some(at), false, _) => self.next.rows[at].1 = new,
                    (None, false, _) => self.next.rows.push((id, new)),
                }
            }
        }
    }
}

fn save(book: &Book) -> Result<()> {
    let text = serde_json::to_vec(book).map_err(|error| Error::new(error.to_string()))?;
    let saved = fs::write("/ledger/next.json", text).and_then(|()| fs::rename("/ledger/next.json", FILE));
    saved.map_err(|error| Error::unavailable(format!("{FILE}: {error}")))
}
