//! A mirror begins over an empty destination, or it is said what becomes of the rows.

use super::{T, mirrored, refused};
use faucet_tests::{Shape, TableMirror, fresh_database};

#[test]
fn a_mirror_made_anew_replaces_the_rows_that_are_there() {
    let m = mirrored("");
    m.sql("INSERT INTO t VALUES (3, 'c')");
    m.run();
    m.faucet.run_with(&["mirror", "drop", "--yes", "config.yaml"]).expect_code(0);
    m.sql("DELETE FROM t WHERE id < 3");
    let told = refused(&m, "mirror.destination_not_empty", "--replace");
    assert!(told.stderr.contains("--keep"), "{}", told.stderr);
    let slots = "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()";
    assert_eq!(m.database.client().one(slots), "0", "nothing was made at the source");
    m.faucet.run_with(&["mirror", "--replace", "config.yaml"]).expect_code(0);
    m.settles();
    // It stays in the command line of one that goes on, and removes nothing.
    m.sql("INSERT INTO t VALUES (4, 'd'); INSERT INTO copy VALUES (77, 'put there by hand')");
    m.faucet.run_with(&["mirror", "--replace", "config.yaml"]).expect_code(0);
    assert_eq!(m.database.client().one("SELECT count(*) FROM copy"), "3");
}

#[test]
fn rows_that_are_there_on_purpose_can_stay() {
    let ddl = format!("{T}; INSERT INTO copy VALUES (100, 'theirs')");
    let m = TableMirror::new(fresh_database(), Shape { ddl: &ddl, ..Shape::default() });
    refused(&m, "mirror.destination_not_empty", "--keep");
    m.faucet.run_with(&["mirror", "--keep", "config.yaml"]).expect_code(0);
    m.run();
    assert_eq!(m.database.client().one("SELECT string_agg(id::text, ',' ORDER BY id) FROM copy"), "1,2,100");
}

#[test]
fn a_crash_while_rows_are_replaced_leaves_none_behind() {
    for failpoint in ["after_capture", "mid_snapshot"] {
        let mut m = mirrored("");
        m.faucet.run_with(&["mirror", "drop", "--yes", "config.yaml"]).expect_code(0);
        m.sql("DELETE FROM t WHERE id = 1");
        m.faucet.set_env("FAUCET_FAILPOINT", failpoint);
        let killed = m.faucet.run_with(&["mirror", "--replace", "config.yaml"]);
        assert_eq!(killed.code(), None, "{}", killed.stderr);
        m.faucet.set_env("FAUCET_FAILPOINT", "");
        m.faucet.run_with(&["mirror", "--replace", "config.yaml"]).expect_code(0);
        m.settles();
    }
}

#[test]
fn files_and_sqlite_are_asked_too() {
    for sink in [
        "{ type: sqlite, config: { path: ./out, table_name: t, create_table: true, write_mode: upsert, key: [id], delete_marker: { field: __op, values: [d] } } }",
        "{ type: jsonl, config: { path: ./out } }",
        "{ type: csv, config: { path: ./out } }",
    ] {
        let m = TableMirror::new(fresh_database(), Shape { ddl: T, ..Shape::default() });
        let config = std::fs::read_to_string(m.faucet.config()).unwrap();
        let (head, tail) = config.split_once("  sink:\n").unwrap();
        let (_, tail) = tail.split_once("  state:").unwrap();
        m.faucet.set_config(&format!("{head}  sink: {sink}\n  state:{tail}"));
        m.run();
        m.faucet.run_with(&["mirror", "drop", "--yes", "config.yaml"]).expect_code(0);
        refused(&m, "mirror.destination_not_empty", "--replace");
        let before = std::fs::read(m.faucet.dir().join("out")).unwrap();
        m.faucet.run_with(&["mirror", "--replace", "config.yaml"]).expect_code(0);
        if !sink.contains("sqlite") {
            assert_eq!(std::fs::read(m.faucet.dir().join("out")).unwrap(), before, "each row once");
        }
    }
}
