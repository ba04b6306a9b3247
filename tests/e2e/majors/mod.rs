//! What only some major versions have: failover slots, decoding on a standby, published generated columns, limits on time.
//!
//! What all of them have is tested by running other modules on each (`cargo xtask test --only majors`).

mod failover;
mod limits;
mod standby;

use crate::config;
use faucet_tests::{Client, Database, Faucet, Postgres, Running, eventually, fresh_database};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

/// A mirror of table `t` of a server of the test's own, into `copy` on the shared one.
struct Between {
    source: Database,
    copy: Database,
    faucet: Faucet,
}

impl Between {
    /// `ddl` makes the table; `keys` are lines of the source's configuration, `options` of the whole.
    fn new(server: &Postgres, ddl: &str, keys: &[&str], options: &str) -> Self {
        let (source, copy) = (Database::create_on(server), fresh_database());
        source.client().execute(ddl);
        if !ddl.contains("CREATE PUBLICATION") {
            source.client().execute("CREATE PUBLICATION pub FOR TABLE t");
        }
        let sink = config::postgres_sink(&copy, "copy", &["id"]);
        let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
        let text = config::mirror(&source, "SELECT * FROM t", &sink, options);
        let keys: String = keys.iter().map(|key| format!("      {key}\n")).collect();
        let faucet = Faucet::new(&text.replacen("      idle_timeout:", &format!("{keys}      idle_timeout:"), 1));
        Self { source, copy, faucet }
    }

    /// Runs SQL on the source, which may have been stopped meanwhile.
    fn sql(&self, sql: &str) {
        self.source.connect().execute(sql);
    }

    /// Reads from this URL from now on.
    fn reads_from(&self, url: &str) {
        self.edit(self.source.url(), url);
    }

    fn edit(&self, from: &str, to: &str) {
        let config = std::fs::read_to_string(self.faucet.config()).unwrap();
        assert!(config.contains(from), "no {from} in {config}");
        self.faucet.set_config(&config.replace(from, to));
    }

    fn run(&self) {
        self.faucet.run("mirror").expect_code(0);
    }

    /// Waits until the copy holds what `source` does.
    #[track_caller]
    fn settles(&self, source: &Client) {
        let rows =
            |client: &Client, table: &str| client.try_rows(&format!("SELECT x::text FROM {table} x ORDER BY id"));
        eventually(PATIENCE, "the copy to equal its source", || {
            let (left, right) = (rows(source, "t")?, rows(self.copy.client(), "copy")?);
            if left == right { Ok(()) } else { Err(format!("{} rows and {}", left.len(), right.len())) }
        });
    }
}

/// Waits for this text in what it logs.
#[track_caller]
fn says(running: &Running, text: &str) {
    eventually(PATIENCE, text, || {
        let said = running.stderr_so_far();
        if said.contains(text) { Ok(()) } else { Err(said) }
    });
}

/// Ends it as a supervisor does.
#[track_caller]
fn ends(running: Running) {
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}
