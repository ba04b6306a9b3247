//! A stream opened at a bookmark goes on exactly behind it.

use super::{Fixture, bookmark, changes, last_bookmark};
use faucet_core::error::Retry;
use faucet_tests::{Postgres, PostgresOptions, Proxy, eventually};
use serde_json::json;
use std::time::Duration;

#[test]
fn each_bookmark_delivers_exactly_the_rest() {
    // No linger: a batch for each transaction.
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)").with(json!({"linger": 0, "batch_size": 1}));
    fixture.capture();
    for id in 0..12 {
        fixture.sql(&format!("INSERT INTO t VALUES ({id}), ({id} + 100)"));
    }
    let mut stream = fixture.open();
    let batches = stream.drain();
    drop(stream);
    let all: Vec<String> = batches.iter().flat_map(changes).collect();
    assert_eq!(all.len(), 24);
    let mut seen = 0;
    for batch in &batches {
        seen += batch.rows();
        if batch.boundary == faucet_core::ports::Boundary::Inside {
            continue;
        }
        // Nothing was confirmed, so the server sends everything again and the stream leaves out what was applied.
        assert_eq!(fixture.resume(&bookmark(batch)).changes(), all[seen..], "after {seen}");
    }
    assert_eq!(seen, 24);
}

#[test]
fn a_confirmed_position_reaches_the_server_at_close_and_is_not_sent_again() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)");
    let start = fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1)");
    let mut stream = fixture.open();
    let at = last_bookmark(&stream.take(1));
    assert_eq!(fixture.confirmed(), start.0["lsn"].as_str().unwrap());
    stream.confirm(&at);
    stream.close();
    assert_eq!(fixture.confirmed(), at.0["lsn"].as_str().unwrap());
    fixture.sql("INSERT INTO t VALUES (2)");
    // Without a bookmark a stream starts where the slot stands.
    assert_eq!(fixture.open().changes(), ["c t id=2"]);
}

#[test]
fn nothing_is_confirmed_that_was_not() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)").with(json!({"status_update_interval": "20ms"}));
    let start = fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1)");
    let mut stream = fixture.open();
    stream.drain();
    stream.close();
    assert_eq!(fixture.confirmed(), start.0["lsn"].as_str().unwrap());
    assert_eq!(fixture.open().changes(), ["c t id=1"]);
}

#[test]
fn a_killed_backend_is_worth_another_try_which_loses_nothing() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)").with(json!({"idle_timeout": "30s"}));
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1)");
    let mut stream = fixture.open();
    let at = last_bookmark(&stream.take(1));
    stream.confirm(&at);
    let slot = fixture.slot().to_owned();
    fixture
        .sql(&format!("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = '{slot}'"));
    fixture.sql("INSERT INTO t VALUES (2)");
    let error = loop {
        match stream.try_next() {
            Ok(batch) => assert_eq!(batch.unwrap().rows(), 0),
            Err(error) => break error,
        }
    };
    assert_eq!(error.retry(), Retry::Backoff);
    assert!(["postgres.shutting_down", "postgres.connection_lost"].contains(&error.code().id), "{error:?}");
    drop(stream);
    assert_eq!(changes(&fixture.resume(&at).take(1)[0]), ["c t id=2"]);
}

#[test]
fn a_cut_connection_in_the_middle_of_a_transaction_repeats_it_whole() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY, pad text)");
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1, 'x')");
    fixture.sql("INSERT INTO t SELECT i, repeat('x', 1000) FROM generate_series(2, 50000) i");
    let port = faucet_tests::shared_postgres().port();
    let proxy = Proxy::start(port);
    let url = proxy.through(fixture.database.url(), port);
    let through = Fixture { config: fixture.config.clone(), ..fixture }.with(json!({"connection_url": url}));
    let mut stream = through.open();
    let mut durable = None;
    let mut inside = 0;
    while inside < 3 {
        let batch = stream.next().unwrap();
        match batch.boundary {
            faucet_core::ports::Boundary::Inside => inside += 1,
            _ => durable = Some(bookmark(&batch)),
        }
    }
    proxy.cut();
    let error = loop {
        if let Err(error) = stream.try_next() {
            break error;
        }
    };
    assert_eq!(error.code().id, "postgres.connection_lost");
    drop(stream);
    let again = through.try_open(durable.clone()).unwrap().drain();
    let rows: usize = again.iter().map(|b| b.rows()).sum();
    assert_eq!(rows, if durable.is_some() { 49_999 } else { 50_000 });
}

#[test]
fn a_server_killed_and_restarted_loses_nothing() {
    let mut server = Postgres::start(PostgresOptions { fsync: true, ..PostgresOptions::default() });
    let fixture = Fixture::on_server(&server, "CREATE TABLE t (id int PRIMARY KEY)");
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1)");
    let mut stream = fixture.open();
    let at = last_bookmark(&stream.take(1));
    stream.confirm(&at);
    fixture.sql("INSERT INTO t VALUES (2)");
    server.kill9();
    let error = loop {
        if let Err(error) = stream.try_next() {
            break error;
        }
    };
    assert_eq!(error.retry(), Retry::Backoff, "{error:?}");
    drop(stream);
    let error = fixture.try_open(Some(at.clone())).err().unwrap();
    assert_eq!((error.code().id, error.retry()), ("postgres.unreachable", Retry::Backoff));
    server.restart();
    let mut stream = eventually(Duration::from_secs(20), "the server to take connections", || {
        fixture.try_open(Some(at.clone())).map_err(|e| format!("{e:?}"))
    });
    assert_eq!(stream.changes(), ["c t id=2"]);
}

#[test]
fn a_server_can_shut_down_while_a_stream_is_open() {
    let mut server = Postgres::start(PostgresOptions::default());
    let fixture =
        Fixture::on_server(&server, "CREATE TABLE t (id int PRIMARY KEY)").with(json!({"idle_timeout": "60s"}));
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1)");
    let mut stream = fixture.open();
    let at = last_bookmark(&stream.take(1));
    stream.confirm(&at);
    // The server waits for us to reach the end of its log, which the stream does by itself.
    let began = std::time::Instant::now();
    std::thread::scope(|scope| {
        let stopping = scope.spawn(|| server.stop());
        let error = loop {
            match stream.try_next() {
                Ok(batch) => {
                    if let Some(batch) = batch {
                        stream.confirm(&bookmark(&batch));
                    }
                }
                Err(error) => break error,
            }
        };
        assert_eq!(error.retry(), Retry::Backoff, "{error:?}");
        stopping.join().unwrap();
    });
    assert!(began.elapsed() < Duration::from_secs(5), "shutting down took {:?}", began.elapsed());
}
