//! The main job as tests need it: a source table with a publication, a destination, and a mirror between them.

use crate::compare::{Rows, assert_same_rows, sqlite_rows};
use crate::database::{Client, Database};
use crate::faucet::Faucet;
use crate::wait::eventually;
use crate::workload::Workload;
use std::time::Duration;

/// The columns of [`Workload::create_table`] as text, key first. `{note}` is where the masked column goes.
const COLUMNS: &str = "id::text, name, qty::text, price::text, note, \
                       to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')";

/// A source table `orders` and a mirror of it called `m`.
#[derive(Debug)]
pub struct Mirrored {
    /// The database the table is in; the destination too, when it is PostgreSQL.
    pub database: Database,
    /// Where the mirror runs, with its configuration.
    pub faucet: Faucet,
    /// What writes to the source.
    pub workload: Workload,
}

impl Mirrored {
    /// A filled table of `rows` rows, an empty destination table with the same key, and a configuration.
    pub fn postgres(database: Database, rows: u32, options: &str) -> Self {
        let workload = prepare(&database, rows);
        database.client().execute("CREATE TABLE orders_mirror (LIKE orders INCLUDING ALL)");
        let sink = format!(
            "    type: postgres\n    config:\n      connection_url: \"{}\"\n      table_name: orders_mirror\n\
             \x20     write_mode: upsert\n      key: [id]\n      delete_marker: {{ field: __op, values: [d] }}\n",
            database.url()
        );
        let faucet = Faucet::new(&config(&database, &sink, "", options));
        Self { database, faucet, workload }
    }

    /// The same with a SQLite destination and transforms of the caller's, as YAML list items under `transforms:`.
    pub fn sqlite(database: Database, rows: u32, transforms: &str, options: &str) -> Self {
        let workload = prepare(&database, rows);
        let sink = "    type: sqlite\n    config:\n      path: ./mirror.db\n      table_name: orders_mirror\n\
                    \x20     write_mode: upsert\n      key: [id]\n      delete_marker: { field: __op, values: [d] }\n";
        let faucet = Faucet::new(&config(&database, sink, transforms, options));
        Self { database, faucet, workload }
    }

    /// A connection to the source.
    pub fn client(&self) -> &Client {
        self.database.client()
    }

    /// Waits until the destination's rows equal the source's, which nobody writes to any more.
    #[track_caller]
    pub fn settles(&self) {
        let client = self.client();
        let (left, right) = (format!("SELECT {COLUMNS} FROM orders"), format!("SELECT {COLUMNS} FROM orders_mirror"));
        let counts = || {
            (client.one("SELECT count(*)::text FROM orders"), client.one("SELECT count(*)::text FROM orders_mirror"))
        };
        let sorted = |sql: &str| client.text_rows(&format!("{sql} ORDER BY 1")).unwrap_or_else(|e| panic!("{e}"));
        eventually(Duration::from_secs(60), "the destination to equal the source", || {
            if sorted(&left) == sorted(&right) { Ok(()) } else { Err(format!("rows: {:?}", counts())) }
        });
        assert_same_rows((client, &left), (client, &right), 1);
    }

    /// Rows of the SQLite destination by `sql`, or nothing while it isn't there yet.
    pub fn sqlite_rows(&self, sql: &str) -> Vec<crate::compare::Row> {
        sqlite_rows(&self.faucet.dir().join("mirror.db"), sql).unwrap_or_default()
    }
}

fn prepare(database: &Database, rows: u32) -> Workload {
    let workload = Workload::default();
    workload.create_table(database.client(), rows);
    database.client().execute(&format!("CREATE PUBLICATION {}_pub FOR TABLE orders", database.name()));
    workload
}

fn config(database: &Database, sink: &str, transforms: &str, options: &str) -> String {
    let (url, name) = (database.url(), database.name());
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
      status_update_interval: 1
      idle_timeout: 3
  transforms:
    - type: cdc_unwrap
{transforms}  sink:
{sink}  state: {{ type: file, config: {{ path: ./state }} }}
mirror:
  snapshot:
    source: {{ type: postgres, config: {{ connection_url: \"{url}\", query: SELECT * FROM orders, batch_size: 100 }} }}
{options}"
    )
}
