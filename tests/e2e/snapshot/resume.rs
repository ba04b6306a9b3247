//! What a snapshot goes on with after a crash.

use faucet_tests::mirror::Mirrored;
use faucet_tests::{Shape, TableMirror, Workload, eventually, fresh_database, rows_read};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// A column too large to be stored in line, and so left out of updates in the log.
const BIG: &str = "(SELECT string_agg(md5(g::text || i), '') FROM generate_series(1, 300) i)";

fn table(rows: u32) -> String {
    format!(
        "CREATE TABLE t (id bigint PRIMARY KEY, label text, big text);
         ALTER TABLE t ALTER COLUMN big SET STORAGE EXTERNAL;
         INSERT INTO t SELECT g, 'row ' || g, {BIG} FROM generate_series(1, {rows}) g"
    )
}

#[test]
fn finished_ranges_are_not_read_again() {
    let mut m = TableMirror::new(fresh_database(), Shape { ddl: &table(1600), ..Shape::default() });
    m.crash("after_part:5");
    assert_eq!((m.ranges(), m.finished()), (8, 5));
    let config = m.faucet.config().display().to_string();
    let doctor = m.faucet.run_with(&["doctor", &config]).expect_code(0);
    assert!(doctor.stdout.contains("5 of its 8 ranges"), "{}", doctor.stdout);
    let resumed = m.run();
    m.settles();
    assert_eq!(rows_read(&resumed), 600, "three ranges of 200 rows are left");
    assert!(m.marker().get("snapshot").is_none());
    // Killed in the middle of a range, that range is read again.
    let mut m = TableMirror::new(fresh_database(), Shape { ddl: &table(1600), ..Shape::default() });
    m.crash("mid_snapshot:10");
    assert_eq!(m.finished(), 2);
    assert_eq!(rows_read(&m.run()), 1200);
    m.settles();
}

#[test]
fn rows_whose_key_moves_into_a_finished_range_arrive_whole() {
    let mut m = TableMirror::new(fresh_database(), Shape { ddl: &table(800), ..Shape::default() });
    m.crash("after_part:4");
    m.sql(
        "UPDATE t SET id = -id WHERE id IN (700, 701, 500);
         UPDATE t SET id = id + 10000, label = 'up' WHERE id IN (5, 6);
         UPDATE t SET id = -id - 5000 WHERE id = -701;
         DELETE FROM t WHERE id IN (7, 650); UPDATE t SET label = 'same' WHERE id IN (8, 660);
         INSERT INTO t VALUES (-1, 'new', repeat('x', 9000)), (20001, 'new', repeat('y', 9000))",
    );
    let resumed = m.run();
    m.settles();
    let read = rows_read(&resumed);
    assert!(read > 400 && read < 450, "half of the rows, what was written since, and the stream: {read}");
}

#[test]
fn rows_whose_key_moves_while_ranges_are_read_arrive_whole() {
    let m = TableMirror::new(fresh_database(), Shape { ddl: &table(1600), ..Shape::default() });
    let running = m.faucet.spawn("mirror");
    eventually(PATIENCE, "the first range", || match m.database.client().one("SELECT count(*) FROM copy").as_str() {
        "0" => Err("no row".to_owned()),
        _ => Ok(()),
    });
    // Nothing is written meanwhile, so rows move out of ranges that are not read yet into one that is.
    m.sql("BEGIN; LOCK TABLE copy IN EXCLUSIVE MODE; UPDATE t SET id = -id WHERE id % 3 = 0 AND id > 800; COMMIT");
    running.wait_timeout(PATIENCE).expect_code(0);
    m.settles();
}

#[test]
fn a_snapshot_that_is_gone_costs_the_ranges_that_are_left() {
    let m = TableMirror::new(fresh_database(), Shape { ddl: &table(800), ..Shape::default() });
    let running = m.faucet.spawn("mirror");
    eventually(PATIENCE, "the first range", || match m.database.client().one("SELECT count(*) FROM copy").as_str() {
        "0" => Err("no row".to_owned()),
        _ => Ok(()),
    });
    m.sql(
        "BEGIN; LOCK TABLE copy IN EXCLUSIVE MODE; SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE '%pg_export_snapshot%' AND pid <> pg_backend_pid(); COMMIT",
    );
    let failed = running.wait_timeout(PATIENCE).expect_code(1);
    assert!(failed.stderr.contains("postgres.snapshot_gone"), "{}", failed.stderr);
    let finished = m.finished() as u64;
    assert!((1..8).contains(&finished), "{finished}");
    assert_eq!(rows_read(&m.run()), 800 - 100 * finished);
    m.settles();
}

#[test]
fn rows_that_move_into_a_finished_range_of_blocks_arrive_whole() {
    // A key by pattern order is no key to cut by, and is one to identify rows by.
    let ddl = format!(
        "CREATE TABLE t (id text NOT NULL, label text, big text) WITH (fillfactor = 100);
         ALTER TABLE t ALTER COLUMN big SET STORAGE EXTERNAL;
         CREATE UNIQUE INDEX t_id ON t (id text_pattern_ops);
         ALTER TABLE t REPLICA IDENTITY USING INDEX t_id;
         INSERT INTO t SELECT to_char(g, 'FM0000'), repeat('l', 200), {BIG} FROM generate_series(1, 1200) g;
         DELETE FROM t WHERE id <= '0300'"
    );
    let mut m = TableMirror::new(fresh_database(), Shape { ddl: &ddl, ..Shape::default() });
    m.sql("VACUUM t");
    m.crash("after_part:6");
    assert!(m.marker()["snapshot"]["plan"]["cuts"].get("blocks").is_some(), "{}", m.marker());
    let block = |m: &TableMirror| m.database.client().one("SELECT min(ctid)::text FROM t WHERE id > '1190'");
    let before = block(&m);
    m.sql("UPDATE t SET label = 'moved' || repeat('m', 200) WHERE id > '1190'");
    assert!(block(&m) < before, "{} {before}: the rows were expected to move to the front", block(&m));
    m.run();
    m.settles();
}

#[test]
fn a_rewritten_table_is_read_from_its_beginning() {
    let ddl = "CREATE TABLE t (id text NOT NULL); CREATE UNIQUE INDEX t_id ON t (id text_pattern_ops);
               ALTER TABLE t REPLICA IDENTITY USING INDEX t_id;
               INSERT INTO t SELECT repeat('x', 100) || g FROM generate_series(1, 900) g";
    let mut m = TableMirror::new(fresh_database(), Shape { ddl, ..Shape::default() });
    m.crash("after_part:4");
    m.sql("DELETE FROM t WHERE id LIKE '%7'");
    m.sql("VACUUM FULL t");
    let left: u64 = m.database.client().one("SELECT count(*) FROM t").parse().unwrap();
    let resumed = m.run();
    assert!(rows_read(&resumed) >= left, "{} of {left}", rows_read(&resumed));
    m.settles();
}

#[test]
fn another_query_starts_over() {
    let mut m = TableMirror::new(fresh_database(), Shape { ddl: &table(160), ..Shape::default() });
    m.crash("after_part:4");
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    m.faucet.set_config(&config.replace("SELECT * FROM t", "SELECT id, label, big FROM t /* all */"));
    assert_eq!(rows_read(&m.run()), 160);
    m.settles();
}

#[test]
fn four_ranges_at_once_under_a_writer_that_changes_keys() {
    let m = Mirrored::postgres(fresh_database(), 4_000, "    shards: 16\n    concurrency: 4\n");
    let writer = Workload { transactions: u64::MAX, pause: Duration::from_millis(1), ..m.workload.clone() }
        .start(m.database.url());
    let running = m.faucet.spawn("mirror");
    eventually(PATIENCE, "changes to be written while the mirror runs", || {
        let copied: u64 = m.client().one("SELECT count(*)::text FROM orders_mirror").parse().unwrap();
        if copied > 3_000 && writer.changes() > 500 { Ok(()) } else { Err(format!("{copied} rows")) }
    });
    writer.stop();
    m.settles();
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}

#[test]
fn killed_again_and_again_under_a_writer() {
    let mut m = Mirrored::postgres(fresh_database(), 2_000, "    shards: 12\n    concurrency: 3\n");
    let mut writer =
        Workload { transactions: 300, pause: Duration::from_millis(2), ..m.workload.clone() }.start(m.database.url());
    for failpoint in ["after_part:2", "mid_snapshot:5", "after_part:3", "mid_snapshot:2", "after_part"] {
        m.faucet.set_env("FAUCET_FAILPOINT", failpoint);
        assert_eq!(m.faucet.run("mirror").code(), None, "{failpoint} was not reached");
    }
    m.faucet.set_env("FAUCET_FAILPOINT", "");
    let running = m.faucet.spawn("mirror");
    writer.join();
    m.settles();
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}

#[test]
fn a_stop_keeps_what_is_finished() {
    let ddl = table(4000);
    let m = TableMirror::new(fresh_database(), Shape { ddl: &ddl, snapshot: "shards: 40", ..Shape::default() });
    let running = m.faucet.spawn("mirror");
    eventually(PATIENCE, "some rows", || match m.database.client().one("SELECT count(*) FROM copy").as_str() {
        "0" => Err("none".to_owned()),
        _ => Ok(()),
    });
    running.sigterm();
    let stopped = running.wait_timeout(PATIENCE).expect_code(0);
    let copied: u64 = m.database.client().one("SELECT count(*) FROM copy").parse().unwrap();
    assert!(copied < 4000 && m.finished() > 0, "{copied} rows:\n{}", stopped.stderr);
    assert!(rows_read(&m.run()) < 4000);
    m.settles();
}
