//! The harness keeps its word: servers come, break and come back as asked, and leave nothing behind.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use faucet_tests::postgres::children_of;
use faucet_tests::{
    Client, Database, Difference, Postgres, PostgresOptions, Proxy, Scratch, Workload, assert_same_rows, eventually,
    fresh_database, shared_postgres, sqlite_rows,
};

fn exists(pid: u32) -> bool {
    // A process that ended but was not waited for is a zombie.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| !s.contains(") Z "))
}

#[test]
fn a_server_survives_kill_9_with_its_data_and_port() {
    let mut server = Postgres::start(PostgresOptions { fsync: true, ..PostgresOptions::default() });
    let port = server.port();
    let client = server.connect("postgres");
    assert_eq!(client.one("SHOW wal_level"), "logical");
    client.execute("CREATE TABLE kept (id int); INSERT INTO kept VALUES (7)");
    let (postmaster, backends) = (server.pid().unwrap(), children_of(server.pid().unwrap()));
    assert!(!backends.is_empty());

    server.kill9();
    assert!(!exists(postmaster) && backends.iter().all(|pid| !exists(*pid)));
    assert!(Client::try_connect(&server.url("postgres")).is_err());

    server.restart();
    assert_eq!(server.port(), port);
    assert_eq!(server.connect("postgres").one("SELECT id FROM kept"), "7");
    server.stop();
    server.restart();
    assert_eq!(server.connect("postgres").one("SELECT id FROM kept"), "7");

    let (pid, dir) = (server.pid().unwrap(), server.dir().to_owned());
    drop(server);
    assert!(!exists(pid) && !dir.exists());
}

#[test]
fn a_wrong_password_and_a_role_without_rights_are_refused() {
    let database = fresh_database();
    let server = shared_postgres();
    let wrong = server.url_as("postgres", "wrong", database.name());
    assert!(Client::try_connect(&wrong).unwrap_err().contains("password authentication failed"));

    let role = format!("{}_reader", database.name());
    server.create_role(&role, "secret", "");
    database.client().execute("CREATE TABLE hidden (id int)");
    let reader = Client::connect(&server.url_as(&role, "secret", database.name()));
    assert!(reader.try_rows("SELECT * FROM hidden").unwrap_err().contains("permission denied"));
}

#[test]
fn a_database_goes_with_its_replication_slots() {
    let database = fresh_database();
    let name = database.name().to_owned();
    database.client().execute("SELECT pg_create_logical_replication_slot('left_behind', 'pgoutput')");
    drop(database);
    let admin = shared_postgres().connect("postgres");
    assert_eq!(admin.one("SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'left_behind'"), "0");
    assert_eq!(admin.one(&format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'")), "0");
}

#[test]
fn a_server_with_tls_refuses_clients_without_it() {
    let authority = faucet_tests::tls::Authority::new("faucet test");
    let identity = authority.server(&["localhost", "127.0.0.1"]);
    let options = PostgresOptions { tls: Some(identity), require_tls: true, ..PostgresOptions::default() };
    let server = Postgres::start(options);
    assert!(Client::try_connect(&server.url("postgres")).unwrap_err().contains("no encryption"));

    let ca = Scratch::new("ca");
    let root = ca.write("ca.pem", authority.certificate());
    let mut psql = Command::new(server.bin().join("psql"));
    psql.env("PGPASSWORD", server.password())
        .args(["-XAtc", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"]);
    psql.arg(format!(
        "host=127.0.0.1 port={} user=postgres dbname=postgres sslmode=verify-full sslrootcert={}",
        server.port(),
        root.display()
    ));
    let output = psql.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "t", "{}", String::from_utf8_lossy(&output.stderr));
}

/// The server in this test belongs to another test process (see `child_that_is_killed`), which is killed.
#[test]
fn a_killed_test_process_leaves_no_server_and_no_folder() {
    let scratch = Scratch::new("orphans");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "child_that_is_killed", "--nocapture"]).env("FAUCET_TEST_CHILD", scratch.path());
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let told = eventually(Duration::from_secs(60), "the child to start a server", || {
        Some(scratch.read("server")).filter(|t| t.ends_with('\n')).ok_or_else(|| "it did not".to_owned())
    });
    let (pid, dir) = told.trim().split_once(' ').unwrap();
    let (pid, dir) = (pid.parse::<u32>().unwrap(), Path::new(dir));
    assert!(exists(pid) && dir.exists());

    child.kill().unwrap();
    child.wait().unwrap();
    eventually(Duration::from_secs(20), "the orphan server to end", || match (exists(pid), dir.exists()) {
        (false, false) => Ok(()),
        (running, folder) => Err(format!("running: {running}, folder there: {folder}")),
    });
}

/// Does nothing unless started by the test above.
#[test]
fn child_that_is_killed() {
    let Some(folder) = std::env::var_os("FAUCET_TEST_CHILD") else {
        return;
    };
    let server = Postgres::start(PostgresOptions::default());
    let line = format!("{} {}\n", server.pid().unwrap(), server.dir().display());
    std::fs::write(Path::new(&folder).join("server"), line).unwrap();
    std::thread::sleep(Duration::from_secs(120));
}

/// A database, a proxy before its server, and the URL through the proxy.
fn proxied() -> (Database, Proxy, String) {
    let database = fresh_database();
    let port = shared_postgres().port();
    let proxy = Proxy::start(port);
    let url = proxy.through(database.url(), port);
    (database, proxy, url)
}

#[test]
fn a_proxy_cuts_refuses_and_recovers() {
    let (_database, proxy, url) = proxied();
    let client = Client::connect(&url);
    assert_eq!(client.one("SELECT 1"), "1");
    assert!(proxy.connections() == 1 && proxy.bytes_to_server() > 0 && proxy.bytes_to_client() > 0);

    proxy.cut();
    eventually(Duration::from_secs(5), "the cut", || {
        client.try_rows("SELECT 1").err().ok_or_else(|| "alive".to_owned())
    });
    assert_eq!(Client::connect(&url).one("SELECT 2"), "2");

    proxy.refuse();
    assert!(Client::try_connect(&url).is_err());
    proxy.resume();
    assert_eq!(Client::connect(&url).one("SELECT 3"), "3");
}

#[test]
fn a_proxy_delays_throttles_and_falls_silent() {
    let (_database, proxy, url) = proxied();
    let client = Client::connect(&url);
    let timed = |sql: &str| {
        let start = Instant::now();
        client.one(sql);
        start.elapsed()
    };
    proxy.delay(Duration::from_millis(100));
    assert!(timed("SELECT 1") >= Duration::from_millis(200));
    proxy.throttle(100_000);
    assert!(timed("SELECT repeat('x', 50000)") >= Duration::from_millis(400));
    proxy.resume();
    assert!(timed("SELECT repeat('x', 50000)") < Duration::from_millis(400));

    proxy.half_open();
    let (sender, answer) = std::sync::mpsc::channel();
    let silent = client.clone();
    std::thread::spawn(move || sender.send(silent.one("SELECT 5")));
    assert!(answer.recv_timeout(Duration::from_millis(300)).is_err(), "nothing passes a silent proxy");
    proxy.resume();
    assert_eq!(answer.recv_timeout(Duration::from_secs(5)).unwrap(), "5");
}

#[test]
fn a_lost_reply_is_lost_after_the_server_acted() {
    let (database, proxy, url) = proxied();
    let client = Client::connect(&url);
    client.execute("CREATE TABLE t (id int)");
    proxy.lose_reply_to(b"COMMIT");
    client.execute("BEGIN; INSERT INTO t VALUES (1)");
    assert!(!proxy.reply_was_lost());
    assert!(client.try_execute("COMMIT").is_err());
    assert!(proxy.reply_was_lost());
    assert_eq!(database.client().one("SELECT count(*) FROM t"), "1");
}

#[test]
fn a_workload_is_repeatable_and_interleaves_transactions() {
    let workload = Workload { seed: 42, transactions: 120, ..Workload::default() };
    let (a, b) = (fresh_database(), fresh_database());
    for database in [&a, &b] {
        workload.create_table(database.client(), 100);
    }
    let spy = "SELECT pg_create_logical_replication_slot('spy_' || current_database(), 'test_decoding')";
    a.client().execute(spy);
    let stats = workload.run(a.url());
    assert_eq!(stats, workload.run(b.url()));
    assert_eq!(stats.committed + stats.rolled_back, 120);
    assert!(stats.rolled_back > 0);
    let rows = "SELECT id, name, qty, price, md5(note) FROM orders";
    assert_same_rows((a.client(), rows), (b.client(), rows), 1);

    let log = format!("pg_logical_slot_get_changes('spy_{}', NULL, NULL)", a.name());
    let log = a.client().rows(&format!("SELECT data FROM {log}"));
    let lines: Vec<&str> = log.iter().filter_map(|row| row[0].as_deref()).collect();
    let begun: Vec<u64> = lines.iter().filter_map(|l| l.strip_prefix("BEGIN ")?.parse().ok()).collect();
    assert!(begun.windows(2).any(|w| w[0] > w[1]), "some transaction commits before one that began earlier");
    for part in ["INSERT:", "UPDATE: old-key:", "DELETE:", "unchanged-toast-datum"] {
        assert!(lines.iter().any(|l| l.contains(part)), "the log has no {part}");
    }
}

#[test]
fn a_background_workload_stops_when_asked() {
    let database = fresh_database();
    let workload = Workload { transactions: u64::MAX, ..Workload::default() };
    workload.create_table(database.client(), 50);
    let writer = workload.start(database.url());
    eventually(Duration::from_secs(20), "changes", || (writer.changes() > 20).then_some(()).ok_or("few".to_owned()));
    let stats = writer.stop();
    assert!(stats.changes > 20);
    let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'";
    assert_eq!(database.client().one(open), "0");
}

#[test]
fn a_comparison_names_keys_and_no_values() {
    let database = fresh_database();
    let scratch = Scratch::new("sqlite");
    let file = scratch.path().join("t.db");
    let sqlite = rusqlite::Connection::open(&file).unwrap();
    sqlite.execute_batch("CREATE TABLE t (id, v); INSERT INTO t VALUES (1, 'a'), (2, NULL), (4, 'secret')").unwrap();
    database.client().execute("CREATE TABLE t (id int, v text); INSERT INTO t VALUES (1, 'a'), (2, ''), (3, 'hidden')");
    let difference = Difference::between(
        &database.client().rows("SELECT * FROM t"),
        &sqlite_rows(&file, "SELECT * FROM t").unwrap(),
        1,
    );
    assert_eq!((&difference.missing[..], &difference.extra[..]), (&["3".to_owned()][..], &["4".to_owned()][..]));
    assert_eq!(difference.changed, [("2".to_owned(), vec![1])]);
    let text = difference.to_string();
    assert!(
        text.contains("1 missing on the right: 3") && !text.contains("secret") && !text.contains("hidden"),
        "{text}"
    );
    let same = "SELECT id, v FROM t WHERE id = 1";
    assert_same_rows((database.client(), same), (file.as_path(), same), 1);
}
