//! A mirror whose source is a standby (16 and newer), and the standby's promotion.

use super::{Between, PATIENCE, ends, says};
use faucet_tests::{Client, Postgres, Running, eventually};

const DDL: &str =
    "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT g, 'copied' FROM generate_series(1, 300) g";

/// A primary, its standby, and a mirror that reads from the standby.
struct Followed {
    primary: Postgres,
    standby: Postgres,
    m: Between,
}

impl Followed {
    fn new(major: u32, options: &str) -> Self {
        let mut primary = Postgres::start_major(major);
        let source = Between::new(&primary, DDL, &[], options);
        let standby = primary.standby(&[]);
        source.reads_from(&standby.url(source.source.name()));
        Self { primary, standby, m: source }
    }

    /// Writes where that is possible, and waits until the standby has it.
    fn write(&self, sql: &str) {
        let name = self.m.source.name();
        self.primary.connect(name).execute(sql);
        self.standby.catches_up(&self.primary);
    }

    fn standby(&self) -> Client {
        self.standby.connect(self.m.source.name())
    }

    /// Lets a slot that is being made on the standby begin.
    fn log_running(&self) {
        self.primary.connect("postgres").execute("SELECT pg_log_standby_snapshot()");
    }

    /// Starts it, and does what it asks for.
    fn first_start(&self) -> Running {
        let running = self.m.faucet.spawn("mirror");
        says(&running, "SELECT pg_log_standby_snapshot()");
        self.log_running();
        running
    }
}

fn a_standby_is_mirrored(major: u32) {
    let f = Followed::new(major, "    shards: 4\n");
    let first = f.first_start();
    first.wait_timeout(PATIENCE).expect_code(0);
    f.m.settles(&f.standby());
    f.write("INSERT INTO t SELECT g, 'later' FROM generate_series(1001, 1100) g; DELETE FROM t WHERE id < 20; UPDATE t SET v = 'up' WHERE id = 20");
    f.m.run();
    f.m.settles(&f.standby());
    // Stopped over the promotion: its bookmark is of the timeline before.
    f.write("INSERT INTO t VALUES (2000, 'unread')");
    f.standby.promote();
    f.standby().execute("INSERT INTO t VALUES (3000, 'after'); DELETE FROM t WHERE id = 30");
    f.m.run();
    f.m.settles(&f.standby());
}

#[test]
fn a_standby_is_mirrored_on_16() {
    a_standby_is_mirrored(16);
}

#[test]
fn a_standby_is_mirrored_on_18() {
    a_standby_is_mirrored(18);
}

/// A stream that lives on while its standby is promoted tells positions of the new timeline as such.
fn a_promotion_while_it_runs_keeps_its_bookmarks(major: u32) {
    let f = Followed::new(major, "");
    f.m.edit("continuous: false", "continuous: true");
    let running = f.first_start();
    f.m.settles(&f.standby());
    f.write("INSERT INTO t VALUES (1000, 'before')");
    f.m.settles(&f.standby());
    f.standby.promote();
    for id in 2000..2005 {
        f.standby().execute(&format!("INSERT INTO t VALUES ({id}, 'after')"));
        f.m.settles(&f.standby());
    }
    ends(running);
    f.m.edit("continuous: true", "continuous: false");
    f.standby().execute("DELETE FROM t WHERE id % 2 = 0");
    f.m.run();
    f.m.settles(&f.standby());
}

#[test]
fn a_promotion_while_it_runs_keeps_its_bookmarks_on_16() {
    a_promotion_while_it_runs_keeps_its_bookmarks(16);
}

#[test]
fn a_promotion_while_it_runs_keeps_its_bookmarks_on_17() {
    a_promotion_while_it_runs_keeps_its_bookmarks(17);
}

/// Without feedback the primary removes what the standby's slot still needs, and the slot with it.
#[test]
fn a_slot_that_its_primary_invalidated_says_why() {
    let f = Followed::new(17, "");
    f.first_start().wait_timeout(PATIENCE).expect_code(0);
    let there = f.standby.connect("postgres");
    there.execute("ALTER SYSTEM SET hot_standby_feedback = off");
    there.execute("SELECT pg_reload_conf()");
    eventually(PATIENCE, "the slot to be invalidated", || {
        for sql in ["CREATE TABLE gone (a int, b text)", "DROP TABLE gone", "VACUUM pg_catalog.pg_class"] {
            f.write(sql);
        }
        let reason = there.rows("SELECT invalidation_reason FROM pg_replication_slots")[0][0].clone();
        if reason.as_deref() == Some("rows_removed") { Ok(()) } else { Err(format!("{reason:?}")) }
    });
    let failed = f.m.faucet.run("mirror");
    for part in ["postgres.slot_lost", "rows_removed", "hot_standby_feedback"] {
        assert!(failed.stderr.contains(part), "no {part}:\n{}", failed.stderr);
    }
}
