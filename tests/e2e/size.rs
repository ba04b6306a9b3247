//! Transactions of any size: memory stays bounded, the destination shows all of it or nothing, and the server goes on
//! hearing from us.

use crate::config;
use faucet_tests::{Client, Database, Faucet, Postgres, PostgresOptions, Running, eventually};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(180);

/// Rows of the large transaction, each some 500 bytes on the wire: about 150 MB.
const ROWS: u32 = 300_000;

/// Most memory a process may ever have used, in KiB.
const MOST_KIB: u64 = 128 * 1024;

struct Large {
    database: Database,
    faucet: Faucet,
    // Last: the server outlives its database.
    _server: Postgres,
}

impl Large {
    /// A mirror of `source`, beside a table that nobody publishes, on a server that is quick to give a reader up.
    fn new() -> Self {
        let settings = [("wal_sender_timeout", "5s"), ("logical_decoding_work_mem", "1MB"), ("max_wal_size", "4GB")];
        let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        let server = Postgres::start(PostgresOptions { settings, ..PostgresOptions::default() });
        let database = Database::create_on(&server);
        database.client().execute(
            "CREATE TABLE source (id int PRIMARY KEY, pad text); CREATE TABLE other (LIKE source);
             INSERT INTO source VALUES (-1, 'first'); CREATE PUBLICATION pub FOR TABLE source",
        );
        let sink = config::postgres_sink(&database, "copy", &["id"]);
        let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
        let text = config::mirror(&database, "SELECT * FROM source", &sink, "");
        let text =
            text.replace("continuous: false", "continuous: true").replace("idle_timeout: 300ms", "idle_timeout: 60s");
        let faucet = Faucet::new(&text);
        Self { database, faucet, _server: server }
    }

    fn client(&self) -> &Client {
        self.database.client()
    }

    /// The mirror, once it follows the stream.
    fn follow(&self) -> Running {
        let running = self.faucet.spawn("mirror");
        eventually(PATIENCE, "the stream to be followed", || {
            let active = self.client().one("SELECT count(*) FROM pg_replication_slots WHERE active");
            let copied = self.client().try_rows("SELECT 1 FROM copy").map_or(0, |rows| rows.len());
            if active == "1" && copied == 1 { Ok(()) } else { Err(format!("{active} readers, {copied} rows")) }
        });
        running
    }

    fn fill(&self, table: &str) {
        self.client().execute(&format!(
            "INSERT INTO {table} SELECT g, repeat(md5(g::text), 15) FROM generate_series(1, {ROWS}) g"
        ));
    }

    /// Process id of the server's sender, and seconds from `since` to its reader's last word.
    fn reply(&self, since: &str) -> (String, f64) {
        let sql = format!(
            "SELECT pid, extract(epoch FROM reply_time - '{since}') FROM pg_stat_replication WHERE reply_time IS NOT NULL"
        );
        let row = self.client().rows(&sql).into_iter().next().expect("the sender is there");
        (row[0].clone().unwrap(), row[1].as_deref().unwrap().parse().unwrap())
    }
}

/// The most memory the process ever used.
fn peak_kib(running: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Ends a watch, also when an assertion fails meanwhile.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Counts the destination's rows until told to stop: each number seen, once.
fn watch(client: &Client, stop: &AtomicBool) -> Vec<String> {
    let mut seen = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let count = client.one("SELECT count(*) FROM copy");
        if seen.last() != Some(&count) {
            seen.push(count);
        }
    }
    seen
}

#[test]
fn a_transaction_larger_than_memory_is_all_or_nothing_and_the_server_hears_from_us() {
    let large = Large::new();
    let running = large.follow();
    let (before, _) = large.reply("2000-01-01");
    // The sink waits for this lock for more than two of the server's timeouts, in the middle of the transaction.
    let lock = large.database.connect();
    lock.execute("BEGIN; LOCK TABLE copy IN EXCLUSIVE MODE");
    let stop = AtomicBool::new(false);
    let reader = large.database.connect();
    let seen = std::thread::scope(|scope| {
        let watching = scope.spawn(|| watch(&reader, &stop));
        let ended = Stop(&stop);
        large.fill("source");
        let blocked = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'copy'::regclass";
        eventually(PATIENCE, "the sink to wait", || match large.client().one(blocked).as_str() {
            "0" => Err("it does not".to_owned()),
            _ => Ok(()),
        });
        let since = large.client().one("SELECT now()");
        eventually(PATIENCE, "the server to hear from us for longer than its timeout", || {
            let (pid, heard) = large.reply(&since);
            assert_eq!(pid, before, "the server gave the reader up");
            if heard > 11.0 { Ok(()) } else { Err(format!("{heard} s")) }
        });
        lock.execute("COMMIT");
        let all = (ROWS + 1).to_string();
        eventually(PATIENCE, "the rows", || match large.client().one("SELECT count(*) FROM copy") {
            count if count == all => Ok(()),
            count => Err(count),
        });
        drop(ended);
        watching.join().unwrap()
    });
    assert_eq!(seen.first().map(String::as_str), Some("1"));
    assert!(seen.len() <= 2, "a part of the transaction was seen: {seen:?}");
    assert_eq!(large.reply("2000-01-01").0, before);
    let peak = peak_kib(&running);
    assert!(peak <= MOST_KIB, "{peak} KiB");
    assert_eq!(
        large.client().one("SELECT sum(hashtext(pad)) = (SELECT sum(hashtext(pad)) FROM source) FROM copy"),
        "t"
    );
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}

#[test]
fn a_large_transaction_on_another_table_costs_nothing() {
    let large = Large::new();
    let running = large.follow();
    let before = peak_kib(&running);
    large.fill("other");
    let end = large.client().one("SELECT pg_current_wal_lsn()");
    eventually(PATIENCE, "the confirmed position to pass it", || {
        let passed = format!("SELECT confirmed_flush_lsn >= '{end}' FROM pg_replication_slots");
        match large.client().one(&passed).as_str() {
            "t" => Ok(()),
            _ => Err("it stays behind".to_owned()),
        }
    });
    let grown = peak_kib(&running) - before;
    assert!(grown <= 16 * 1024, "{grown} KiB more");
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}
