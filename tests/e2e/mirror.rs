//! The main job: a live table with rows in it, a mirror that snapshots and then streams, the destination equal to the
//! source when it settles.

use faucet_tests::mirror::Mirrored;
use faucet_tests::{Database, Postgres, PostgresOptions, Workload, eventually, fresh_database};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn postgres_to_postgres_under_concurrent_writes() {
    let m = Mirrored::postgres(fresh_database(), 2_000, "");
    let writer = Workload { transactions: u64::MAX, pause: Duration::from_millis(1), ..m.workload.clone() }
        .start(m.database.url());
    let running = m.faucet.spawn("mirror");
    eventually(PATIENCE, "changes to be written while the mirror runs", || {
        let copied: u64 = m.client().one("SELECT count(*)::text FROM orders_mirror").parse().unwrap();
        if copied > 1_500 && writer.changes() > 500 { Ok(()) } else { Err(format!("{copied} rows")) }
    });
    let stats = writer.stop();
    assert!(stats.committed > 50 && stats.rolled_back > 0, "{stats:?}");
    m.settles();
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}

#[test]
fn a_component_masks_a_column_on_the_way_in_both_phases() {
    let mask = "    - type: mask\n      config: { columns: [name], method: redact }\n";
    let m = Mirrored::sqlite(fresh_database(), 500, mask, "");
    let running = m.faucet.spawn("mirror");
    eventually(PATIENCE, "the snapshot", || {
        let rows = m.sqlite_rows("SELECT count(*) FROM orders_mirror");
        if rows.first().is_some_and(|r| r[0].as_deref() == Some("500")) { Ok(()) } else { Err(format!("{rows:?}")) }
    });
    m.client().execute(
        "INSERT INTO orders SELECT g, 'secret ' || g, 1, 2.50, NULL, now() FROM generate_series(501, 510) g;
         UPDATE orders SET name = 'secret again' WHERE id <= 5;
         DELETE FROM orders WHERE id BETWEEN 6 AND 9;",
    );
    let expected = m.client().one("SELECT count(*)::text FROM orders");
    eventually(PATIENCE, "the changes", || {
        let rows = m.sqlite_rows("SELECT count(*), max(id), count(DISTINCT name) FROM orders_mirror");
        let row: Vec<_> = rows.first().into_iter().flatten().flatten().cloned().collect();
        if row == [expected.as_str(), "510", "1"] { Ok(()) } else { Err(format!("{row:?}")) }
    });
    let leaked = m.sqlite_rows("SELECT id FROM orders_mirror WHERE name LIKE '%secret%' OR name LIKE 'name%'");
    assert!(leaked.is_empty(), "unmasked names reached the destination: {leaked:?}");
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}

#[test]
fn a_one_shot_mirror_ends_when_the_stream_is_idle_and_resumes_later() {
    let m = Mirrored::postgres(fresh_database(), 300, "  continuous: false\n");
    m.faucet.run("mirror").expect_code(0);
    m.settles();
    Workload { transactions: 60, ..m.workload.clone() }.run(m.database.url());
    let resumed = m.faucet.run("mirror").expect_code(0);
    m.settles();
    assert!(!resumed.stderr.contains("snapshot"), "a finished snapshot is not read again:\n{}", resumed.stderr);
}

#[test]
fn effectively_once_with_tokens() {
    let m = Mirrored::postgres(fresh_database(), 200, "  continuous: false\ndelivery: exactly_once\n");
    m.faucet.run("mirror").expect_code(0);
    Workload { transactions: 80, seed: 7, ..m.workload.clone() }.run(m.database.url());
    m.faucet.run("mirror").expect_code(0);
    m.settles();
    assert_eq!(m.client().one("SELECT count(*)::text FROM _faucet_commit_token WHERE scope = 'm::cdc'"), "1");
}

#[test]
fn a_truncate_reaches_the_destination_in_its_place() {
    let m = Mirrored::postgres(fresh_database(), 100, "");
    let running = m.faucet.spawn("mirror");
    m.settles();
    m.client().execute(
        "UPDATE orders SET qty = 0; TRUNCATE orders; INSERT INTO orders VALUES (1, 'after', 1, 1.0, '', now())",
    );
    m.settles();
    assert_eq!(m.client().one("SELECT count(*)::text FROM orders_mirror"), "1");
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}

#[test]
fn the_slot_advances_while_the_table_is_idle() {
    let m = Mirrored::postgres(fresh_database(), 10, "");
    m.client().execute("CREATE TABLE noise (n int)");
    let running = m.faucet.spawn("mirror");
    m.settles();
    m.client().execute("INSERT INTO noise SELECT generate_series(1, 1000)");
    let target = m.client().one("SELECT pg_current_wal_lsn()::text");
    eventually(PATIENCE, "confirmed_flush_lsn to pass writes to another table", || {
        let sql = format!(
            "SELECT (confirmed_flush_lsn >= '{target}')::text FROM pg_replication_slots WHERE slot_name = '{}_slot'",
            m.database.name()
        );
        if m.client().one(&sql) == "true" { Ok(()) } else { Err("it stays behind".to_owned()) }
    });
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}

#[test]
fn changes_of_a_second_table_are_left_out_not_mixed_in() {
    let m = Mirrored::postgres(fresh_database(), 10, "");
    m.client().execute("CREATE TABLE other (LIKE orders INCLUDING ALL)");
    m.client().execute(&format!("ALTER PUBLICATION {}_pub ADD TABLE other", m.database.name()));
    let running = m.faucet.spawn("mirror");
    m.settles();
    m.client().execute("UPDATE orders SET qty = 1 WHERE id = 1; INSERT INTO other SELECT * FROM orders WHERE id = 2");
    m.settles();
    m.client().execute("DELETE FROM other; UPDATE orders SET qty = 2 WHERE id = 2");
    m.settles();
    running.sigterm();
    let finished = running.wait_timeout(PATIENCE).expect_code(0);
    assert!(finished.stderr.contains("the publication also covers public.other"), "{}", finished.stderr);
}

#[test]
fn a_commit_that_is_in_the_log_and_not_yet_visible_is_not_missed() {
    let server = Postgres::start(PostgresOptions::default());
    let m = Mirrored::sqlite(Database::create_on(&server), 10, "", "  continuous: false\n");
    m.client().execute(&format!("SELECT pg_create_logical_replication_slot('{}_slot', 'pgoutput')", m.database.name()));
    // No standby has this name, so a commit waits after its record is written, and nobody sees its rows.
    let client = m.client();
    client.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    client.execute("SELECT pg_reload_conf()");
    eventually(PATIENCE, "commits to wait for a standby", || {
        match client.one("SHOW synchronous_standby_names").as_str() {
            "nobody" => Ok(()),
            other => Err(other.to_owned()),
        }
    });
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    std::thread::scope(|scope| {
        let url = m.database.url();
        scope.spawn(|| {
            faucet_tests::Client::connect(url).execute("INSERT INTO orders VALUES (99, 'late', 1, 1, NULL, now())")
        });
        eventually(PATIENCE, "the commit to be in the log", || match client.one(waiting).as_str() {
            "0" => Err("nobody waits".to_owned()),
            _ => Ok(()),
        });
        assert_eq!(client.one("SELECT count(*) FROM orders"), "10");
        // A slot that stands after the commit. (Making one would wait for the transaction by itself.)
        client.execute(&format!(
            "SELECT pg_replication_slot_advance('{}_slot', pg_current_wal_lsn())",
            m.database.name()
        ));
        let mut running = m.faucet.spawn("mirror");
        let session =
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'faucet:capture' AND state = 'idle'";
        eventually(PATIENCE, "the position to be captured", || match client.one(session).as_str() {
            "0" => Err("nobody captures".to_owned()),
            _ => Ok(()),
        });
        // A snapshot taken now would miss it. Nothing can be waited for here: that it isn't taken is the point.
        std::thread::sleep(Duration::from_millis(300));
        assert!(running.is_running());
        client.execute("ALTER SYSTEM RESET synchronous_standby_names");
        client.execute("SELECT pg_reload_conf()");
        running.wait_timeout(PATIENCE).expect_code(0);
    });
    let found = m.sqlite_rows("SELECT name FROM orders_mirror WHERE id = 99");
    assert_eq!(found.len(), 1, "the row is in the source and neither in the snapshot nor in the stream");
}
