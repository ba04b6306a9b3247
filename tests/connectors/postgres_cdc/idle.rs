//! A stream without changes: the slot moves on, and a cycle ends only when everything was read.

use super::{Fixture, bookmark};
use faucet_tests::{Database, shared_postgres};
use serde_json::json;
use std::time::{Duration, Instant};

fn eager(ddl: &str, of: &str) -> Fixture {
    Fixture::publishing(ddl, of).with(json!({"status_update_interval": "100ms", "idle_timeout": "60s"}))
}

/// Reads and confirms until the slot's confirmed position has passed `target`.
fn confirm_until(fixture: &Fixture, target: &str) -> usize {
    let mut stream = fixture.open();
    let client = fixture.client();
    let began = Instant::now();
    let mut batches = 0;
    let slot = fixture.slot();
    while client
        .one(&format!("SELECT confirmed_flush_lsn >= '{target}' FROM pg_replication_slots WHERE slot_name = '{slot}'"))
        != "t"
    {
        assert!(began.elapsed() < Duration::from_secs(20), "the slot stays behind {target}");
        let batch = stream.next().expect("the cycle goes on");
        assert_eq!(batch.rows(), 0);
        stream.confirm(&bookmark(&batch));
        batches += 1;
    }
    batches
}

#[test]
fn the_slot_moves_on_while_only_other_tables_are_written() {
    let fixture = eager("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY)", "FOR TABLE t");
    fixture.capture();
    fixture.sql("INSERT INTO u SELECT generate_series(1, 1000)");
    let target = fixture.database.client().one("SELECT pg_current_wal_lsn()");
    confirm_until(&fixture, &target);
}

#[test]
fn the_slot_moves_on_while_only_another_database_is_written() {
    let fixture = eager("CREATE TABLE t (id int PRIMARY KEY)", "FOR TABLE t");
    fixture.capture();
    let other = Database::create_on(shared_postgres());
    other.client().execute("CREATE TABLE u (id int); INSERT INTO u SELECT generate_series(1, 1000)");
    let target = other.client().one("SELECT pg_current_wal_lsn()");
    confirm_until(&fixture, &target);
}

#[test]
fn an_idle_stream_makes_a_bookmark_at_intervals_and_not_more() {
    let fixture = eager("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY)", "FOR TABLE t")
        .with(json!({"idle_timeout": "60s", "status_update_interval": "300ms", "max_cycle_duration": "2s"}));
    fixture.capture();
    let mut stream = fixture.open();
    let client = fixture.client();
    let batches = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let began = Instant::now();
            let mut id = 0;
            while began.elapsed() < Duration::from_secs(2) {
                client.execute(&format!("INSERT INTO u VALUES ({id})"));
                id += 1;
            }
        });
        let batches = stream.drain();
        writer.join().unwrap();
        batches
    });
    assert!((3..=9).contains(&batches.len()), "{} bookmarks in two seconds", batches.len());
}

#[test]
fn an_idle_cycle_ends_with_the_position_reached() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)");
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1)");
    fixture.sql("VACUUM t");
    let end = fixture.database.client().one("SELECT pg_current_wal_lsn()");
    let mut stream = fixture.open();
    let batches = stream.drain();
    let last = bookmark(batches.last().unwrap());
    let reached =
        fixture.database.client().one(&format!("SELECT '{}'::pg_lsn >= '{end}'", last.0["lsn"].as_str().unwrap()));
    assert_eq!(reached, "t");
    stream.confirm(&last);
    stream.close();
}

#[test]
fn a_cycle_is_not_over_while_the_server_still_reads_its_log() {
    // A transaction large enough that the server needs far longer than the idle timeout before it sends a byte of it.
    let fixture =
        Fixture::publishing("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int, pad text)", "FOR TABLE t")
            .with(json!({"idle_timeout": "10ms"}));
    fixture.capture();
    fixture.sql("INSERT INTO u SELECT i, md5(i::text) FROM generate_series(1, 400000) i");
    fixture.sql("INSERT INTO t VALUES (1)");
    assert_eq!(fixture.open().changes(), ["c t id=1"]);
}

#[test]
fn a_heartbeat_gives_an_idle_database_positions_and_is_no_change() {
    let fixture = eager("CREATE TABLE t (id int PRIMARY KEY)", "FOR TABLE t")
        .with(json!({"heartbeat_interval": "50ms", "idle_timeout": "1s"}));
    fixture.capture();
    let before = fixture.client().one("SELECT pg_current_wal_lsn()");
    let mut stream = fixture.open();
    // The cycle ends although heartbeats keep coming.
    let batches = stream.drain();
    assert_eq!(batches.iter().map(faucet_core::ports::Batch::rows).sum::<usize>(), 0);
    let last = bookmark(batches.last().expect("an idle cycle has a bookmark"));
    stream.confirm(&last);
    stream.close();
    let sql = format!("SELECT '{}'::pg_lsn > '{before}'", last.0["lsn"].as_str().unwrap());
    assert_eq!(fixture.client().one(&sql), "t", "nothing else wrote to the log");
    // It has ended with the stream.
    let end = || {
        fixture.client().one(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%faucet.heartbeat%' AND pid <> pg_backend_pid()",
        )
    };
    faucet_tests::eventually(Duration::from_secs(10), "the heartbeat to end", || match end().as_str() {
        "0" => Ok(()),
        some => Err(format!("{some} sessions")),
    });
}
