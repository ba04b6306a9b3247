//! A mirror of any table into another one of the same database, for tests that care about the table's shape.

use crate::compare::Rows;
use crate::database::Database;
use crate::faucet::{Faucet, Finished};
use serde_json::Value;
use std::time::Duration;

use crate::wait::eventually;

/// A source table, a publication of it, and a one-shot mirror called `m` into the table `copy`.
#[derive(Debug)]
pub struct TableMirror {
    /// The database both tables are in.
    pub database: Database,
    /// Where the mirror runs, with its configuration.
    pub faucet: Faucet,
    /// The source table, as SQL spells it.
    pub source: String,
}

/// What a mirror is made of.
#[derive(Debug, Clone, Copy)]
pub struct Shape<'a> {
    /// Makes the source table and fills it, and may make the table `copy`.
    pub ddl: &'a str,
    /// The source table, as SQL spells it.
    pub source: &'a str,
    /// The query of the snapshot.
    pub query: &'a str,
    /// The sink's key, as YAML.
    pub key: &'a str,
    /// What the publication covers; the source table if empty.
    pub publish: &'a str,
    /// Keys of `mirror.snapshot`, as a YAML flow without braces.
    pub snapshot: &'a str,
}

impl Default for Shape<'_> {
    fn default() -> Self {
        Self { ddl: "", source: "t", query: "SELECT * FROM t", key: "[id]", publish: "", snapshot: "shards: 8" }
    }
}

impl TableMirror {
    /// The mirror of `shape`. Unless the DDL makes `copy`, it is like the source with a unique index on the key.
    pub fn new(database: Database, shape: Shape<'_>) -> Self {
        let client = database.client();
        client.execute(shape.ddl);
        let source = shape.source;
        if client.rows("SELECT to_regclass('copy')")[0][0].is_none() {
            client.execute(&format!(
                "CREATE TABLE copy (LIKE {source}); CREATE UNIQUE INDEX ON copy ({})",
                columns(shape.key)
            ));
        }
        let publish = if shape.publish.is_empty() { format!("FOR TABLE {source}") } else { shape.publish.to_owned() };
        client.execute(&format!("CREATE PUBLICATION {}_pub {publish}", database.name()));
        let faucet = Faucet::new(&config(&database, shape)).global("--output").global("json");
        Self { source: source.to_owned(), database, faucet }
    }

    /// Runs SQL on the database.
    #[track_caller]
    pub fn sql(&self, sql: &str) {
        self.database.client().execute(sql);
    }

    /// Runs the mirror until its stream is idle.
    #[track_caller]
    pub fn run(&self) -> Finished {
        self.faucet.run("mirror").expect_code(0)
    }

    /// Runs it with a failpoint that ends it.
    #[track_caller]
    pub fn crash(&mut self, failpoint: &str) {
        self.faucet.set_env("FAUCET_FAILPOINT", failpoint);
        let killed = self.faucet.run("mirror");
        assert_eq!(killed.code(), None, "{failpoint} was not reached:\n{}", killed.stderr);
        self.faucet.set_env("FAUCET_FAILPOINT", "");
    }

    /// The marker in the state.
    pub fn marker(&self) -> Value {
        let file = std::fs::read_dir(self.faucet.dir().join("state")).into_iter().flatten().flatten();
        let found = file.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("__replication__"));
        let text = std::fs::read_to_string(found.expect("the mirror began")).expect("state is readable");
        let stored: Value = serde_json::from_str(&text).expect("state is JSON");
        stored.get("value").cloned().unwrap_or(stored)
    }

    /// How many ranges the stored plan has.
    pub fn ranges(&self) -> u64 {
        self.marker()["snapshot"]["total"].as_u64().expect("a plan is stored")
    }

    /// How many of them are finished.
    pub fn finished(&self) -> usize {
        self.marker()["snapshot"]["finished"].as_object().expect("a plan is stored").len()
    }

    /// Waits until both tables hold the same rows.
    #[track_caller]
    pub fn settles(&self) {
        let client = self.database.client();
        let rows = |table: &str| client.text_rows(&format!("SELECT x::text FROM {table} x ORDER BY 1"));
        eventually(Duration::from_secs(30), "the copy to equal its source", || {
            let (left, right) = (rows(&self.source)?, rows("copy")?);
            let missing = left.iter().filter(|row| !right.contains(row)).count();
            if left == right {
                Ok(())
            } else {
                Err(format!("{} rows and {}; {missing} missing", left.len(), right.len()))
            }
        });
    }
}

/// Rows that a run with `--output json` read.
pub fn rows_read(finished: &Finished) -> u64 {
    let last = finished.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).next_back();
    last.and_then(|event| event["rows_read"].as_u64()).expect("the last line says how many rows were read")
}

/// `["A", b]` as SQL spells it.
fn columns(key: &str) -> String {
    let names = key.trim_matches(['[', ']']).split(',').map(|name| name.trim().trim_matches('"'));
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

fn config(database: &Database, shape: Shape<'_>) -> String {
    let (url, name) = (database.url(), database.name());
    let query = shape.query.replace('\'', "''");
    format!(
        "version: 1
name: m
pipeline:
  source:
    type: postgres-cdc
    config:
      connection_url: \"{url}\"
      slot_name: {name}_slot
      publication_name: {name}_pub
      idle_timeout: 300ms
  transforms: [{{ type: cdc_unwrap }}]
  sink:
    type: postgres
    config:
      connection_url: \"{url}\"
      table_name: copy
      write_mode: upsert
      key: {key}
      delete_marker: {{ field: __op, values: [d] }}
  state: {{ type: file, config: {{ path: ./state }} }}
mirror:
  continuous: false
  snapshot:
    source: {{ type: postgres, config: {{ connection_url: \"{url}\", query: '{query}', batch_size: 50 }} }}
{snapshot}",
        key = shape.key,
        snapshot = shape.snapshot.split(',').map(|key| format!("    {}\n", key.trim())).collect::<String>(),
    )
}
