//! The private server of the bench: as a production server is set up where it matters (fsync on), and with its CPU
//! time to read.

use std::process::Command;

use faucet_tests::postgres::children_of;
use faucet_tests::{Client, Postgres, PostgresOptions};

use crate::failure::{Failure, Result};
use crate::process;

/// The database with the tables; its twin takes the native subscriptions, which need tables of the same name.
pub const DATABASE: &str = "bench";

/// A running server with the tables in it.
pub struct Server {
    postgres: Postgres,
    client: Client,
    ticks_per_second: f64,
}

impl Server {
    /// Starts it and fills `orders`.
    pub fn start() -> Result<Self> {
        let settings = [("max_wal_size", "8GB"), ("checkpoint_timeout", "60min"), ("autovacuum", "off")];
        let settings = settings.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec();
        let postgres = Postgres::try_start(&PostgresOptions { fsync: true, settings, ..PostgresOptions::default() })?;
        Client::try_connect(&postgres.url("postgres"))?.try_execute(&format!("CREATE DATABASE {DATABASE}"))?;
        let client = Client::try_connect(&postgres.url(DATABASE))?;
        client.try_execute(include_str!("../../../tests/bench/orders.sql"))?;
        let ticks = process::output(Command::new("getconf").arg("CLK_TCK")).ok();
        let ticks_per_second = ticks.and_then(|t| t.trim().parse().ok()).unwrap_or(100.0);
        Ok(Self { postgres, client, ticks_per_second })
    }

    /// Connection URL of a database.
    pub fn url(&self, database: &str) -> String {
        self.postgres.url(database)
    }

    /// One value, or an error.
    pub fn value(&self, sql: &str) -> Result<String> {
        let row = self.client.try_rows(sql)?.into_iter().next().and_then(|row| row.into_iter().next()).flatten();
        row.ok_or_else(|| Failure::new(format!("no value from: {sql}")))
    }

    /// Runs SQL outside a transaction, one statement.
    pub fn execute(&self, sql: &str) -> Result<()> {
        self.client.try_execute(sql).map_err(|e| Failure::new(format!("{e}\nin: {sql}")))
    }

    /// A shell script that finds the client programs, pointed at `database`.
    pub fn script(&self, script: &str, database: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-euc", script]);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.postgres.bin().to_owned()).chain(std::env::split_paths(&path));
        if let Ok(path) = std::env::join_paths(folders) {
            command.env("PATH", path);
        }
        self.point(&mut command, database);
        command
    }

    fn point(&self, command: &mut Command, database: &str) {
        command.env("PGHOST", "127.0.0.1").env("PGPORT", self.postgres.port().to_string());
        command.env("PGOPTIONS", "-c client_min_messages=warning");
        command.env("PGUSER", "postgres").env("PGPASSWORD", self.postgres.password()).env("PGDATABASE", database);
    }

    /// Writes out dirty pages, so that no run pays for the one before.
    pub fn settle(&self) -> Result<()> {
        self.execute("CHECKPOINT")
    }

    /// CPU seconds of the server so far: the postmaster, its children, and those that ended.
    pub fn cpu_s(&self) -> f64 {
        let Some(postmaster) = self.postgres.pid() else { return 0.0 };
        let ended = ticks(postmaster).map_or(0, |t| t.own + t.waited_for);
        let children: u64 = children_of(postmaster).into_iter().filter_map(ticks).map(|t| t.own).sum();
        #[allow(clippy::cast_precision_loss, reason = "clock ticks fit a double")]
        let total = (ended + children) as f64;
        total / self.ticks_per_second
    }
}

struct Ticks {
    own: u64,
    waited_for: u64,
}

/// Clock ticks of a process from `/proc/PID/stat`, see proc(5): fields 14 to 17.
fn ticks(pid: u32) -> Option<Ticks> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<u64> =
        stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4).filter_map(|f| f.parse().ok()).collect();
    match fields[..] {
        [user, system, children_user, children_system] => {
            Some(Ticks { own: user + system, waited_for: children_user + children_system })
        }
        _ => None,
    }
}
