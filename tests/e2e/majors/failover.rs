//! Slots that are kept in step on a standby (17 and newer): a promoted one goes on where the primary ended.

use super::{Between, PATIENCE, ends};
use faucet_tests::postgres::STANDBY_SLOT;
use faucet_tests::watchdog::signal;
use faucet_tests::{Client, Postgres, PostgresOptions, eventually};

const DDL: &str =
    "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT g, 'copied' FROM generate_series(1, 300) g";
const FAILOVER: &[&str] = &["failover: true"];
/// A standby's slots are kept in step only while it feeds its primary's.
const FOLLOWING: [(&str, &str); 2] = [("sync_replication_slots", "on"), ("synchronized_standby_slots", "")];

fn primary(major: u32, settings: &[(&str, &str)]) -> Postgres {
    let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Postgres::start(PostgresOptions { major: Some(major), settings, ..PostgresOptions::default() })
}

/// Writes to the primary until the standby has the slot for good.
fn slot_arrives(m: &Between, standby: &Postgres, mirrored: impl Fn()) {
    let there = standby.connect("postgres");
    let sql = "SELECT count(*) FROM pg_replication_slots WHERE synced AND failover AND NOT temporary";
    let mut id = 1000;
    eventually(PATIENCE, "the slot on the standby", || {
        id += 1;
        m.sql(&format!("INSERT INTO t VALUES ({id}, 'while the slot is copied'); SELECT pg_log_standby_snapshot()"));
        mirrored();
        if there.one(sql) == "1" {
            Ok(())
        } else {
            Err(format!("{:?}", there.rows("SELECT * FROM pg_replication_slots")))
        }
    });
}

/// The mirror runs through it all; what was written while it could not read is not lost.
fn mirror_outlives_its_primary(major: u32) {
    let mut primary = primary(major, &[("synchronized_standby_slots", STANDBY_SLOT)]);
    let m = Between::new(&primary, DDL, FAILOVER, "");
    let standby = primary.standby(&FOLLOWING);
    let name = m.source.name();
    let both = format!(
        "postgres://postgres:{}@127.0.0.1:{},127.0.0.1:{}/{name}?target_session_attrs=read-write",
        primary.password(),
        primary.port(),
        standby.port()
    );
    m.reads_from(&both);
    m.edit("continuous: false", "continuous: true");
    let source = Client::connect(&primary.url(name));
    let running = m.faucet.spawn("mirror");
    eventually(PATIENCE, "the slot", || {
        let slots = source.one("SELECT count(*) FROM pg_replication_slots WHERE failover");
        if slots == "1" { Ok(()) } else { Err(slots) }
    });
    slot_arrives(&m, &standby, || ());
    m.settles(&source);
    // It is stopped, and so these reach the standby alone.
    signal(running.pid(), "STOP");
    source.execute("INSERT INTO t SELECT g, 'unread' FROM generate_series(2001, 2100) g; DELETE FROM t WHERE id < 20; UPDATE t SET v = 'late' WHERE id = 20");
    standby.catches_up(&primary);
    primary.kill9();
    standby.promote();
    let source = standby.connect(name);
    source.execute("INSERT INTO t SELECT g, 'after' FROM generate_series(3001, 3100) g");
    signal(running.pid(), "CONT");
    m.settles(&source);
    source.execute("UPDATE t SET v = 'at last' WHERE id > 3050");
    m.settles(&source);
    ends(running);
    // The bookmarks are of the new timeline.
    m.edit("continuous: true", "continuous: false");
    source.execute("DELETE FROM t WHERE id > 3090");
    m.run();
    m.settles(&source);
}

#[test]
fn a_mirror_outlives_its_primary_on_17() {
    mirror_outlives_its_primary(17);
}

#[test]
fn a_mirror_outlives_its_primary_on_18() {
    mirror_outlives_its_primary(18);
}

/// Without `synchronized_standby_slots` a mirror may have read what the standby never got.
#[test]
fn a_standby_that_lacks_what_was_mirrored_is_refused() {
    let mut primary = primary(17, &[]);
    let m = Between::new(&primary, DDL, FAILOVER, "");
    m.run();
    let mut standby = primary.standby(&FOLLOWING);
    let name = m.source.name().to_owned();
    let source = Client::connect(&primary.url(&name));
    slot_arrives(&m, &standby, || m.run());
    standby.stop();
    source.execute("INSERT INTO t VALUES (5000, 'never seen there')");
    m.run();
    assert_eq!(m.copy.client().one("SELECT count(*) FROM copy WHERE id = 5000"), "1");
    primary.kill9();
    standby.restart();
    standby.promote();
    standby.connect(&name).execute("INSERT INTO t VALUES (6000, 'after')");
    m.reads_from(&standby.url(&name));
    let refused = m.faucet.run("mirror");
    assert_ne!(refused.code(), Some(0));
    for part in ["postgres.other_server", "timeline 1 was left at"] {
        assert!(refused.stderr.contains(part), "no {part}:\n{}", refused.stderr);
    }
}
