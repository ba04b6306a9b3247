//! A server that says nothing: alive, busy, or gone.

use super::Fixture;
use faucet_core::error::Retry;
use faucet_tests::{Database, Proxy, shared_postgres};
use serde_json::json;
use std::time::{Duration, Instant};

/// With this the server is asked after 1.5 s of silence, and looked at after 3 s.
const EAGER: &str = "ALTER DATABASE {db} SET wal_sender_timeout = '1s'";

fn eager(fixture: &Fixture) {
    fixture.sql(&EAGER.replace("{db}", fixture.database.name()));
}

#[test]
fn a_server_that_has_nothing_to_say_is_asked_and_stays() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)")
        .with(json!({"idle_timeout": "5m", "max_cycle_duration": "8s"}));
    eager(&fixture);
    fixture.capture();
    let began = Instant::now();
    let mut stream = fixture.open();
    stream.drain();
    assert!(began.elapsed() >= Duration::from_secs(8), "the cycle ended early");
    stream.close();
}

/// The server spends longer on rows that a filter keeps back than it may be silent.
#[test]
fn a_server_that_is_busy_with_what_is_not_for_us_is_left_to_it() {
    let filter = "FOR TABLE t WHERE (id < 0 OR md5(repeat(v, 30000000)) = 'none')";
    let fixture = Fixture::publishing("CREATE TABLE t (id int PRIMARY KEY, v text)", filter);
    let version: u32 = fixture.client().one("SELECT current_setting('server_version_num')").parse().unwrap();
    assert!(version >= 150_000, "row filters came with PostgreSQL 15");
    let fixture = fixture.with(json!({"idle_timeout": "200ms"}));
    eager(&fixture);
    fixture.capture();
    let one = {
        let client = fixture.client();
        let began = Instant::now();
        client.one("SELECT md5(repeat('x', 30000000))");
        began.elapsed()
    };
    let rows = (Duration::from_millis(7500).as_millis() / one.as_millis().max(1)).clamp(10, 95);
    fixture.sql(&format!(
        "BEGIN; INSERT INTO t VALUES (-1, 'a'); INSERT INTO t SELECT g, 'x' FROM generate_series(1, {rows}) g;
         INSERT INTO t VALUES (-2, 'b'); COMMIT"
    ));
    assert_eq!(fixture.open().changes(), ["c t id=-1 v=a", "c t id=-2 v=b"]);
}

/// The same before the first row that is for us: no transaction is in hand.
#[test]
fn a_connection_that_is_half_open_is_noticed_whatever_is_waited_for() {
    let server = shared_postgres();
    std::thread::scope(|scope| {
        for (case, options) in [
            ("nothing for long", json!({"idle_timeout": "5m"})),
            ("the end of an idle cycle", json!({"idle_timeout": "2s"})),
        ] {
            scope.spawn(move || {
                let proxy = Proxy::start(server.port());
                let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)").with(options);
                eager(&fixture);
                fixture.capture();
                let url = proxy.through(fixture.database.url(), server.port());
                let fixture = fixture.with(json!({"connection_url": url}));
                let mut stream = fixture.open();
                fixture.sql("INSERT INTO t VALUES (1)");
                stream.take(1);
                proxy.half_open();
                let writer: &Database = &fixture.database;
                writer.client().execute("INSERT INTO t VALUES (2)");
                let began = Instant::now();
                let error = loop {
                    match stream.try_next() {
                        Ok(Some(batch)) => assert_eq!(batch.rows(), 0, "{case}"),
                        Ok(None) => panic!("{case}: the cycle ended without the second row"),
                        Err(error) => break error,
                    }
                };
                assert_eq!((error.code().id, error.retry()), ("postgres.connection_lost", Retry::Backoff), "{case}");
                assert!(error.to_string().contains("said nothing"), "{case}: {error}");
                assert!(began.elapsed() < Duration::from_secs(40), "{case}: it took {:?}", began.elapsed());
            });
        }
    });
}
