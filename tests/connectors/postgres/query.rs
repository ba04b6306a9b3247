//! The query source.

use faucet_core::model::{TableId, ValueRef};
use faucet_tests::fresh_database;
use serde_json::json;

use super::support::{block, open_source, read, try_read};

#[test]
fn pages_are_cut_by_rows_and_by_bytes() {
    let db = fresh_database();
    let rows = |pages: &[faucet_core::model::Page]| pages.iter().map(|p| p.rows()).collect::<Vec<_>>();
    let by_rows = try_read(&db, "SELECT * FROM generate_series(1, 25) AS i", json!({ "batch_size": 10 })).unwrap();
    assert_eq!(rows(&by_rows), [10, 10, 5]);
    let by_bytes = read(&db, "SELECT i, repeat('x', 1000000) AS x FROM generate_series(1, 10) AS i");
    assert_eq!(rows(&by_bytes), [5, 5]);
    assert!(read(&db, "SELECT 1 AS x WHERE false").is_empty());
}

#[test]
fn rows_of_one_table_carry_its_name_and_key() {
    let db = fresh_database();
    db.client().execute(
        "CREATE SCHEMA \"S.1\"; CREATE TABLE \"S.1\".\"T\"\"x\" (note text, b int, \"A\" int, PRIMARY KEY (\"A\", b));
         INSERT INTO \"S.1\".\"T\"\"x\" VALUES ('n', 2, 1); CREATE TABLE other (c int); INSERT INTO other VALUES (3)",
    );
    let schema = |query: &str| read(&db, query)[0].schema().clone();
    let whole = schema("SELECT * FROM \"S.1\".\"T\"\"x\"");
    assert_eq!(whole.table, TableId::new("S.1", "T\"x"));
    assert_eq!(whole.key, [2, 1]);
    let part = schema("SELECT \"A\" AS a, note FROM \"S.1\".\"T\"\"x\"");
    assert_eq!((&part.table, part.key.len()), (&whole.table, 0));
    let joined = schema("SELECT t.*, o.c FROM \"S.1\".\"T\"\"x\" t, other o");
    assert_eq!((&joined.table, joined.key.len()), (&TableId::bare("test"), 0));
}

#[test]
fn queries_of_every_shape_are_read() {
    let db = fresh_database();
    db.client().execute("CREATE TABLE t (id int); INSERT INTO t VALUES (7)");
    for (query, value) in [
        ("SELECT id FROM t;", "7"),
        ("SELECT id FROM t -- the end", "7"),
        ("/* first */ (SELECT id FROM t);; -- last", "7"),
        ("WITH w AS (SELECT id + 1 AS id FROM t) SELECT * FROM w", "8"),
        ("TABLE t", "7"),
        ("VALUES (9), (9)", "9"),
        ("SELECT id, '{a}'::text[] AS \"x\"\"; y\" FROM t -- cast, and a comment", "7"),
    ] {
        assert_eq!(read(&db, query)[0].row(0).get(0), ValueRef::I64(value.parse().unwrap()), "{query}");
    }
    // COPY does not take these.
    assert_eq!(read(&db, "SHOW TimeZone;")[0].row(0).get(0), ValueRef::Text("UTC"));
    assert!(!read(&db, "EXPLAIN SELECT 1").is_empty());
}

#[test]
fn what_can_not_be_read_says_what_to_do() {
    let db = fresh_database();
    db.client().execute("CREATE TABLE t (id int); CREATE SEQUENCE s; INSERT INTO t VALUES (7)");
    for (query, code) in [
        ("SELECT 1 AS a, 2 AS a", "postgres.duplicate_column"),
        ("SELECT t.id, u.id FROM t, t u", "postgres.duplicate_column"),
        ("SELECT id FROM t WHERE id = $1", "postgres.not_a_query"),
        ("SELECT FROM t", "postgres.not_a_query"),
        ("SELECT 1; SELECT 2", "postgres.query_invalid"),
        ("SELEC 1", "postgres.query_invalid"),
        ("SELECT * FROM missing", "postgres.table_missing"),
        ("SELECT missing FROM t", "postgres.column_missing"),
        ("INSERT INTO t VALUES (1) RETURNING id", "postgres.query_writes"),
        ("WITH w AS (DELETE FROM t RETURNING id) SELECT * FROM w", "postgres.query_writes"),
        ("SELECT nextval('s') AS n", "postgres.query_writes"),
        ("SELECT 1 / (id - 7) AS x FROM t", "postgres.value_refused"),
    ] {
        let error = try_read(&db, query, json!({})).expect_err(query);
        assert_eq!(error.code().id, code, "{query}: {error:?}");
    }
    assert_eq!(db.client().one("SELECT count(*) FROM t"), "1");
}

#[test]
fn a_call_that_is_dropped_loses_nothing() {
    let db = fresh_database();
    let query = "SELECT i, pg_sleep(0.002)::text AS x FROM generate_series(1, 500) AS i";
    let mut source = open_source(&db, query, json!({ "batch_size": 100 })).unwrap();
    let seen = block(async {
        let mut seen = Vec::new();
        loop {
            // Far shorter than a page takes.
            match tokio::time::timeout(std::time::Duration::from_millis(7), source.next()).await {
                Err(_) => {}
                Ok(batch) => match batch.unwrap() {
                    Some(batch) => seen.extend(batch.pages),
                    None => break seen,
                },
            }
        }
    });
    let ids = seen.iter().flat_map(|page| (0..page.rows()).map(|row| page.row(row).get(0)));
    assert!(ids.eq((1..=500).map(ValueRef::I64)));
}
