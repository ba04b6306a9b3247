//! The slot: made, found, held by somebody else, past us, dropped.

use super::{Fixture, last_bookmark, open, try_capture};
use faucet_core::error::{Error, Retry};
use faucet_core::model::TableId;
use faucet_core::ports::Bookmark;
use faucet_tests::{Database, runtime, shared_postgres};
use serde_json::json;

const DDL: &str = "CREATE TABLE t (id int PRIMARY KEY)";

fn error_of(result: Result<super::Stream, Error>) -> Error {
    result.err().expect("the stream doesn't open")
}

fn slots(fixture: &Fixture) -> String {
    let sql = format!("SELECT count(*) FROM pg_replication_slots WHERE database = '{}'", fixture.database.name());
    fixture.database.client().one(&sql)
}

#[test]
fn a_captured_position_is_where_the_stream_begins() {
    let fixture = Fixture::new(DDL);
    fixture.sql("INSERT INTO t VALUES (1)");
    let captured = fixture.capture();
    assert_eq!(captured.0["lsn"].as_str().unwrap(), fixture.confirmed());
    fixture.sql("INSERT INTO t VALUES (2)");
    // A second capture finds the slot.
    assert_eq!(fixture.capture(), captured);
    assert_eq!(fixture.resume(&captured).changes(), ["c t id=2"]);
}

#[test]
fn a_capture_waits_for_transactions_that_are_open() {
    let fixture = Fixture::new(DDL);
    let open_one = fixture.client();
    open_one.execute("BEGIN; INSERT INTO t VALUES (1)");
    std::thread::scope(|scope| {
        let capturing = scope.spawn(|| fixture.capture());
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walsender' AND wait_event_type = 'Lock' \
                       AND datname = current_database()";
        let probe = fixture.client();
        faucet_tests::eventually(std::time::Duration::from_secs(10), "the slot's creation to wait", || {
            if probe.one(waiting) == "1" { Ok(()) } else { Err("it doesn't".to_owned()) }
        });
        open_one.execute("COMMIT");
        capturing.join().unwrap();
    });
    // The row is visible to a snapshot that starts now, so the stream needn't have it.
    assert_eq!(fixture.database.client().one("SELECT count(*) FROM t"), "1");
    assert!(fixture.open().changes().is_empty());
}

#[test]
fn a_slot_is_only_created_when_that_loses_nothing() {
    let fixture = Fixture::new(DDL).with(json!({"create_slot_if_missing": false}));
    let error = error_of(fixture.try_open(None));
    assert_eq!((error.code().id, error.retry()), ("postgres.slot_missing", Retry::Operator));
    assert!(error.hint_text().unwrap().contains("create_slot_if_missing"));
    assert_eq!(try_capture(&fixture.config).unwrap_err().code().id, "postgres.slot_missing");

    let fixture = fixture.with(json!({"create_slot_if_missing": true}));
    let bookmark = fixture.capture();
    fixture.sql(&format!("SELECT pg_drop_replication_slot('{}')", fixture.slot()));
    let error = error_of(fixture.try_open(Some(bookmark)));
    assert_eq!(error.code().id, "postgres.slot_missing");
    assert!(error.hint_text().unwrap().contains("mirror --replace"), "{error:?}");
    assert_eq!(slots(&fixture), "0");
    // Without a bookmark nothing can be missing.
    fixture.open();
    assert_eq!(slots(&fixture), "1");
}

#[test]
fn a_slot_in_use_is_told_with_its_reader() {
    let fixture = Fixture::new(DDL);
    fixture.capture();
    let mut first = fixture.open();
    let began = std::time::Instant::now();
    let error = error_of(fixture.try_open(None));
    assert_eq!((error.code().id, error.retry()), ("postgres.slot_active", Retry::Backoff));
    assert!(error.to_string().contains("server process"), "{error}");
    assert!(began.elapsed() > std::time::Duration::from_secs(5), "it gave up at once");
    first.close();
    fixture.open();
}

#[test]
fn a_slot_past_the_bookmark_is_refused() {
    let fixture = Fixture::new(DDL);
    let bookmark = fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1)");
    let slot = fixture.slot();
    fixture.sql(&format!("SELECT pg_replication_slot_advance('{slot}', pg_current_wal_lsn())"));
    let error = error_of(fixture.try_open(Some(bookmark)));
    assert_eq!((error.code().id, error.retry()), ("postgres.slot_ahead", Retry::Operator));
}

#[test]
fn slots_of_another_kind_plugin_or_database_are_refused() {
    let fixture = Fixture::new(DDL);
    let code = |sql: &str| {
        fixture.sql(sql);
        let code = error_of(fixture.try_open(None)).code().id;
        fixture.sql(&format!("SELECT pg_drop_replication_slot('{}')", fixture.slot()));
        code
    };
    let slot = fixture.slot();
    assert_eq!(code(&format!("SELECT pg_create_physical_replication_slot('{slot}')")), "postgres.slot_plugin");
    let other = format!("SELECT pg_create_logical_replication_slot('{slot}', 'test_decoding')");
    if fixture.client().try_execute(&other).is_ok() {
        fixture.sql(&format!("SELECT pg_drop_replication_slot('{slot}')"));
        assert_eq!(code(&other), "postgres.slot_plugin");
    }
    let two_phase = format!("SELECT pg_create_logical_replication_slot('{slot}', 'pgoutput', false, true)");
    assert_eq!(code(&two_phase), "postgres.stream_unexpected");
    let elsewhere = Database::create_on(shared_postgres());
    elsewhere.client().execute(&format!("SELECT pg_create_logical_replication_slot('{slot}', 'pgoutput')"));
    assert_eq!(error_of(fixture.try_open(None)).code().id, "postgres.slot_wrong_database");
}

#[test]
fn a_bookmark_of_another_server_or_source_is_refused() {
    let fixture = Fixture::new(DDL);
    let captured = fixture.capture();
    let changed = |key: &str, value: serde_json::Value| {
        let mut bookmark = captured.clone();
        bookmark.0[key] = value;
        error_of(fixture.try_open(Some(bookmark))).code().id
    };
    assert_eq!(changed("system", json!("1")), "postgres.other_server");
    assert_eq!(changed("timeline", json!(9)), "postgres.other_server");
    assert_eq!(changed("lsn", json!("FFFF/0")), "postgres.other_server");
    assert_eq!(changed("lsn", json!("nonsense")), "postgres.bookmark_invalid");
    let foreign = Bookmark(json!({"file": "binlog.000001", "pos": 4}));
    assert_eq!(error_of(fixture.try_open(Some(foreign))).code().id, "postgres.bookmark_invalid");
}

#[test]
fn a_temporary_slot_lives_as_long_as_its_stream() {
    let fixture = Fixture::new(DDL).with(json!({"slot_type": "temporary"}));
    assert!(super::connector().capture(&fixture.config).is_none());
    let capabilities = super::connector().capabilities(&fixture.config).unwrap();
    assert!(capabilities.changes && !capabilities.capture && !capabilities.replayable);
    fixture.sql("INSERT INTO t VALUES (1)");
    let mut stream = fixture.open();
    fixture.sql("INSERT INTO t VALUES (2)");
    let batches = stream.drain();
    assert_eq!(super::changes(&batches[0]), ["c t id=2"]);
    assert_eq!(slots(&fixture), "1");
    stream.close();
    assert_eq!(slots(&fixture), "0");
    // It starts anew, whatever is stored.
    let mut again = fixture.resume(&last_bookmark(&batches));
    fixture.sql("INSERT INTO t VALUES (3)");
    assert_eq!(again.changes(), ["c t id=3"]);
}

#[test]
fn dropping_a_slot_matches_its_name_exactly() {
    let fixture = Fixture::new(DDL);
    fixture.capture();
    // Under LIKE, `_` would stand for any character.
    let sibling = fixture.slot().replacen('_', "x", 1);
    fixture.sql(&format!("SELECT pg_create_logical_replication_slot('{sibling}', 'pgoutput')"));
    let config = fixture.config.clone();
    let dropped = move || {
        let mut capture = super::connector().capture(&config).unwrap();
        runtime::wait(async move { capture.release().await })
    };
    let mut stream = fixture.open();
    assert_eq!(dropped().unwrap_err().code().id, "postgres.slot_active");
    stream.close();
    assert!(dropped().unwrap());
    assert!(!dropped().unwrap());
    assert_eq!(slots(&fixture), "1");
}

#[test]
fn the_tables_of_a_publication_are_found_with_their_keys() {
    let ddl = "CREATE SCHEMA s; CREATE TABLE s.b (x int, y int, PRIMARY KEY (y, x)); CREATE TABLE a (id int);
               CREATE TABLE p (id int PRIMARY KEY) PARTITION BY RANGE (id);
               CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
               CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20); CREATE TABLE unpublished (id int)";
    let fixture = Fixture::publishing(ddl, "FOR TABLE s.b, a, p");
    let config = fixture.config.clone();
    let mut capture = super::connector().capture(&config).unwrap();
    let found = runtime::wait(async move { capture.discover().await }).unwrap();
    let found: Vec<_> = found.into_iter().map(|d| (d.table, d.key.join(","))).collect();
    let table = |schema: &str, name: &str, key: &str| (TableId::new(schema, name), key.to_owned());
    assert_eq!(found, [table("public", "a", ""), table("public", "p", "id"), table("s", "b", "y,x")]);
}

#[test]
fn a_tables_name_is_never_a_pattern() {
    let ddl = "CREATE TABLE user_1 (id int PRIMARY KEY); CREATE TABLE userx1 (id int PRIMARY KEY);
               CREATE SCHEMA other; CREATE TABLE other.user_1 (id int PRIMARY KEY)";
    let fixture = Fixture::publishing(ddl, "FOR TABLE public.user_1");
    fixture.capture();
    fixture.sql("INSERT INTO userx1 VALUES (1); INSERT INTO other.user_1 VALUES (2); INSERT INTO user_1 VALUES (3)");
    assert_eq!(fixture.open().changes(), ["c user_1 id=3"]);
    let mut capture = super::connector().capture(&fixture.config).unwrap();
    let found = runtime::wait(async move { capture.discover().await }).unwrap();
    assert_eq!(found.into_iter().map(|d| d.table).collect::<Vec<_>>(), [TableId::new("public", "user_1")]);
}

#[test]
fn the_server_shows_whose_session_it_is() {
    let fixture = Fixture::new(DDL);
    let _stream = open(&fixture.config, None).unwrap();
    let sql =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'faucet:test'";
    assert_eq!(fixture.database.client().one(sql), "2");
}
