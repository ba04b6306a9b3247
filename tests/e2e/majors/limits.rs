//! Limits that newer servers set to time, and columns that they publish.

use super::{Between, PATIENCE};
use faucet_tests::{Postgres, PostgresOptions, Shape, TableMirror, eventually, fresh_database_on, shared_postgres_of};

const DDL: &str =
    "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT g, 'copied' FROM generate_series(1, 300) g";

/// Since 18 a slot that nobody reads for long is given up.
#[test]
fn a_slot_that_was_idle_for_too_long_says_so() {
    let settings = vec![("idle_replication_slot_timeout".to_owned(), "1s".to_owned())];
    let server = Postgres::start(PostgresOptions { major: Some(18), settings, ..PostgresOptions::default() });
    let m = Between::new(&server, DDL, &[], "");
    m.run();
    eventually(PATIENCE, "the slot to be given up", || {
        m.sql("CHECKPOINT");
        let reason = m.source.client().rows("SELECT invalidation_reason FROM pg_replication_slots")[0][0].clone();
        if reason.as_deref() == Some("idle_timeout") { Ok(()) } else { Err(format!("{reason:?}")) }
    });
    m.sql("INSERT INTO t VALUES (1000, 'missed'); DELETE FROM t WHERE id = 1");
    let failed = m.faucet.run("mirror");
    for part in ["postgres.slot_lost", "idle_timeout", "idle_replication_slot_timeout"] {
        assert!(failed.stderr.contains(part), "no {part}:\n{}", failed.stderr);
    }
    let config = m.faucet.config().display().to_string();
    let doctor = m.faucet.run_with(&["doctor", &config]);
    assert!(doctor.stdout.contains("idle_timeout"), "{}", doctor.stdout);
}

/// A snapshot's transactions take as long as the destination needs, and so does what is written there.
fn transaction_timeout_ends_no_session(major: u32) {
    let ddl =
        "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT g, 'copied' FROM generate_series(1, 300) g";
    let m = TableMirror::new(fresh_database_on(major), Shape { ddl, ..Shape::default() });
    let probe = m.database.connect();
    m.sql(&format!("ALTER DATABASE {} SET transaction_timeout = '400ms'", m.database.name()));
    let held = || {
        m.sql("BEGIN; LOCK TABLE copy IN SHARE MODE");
        let running = m.faucet.spawn("mirror");
        eventually(PATIENCE, "a transaction that is older than the limit", || {
            let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'faucet:%'
                       AND datname = current_database() AND clock_timestamp() - xact_start > interval '600 ms'";
            if probe.one(sql) == "0" { Err(running.stderr_so_far()) } else { Ok(()) }
        });
        m.sql("COMMIT");
        running.wait_timeout(PATIENCE).expect_code(0);
        m.settles();
    };
    held();
    m.sql("UPDATE t SET v = 'changed'");
    held();
}

#[test]
fn transaction_timeout_ends_no_session_on_17() {
    transaction_timeout_ends_no_session(17);
}

#[test]
fn transaction_timeout_ends_no_session_on_18() {
    transaction_timeout_ends_no_session(18);
}

const GENERATED: &str = "CREATE TABLE t (id int PRIMARY KEY, a int, twice int GENERATED ALWAYS AS (a * 2) STORED,
    thrice int GENERATED ALWAYS AS (a * 3) VIRTUAL); INSERT INTO t SELECT g, g FROM generate_series(1, 100) g; ";

/// What the stream doesn't carry is not copied either, or it would never change again.
#[test]
fn generated_columns_are_copied_if_they_are_published() {
    let publications = [
        ("CREATE PUBLICATION pub FOR TABLE t", "a,id"),
        ("CREATE PUBLICATION pub FOR TABLE t WITH (publish_generated_columns = stored)", "a,id,twice"),
        ("CREATE PUBLICATION pub FOR TABLE t (id, twice)", "id,twice"),
        ("CREATE PUBLICATION pub FOR ALL TABLES WITH (publish_generated_columns = stored)", "a,id,twice"),
    ];
    for (publication, columns) in publications {
        let m = Between::new(shared_postgres_of(18), &format!("{GENERATED}{publication}"), &[], "");
        m.run();
        m.sql("UPDATE t SET a = a + 1000 WHERE id <= 50; INSERT INTO t VALUES (101, 101); DELETE FROM t WHERE id = 60");
        m.run();
        let copied = "SELECT string_agg(attname, ',' ORDER BY attname) FROM pg_attribute
                      WHERE attrelid = 'copy'::regclass AND attnum > 0";
        assert_eq!(m.copy.client().one(copied), columns, "{publication}");
        let rows = |table: &str| format!("SELECT {columns} FROM {table} ORDER BY id");
        assert_eq!(m.copy.client().rows(&rows("copy")), m.source.client().rows(&rows("t")), "{publication}");
    }
}
