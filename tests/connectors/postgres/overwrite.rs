//! `write_mode: overwrite`.

use faucet_core::model::{
    Kind,
    ValueRef::{I64, Text},
};
use faucet_tests::fresh_database;
use serde_json::json;

use super::support::{TestSink, page, shown};

const COLUMNS: &[(&str, Kind)] = &[("id", Kind::I64), ("note", Kind::Text)];
const TABLE: &str =
    "CREATE TABLE t (id int PRIMARY KEY, note text, n int GENERATED ALWAYS AS (id + 1) STORED, extra int DEFAULT 7);
     INSERT INTO t VALUES (1, 'old')";

#[test]
fn the_rows_are_replaced_at_the_end_and_at_once() {
    let db = fresh_database();
    db.client().execute(TABLE);
    db.client().execute("CREATE VIEW v AS SELECT id, note, n, extra FROM t; CREATE ROLE r1; GRANT SELECT ON t TO r1");
    let oid = db.client().one("SELECT 't'::regclass::oid");
    let mut sink = TestSink::open(&db, json!({ "table_name": "t", "write_mode": "overwrite" }));
    sink.apply(&page(COLUMNS, &[&[I64(2), Text("new")]]));
    sink.apply(&page(COLUMNS, &[&[I64(3), Text("newer")]]));
    assert_eq!(shown(&db, "TABLE v"), ["1|old|2|7"]);
    sink.finish().unwrap();
    assert_eq!(shown(&db, "TABLE v"), ["2|new|3|7", "3|newer|4|7"]);
    sink.close();
    assert_eq!(db.client().one("SELECT 't'::regclass::oid"), oid);
    assert_eq!(db.client().one("SELECT has_table_privilege('r1', 't', 'SELECT')"), "t");
    assert_eq!(shown(&db, "SELECT relname FROM pg_class WHERE relname LIKE '\\_faucet%'"), [""; 0]);
    db.client().execute("DROP OWNED BY r1; DROP ROLE r1");
}

#[test]
fn a_source_without_rows_empties_the_table() {
    let db = fresh_database();
    db.client().execute(TABLE);
    let mut sink = TestSink::open(&db, json!({ "table_name": "t", "write_mode": "overwrite" }));
    sink.finish().unwrap();
    assert_eq!(db.client().one("SELECT count(*) FROM t"), "0");
}

#[test]
fn a_run_that_ends_early_changes_nothing_and_leaves_nothing_for_long() {
    let db = fresh_database();
    db.client().execute(TABLE);
    let open = || TestSink::open(&db, json!({ "table_name": "t", "write_mode": "overwrite" }));
    let mut closed = open();
    closed.apply(&page(COLUMNS, &[&[I64(2), Text("new")]]));
    closed.close();
    let side = "SELECT count(*) FROM pg_class WHERE relname = '_faucet_overwrite_t'";
    assert_eq!(db.client().one(side), "0");

    let mut crashed = open();
    crashed.apply(&page(COLUMNS, &[&[I64(2), Text("new")]]));
    let mut second = open();
    let error = second.write(&page(COLUMNS, &[&[I64(4), Text("x")]])).unwrap_err();
    assert_eq!(error.code().id, "postgres.overwrite_busy");
    drop(crashed);
    assert_eq!(db.client().one(side), "1");
    // The server needs a moment to see that the session is gone.
    faucet_tests::eventually(std::time::Duration::from_secs(10), "the next run takes over", || {
        let mut next = open();
        next.write(&page(COLUMNS, &[&[I64(5), Text("next")]])).map_err(|e| e.to_string())?;
        next.finish().map_err(|e| e.to_string())
    });
    assert_eq!(shown(&db, "TABLE t"), ["5|next|6|7"]);
    assert_eq!(db.client().one(side), "0");
}

#[test]
fn a_row_that_the_table_refuses_leaves_the_old_rows() {
    let db = fresh_database();
    db.client().execute(TABLE);
    let sink = TestSink::open(&db, json!({ "table_name": "t", "write_mode": "overwrite" }));
    let error = sink.refused(&page(COLUMNS, &[&[I64(2), Text("a")], &[I64(2), Text("b")]]));
    assert_eq!(error.code().id, "postgres.constraint_violated");
    assert_eq!(shown(&db, "TABLE t"), ["1|old|2|7"]);
}

#[test]
fn a_missing_table_is_created_first() {
    let db = fresh_database();
    let mut sink = TestSink::open(
        &db,
        json!({ "table_name": "fresh", "write_mode": "overwrite", "create_table": true, "key": ["id"] }),
    );
    sink.apply(&page(COLUMNS, &[&[I64(2), Text("a")]]));
    sink.finish().unwrap();
    assert_eq!(shown(&db, "TABLE fresh"), ["2|a"]);
}
