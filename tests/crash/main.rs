//! The binary killed at every step of the order of durability, and at random instants; source and destination are
//! compared row by row afterwards.
#![allow(missing_docs, clippy::unwrap_used)]

use faucet_tests::mirror::Mirrored;
use faucet_tests::{Postgres, PostgresOptions, Workload, fresh_database};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Every place where a crash is a supported path. Those of the pipeline are hit more than once, so a later hit is tried too.
const FAILPOINTS: [&str; 10] = [
    "after_capture",
    "mid_state_write",
    "mid_state_write:2",
    "mid_snapshot",
    "mid_snapshot:3",
    "after_sink_commit",
    "after_state",
    "mid_stream",
    "mid_stream:4",
    "after_sink_commit:3",
];

fn crash_at(failpoint: &str, options: &str) {
    let mut m = Mirrored::postgres(fresh_database(), 400, options);
    let writer =
        Workload { transactions: 200, pause: Duration::from_millis(1), ..m.workload.clone() }.start(m.database.url());
    m.faucet.set_env("FAUCET_FAILPOINT", failpoint);
    let crashed = m.faucet.spawn("mirror").wait_timeout(PATIENCE);
    assert_eq!(crashed.code(), None, "{failpoint} was not reached:\n{}", crashed.stderr);
    m.faucet.set_env("FAUCET_FAILPOINT", "");
    assert_states_are_whole(&m);
    let running = m.faucet.spawn("mirror");
    let mut writer = writer;
    writer.join();
    m.settles();
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}

/// State files are whole JSON documents whatever happened.
fn assert_states_are_whole(m: &Mirrored) {
    let Ok(entries) = std::fs::read_dir(m.faucet.dir().join("state")) else { return };
    for path in entries.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "json")) {
        let text = std::fs::read(&path).unwrap();
        let parsed: Result<serde_json::Value, _> = serde_json::from_slice(&text);
        assert!(parsed.is_ok(), "{} is torn", path.display());
    }
}

#[test]
fn killed_at_each_failpoint() {
    for failpoint in FAILPOINTS {
        crash_at(failpoint, "");
    }
}

#[test]
fn killed_at_each_failpoint_of_a_snapshot_in_ranges() {
    for failpoint in ["mid_state_write:3", "mid_snapshot:3", "after_part", "after_part:5", "mid_state_write:7"] {
        crash_at(failpoint, "    shards: 6\n    concurrency: 2\n");
    }
}

#[test]
fn killed_at_each_failpoint_with_tokens() {
    for failpoint in ["after_sink_commit", "after_sink_commit:2", "after_state", "mid_stream:2"] {
        crash_at(failpoint, "delivery: exactly_once\n");
    }
}

/// Kills at random instants while 200 interleaved transactions run. `FAUCET_CRASHES` sets how many kills.
#[test]
fn killed_at_random_instants() {
    let kills: u64 = std::env::var("FAUCET_CRASHES").map_or(100, |n| n.parse().unwrap());
    let mut random = StdRng::seed_from_u64(20);
    let mut done = 0;
    for round in 0u64.. {
        if done >= kills {
            break;
        }
        let m = Mirrored::postgres(fresh_database(), 300, if round % 2 == 0 { "" } else { "delivery: exactly_once\n" });
        let workload =
            Workload { transactions: 200, seed: round, pause: Duration::from_millis(2), ..m.workload.clone() };
        let mut writer = workload.start(m.database.url());
        for _ in 0..20.min(kills - done) {
            let running = m.faucet.spawn("mirror");
            std::thread::sleep(Duration::from_millis(random.random_range(1..350)));
            running.kill9();
            assert_states_are_whole(&m);
            done += 1;
        }
        writer.join();
        let running = m.faucet.spawn("mirror");
        m.settles();
        running.sigterm();
        running.wait_timeout(PATIENCE).expect_code(0);
    }
}

/// The server dies too: what it had not made durable is not in the destination's state either.
#[test]
fn the_source_server_is_killed() {
    let mut server = Postgres::start(PostgresOptions::default());
    let database = faucet_tests::Database::create_on(&server);
    let m = Mirrored::postgres(database, 200, "execution: { retry: { initial_backoff: 100ms, max_backoff: 500ms } }\n");
    let running = m.faucet.spawn("mirror");
    m.settles();
    m.client().execute("UPDATE orders SET qty = 1 WHERE id <= 50");
    server.kill9();
    server.restart();
    let client = m.database.connect();
    client.execute("UPDATE orders SET qty = 2 WHERE id <= 50");
    let equal = "SELECT count(*)::text FROM orders o JOIN orders_mirror m USING (id) WHERE o.qty = m.qty";
    faucet_tests::eventually(PATIENCE, "the mirror to catch up", || {
        let rows = client.one(equal);
        if rows == "200" { Ok(()) } else { Err(rows) }
    });
    running.sigterm();
    running.wait_timeout(PATIENCE).expect_code(0);
}
