//! Writes rows to a file of JSON lines, in a folder that the configuration has to grant.
//!
//! Rows are collected until a commit, and then written and synced, so that what is committed is durable. Written again
//! after a crash, they are there twice: this sink is at-least-once.

use faucet_sdk::serde_json::{Map, Value as Json};
use faucet_sdk::{Error, Page, Rejected, Result, Sink, Value, Wants, config, sink};
use std::fs::File;
use std::io::Write;

/// Where to write.
#[config]
pub struct Config {
    /// The file's name in the folder.
    #[serde(default = "file")]
    file: String,
}

fn file() -> String {
    "rows.jsonl".to_owned()
}

/// A session: the open file and the lines that are not committed yet.
pub struct Lines {
    file: File,
    pending: Vec<u8>,
}

#[sink]
impl Sink for Lines {
    type Config = Config;

    fn wants() -> Wants {
        Wants::default().write("/out")
    }

    fn open(config: Config, _pipeline: &str) -> Result<Self> {
        if config.file.contains(['/', '\\']) {
            return Err(Error::config("file", "is a name, not a path"));
        }
        let path = format!("/out/{}", config.file);
        let opened = File::options().create(true).append(true).open(&path);
        let file = opened.map_err(|error| Error::new(format!("{path}: {error}; is the folder /out granted?")))?;
        Ok(Self { file, pending: Vec::new() })
    }

    fn write(&mut self, page: Page<'_>) -> Result<Vec<Rejected>> {
        let columns = page.columns().collect::<Result<Vec<_>>>()?;
        for row in 0..page.rows() {
            let line: Map<String, Json> =
                columns.iter().map(|column| (column.name().to_owned(), json(column.value(row)))).collect();
            writeln!(self.pending, "{}", Json::from(line)).map_err(|error| Error::new(error.to_string()))?;
        }
        Ok(Vec::new())
    }

    fn commit(&mut self, _token: Option<(&str, &str)>) -> Result<()> {
        let written = self.file.write_all(&self.pending).and_then(|()| self.file.sync_all());
        written.map_err(|error| Error::unavailable(format!("the file can't be written: {error}")))?;
        self.pending.clear();
        Ok(())
    }
}

/// A value as JSON. Numbers beyond what JSON readers hold exactly are text.
fn json(value: Value<'_>) -> Json {
    match value {
        Value::Null | Value::Absent => Json::Null,
        Value::Boolean(v) => v.into(),
        Value::Int64(v) if v.unsigned_abs() < 1 << 53 => v.into(),
        Value::Int64(v) => v.to_string().into(),
        Value::Uint64(v) => v.to_string().into(),
        Value::Float32(v) => Json::from(f64::from(v)),
        Value::Float64(v) => Json::from(v),
        Value::Decimal(v) | Value::Text(v) | Value::Json(v) | Value::Native(v) => v.into(),
        other => format!("{other:?}").into(),
    }
}
