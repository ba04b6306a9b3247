//! A bookmark belongs to a source, its rows and a destination.

use super::{T, mirrored, refused};
use faucet_tests::{Shape, TableMirror, fresh_database};
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn a_destination_of_another_name_is_refused_once_the_mirror_has_begun() {
    let m = mirrored("");
    m.sql("CREATE TABLE elsewhere (LIKE copy INCLUDING ALL); INSERT INTO t VALUES (3, 'c')");
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    m.faucet.set_config(&config.replace("table_name: copy", "table_name: elsewhere"));
    refused(&m, "sink.replaced", "elsewhere");
    assert_eq!(m.database.client().one("SELECT count(*) FROM elsewhere"), "0");
    // Back, as the hint says.
    m.faucet.set_config(&config);
    m.run();
    m.settles();
    // Or from the beginning under another name.
    let renamed = config.replace("table_name: copy", "table_name: elsewhere").replace("name: m\n", "name: other\n");
    m.faucet.set_config(&renamed.replace("_slot", "_slot2"));
    m.run();
    assert_eq!(m.database.client().one("SELECT count(*) FROM elsewhere"), "3");
}

#[test]
fn a_run_goes_on_into_the_file_it_began_with() {
    let m = TableMirror::new(fresh_database(), Shape { ddl: T, ..Shape::default() });
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    let (head, tail) = config.split_once("  sink:\n").unwrap();
    let (_, tail) = tail.split_once("  state:").unwrap();
    let into = |path: &str| format!("{head}  sink: {{ type: jsonl, config: {{ path: {path} }} }}\n  state:{tail}");
    m.faucet.set_config(&into("./a.jsonl"));
    m.faucet.run("run").expect_code(0);
    m.sql("INSERT INTO t VALUES (3, 'c')");
    m.faucet.run("run").expect_code(0);
    m.sql("INSERT INTO t VALUES (4, 'd')");
    m.faucet.set_config(&into("./b.jsonl"));
    let told = m.faucet.run("run");
    assert!(
        told.stderr.contains("state.not_this_pipeline") && told.stderr.contains("sink.config.path"),
        "{}",
        told.stderr
    );
    m.faucet.set_config(&into("./a.jsonl"));
    m.faucet.run("run").expect_code(0);
    let lines = std::fs::read_to_string(m.faucet.dir().join("a.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 2, "{lines}");
}

/// Another reader moves the slot while the mirror waits for it.
#[test]
fn a_slot_that_was_moved_while_it_was_waited_for_is_noticed() {
    let m = mirrored("");
    let slot = format!("{}_slot", m.database.name());
    let bin = faucet_tests::postgres::find().expect("a server is installed").bin;
    let mut reader = Command::new(bin.join("pg_recvlogical"));
    reader.args(["--dbname", m.database.url(), "--slot", &slot, "--start", "--file", "-", "--fsync-interval", "1"]);
    reader.args(["-o", "proto_version=1", "-o", &format!("publication_names={}_pub", m.database.name())]);
    let mut reader =
        reader.args(["--status-interval", "1"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let client = m.database.client();
    let active = format!("SELECT active::text FROM pg_replication_slots WHERE slot_name = '{slot}'");
    faucet_tests::eventually(Duration::from_secs(10), "the other reader to hold the slot", || {
        match client.one(&active).as_str() {
            "true" => Ok(()),
            other => Err(other.to_owned()),
        }
    });
    let running = m.faucet.spawn("mirror");
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'faucet:m'";
    faucet_tests::eventually(Duration::from_secs(10), "the mirror to wait for the slot", || {
        match client.one(waits).as_str() {
            "0" => Err("it has not begun".to_owned()),
            _ => Ok(()),
        }
    });
    m.sql("INSERT INTO t SELECT g, 'lost' FROM generate_series(10, 28) g");
    let end = client.one("SELECT pg_current_wal_lsn()::text");
    let moved =
        format!("SELECT (confirmed_flush_lsn >= '{end}')::text FROM pg_replication_slots WHERE slot_name = '{slot}'");
    faucet_tests::eventually(Duration::from_secs(10), "the other reader to move the slot", || {
        match client.one(&moved).as_str() {
            "true" => Ok(()),
            other => Err(other.to_owned()),
        }
    });
    reader.kill().unwrap();
    reader.wait().unwrap();
    let finished = running.wait_timeout(Duration::from_secs(30));
    assert!(finished.stderr.contains("postgres.slot_ahead"), "{}", finished.stderr);
    super::made_anew(&m);
}
