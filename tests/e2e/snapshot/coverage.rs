//! The snapshot holds what the publication covers, and no more.

use faucet_tests::{Shape, TableMirror, fresh_database};

const DDL: &str =
    "CREATE TABLE t (id int PRIMARY KEY, keep text, secret text, twice int GENERATED ALWAYS AS (id * 2) STORED);
    INSERT INTO t SELECT g, 'k' || g, 's' || g FROM generate_series(1, 100) g;
    CREATE TABLE copy (id int PRIMARY KEY, keep text, secret text, twice int)";

fn copied(m: &TableMirror) -> String {
    m.database.client().one(
        "SELECT count(*) || ' rows from ' || coalesce(min(id)::text, '-') || ' to ' || coalesce(max(id)::text, '-') ||
         ', secrets ' || count(secret) || ', generated ' || count(twice) FROM copy",
    )
}

#[test]
fn a_row_filter_and_a_column_list_hold_for_the_snapshot() {
    let publish = "FOR TABLE t (id, keep) WHERE (id > 40)";
    for snapshot in ["shards: 4", "shards: 1"] {
        let query = "SELECT * FROM t WHERE id <= 100";
        let m = TableMirror::new(fresh_database(), Shape { ddl: DDL, publish, query, snapshot, ..Shape::default() });
        m.run();
        assert_eq!(copied(&m), "60 rows from 41 to 100, secrets 0, generated 0", "{snapshot}");
        m.sql("UPDATE t SET keep = 'new' WHERE id IN (1, 50); INSERT INTO t VALUES (101, 'k', 's'), (-1, 'k', 's')");
        m.run();
        assert_eq!(copied(&m), "61 rows from 41 to 101, secrets 0, generated 0");
    }
}

#[test]
fn generated_columns_are_left_out_as_the_stream_does() {
    for snapshot in ["shards: 4", "shards: 1"] {
        let m = TableMirror::new(fresh_database(), Shape { ddl: DDL, snapshot, ..Shape::default() });
        m.run();
        assert_eq!(copied(&m), "100 rows from 1 to 100, secrets 100, generated 0");
    }
    let query = "SELECT id, keep, secret, twice FROM t";
    let m = TableMirror::new(fresh_database(), Shape { ddl: DDL, query, ..Shape::default() });
    let refused = m.faucet.run("mirror").expect_code(2);
    for part in ["postgres.not_covered", "column \\\"twice\\\""] {
        assert!(refused.stderr.contains(part), "no {part}:\n{}", refused.stderr);
    }
    // Nobody chose to leave it out, so a query that can't be limited is left as it is.
    let query = "SELECT id, keep, secret FROM t ORDER BY id";
    let snapshot = "concurrency: 1";
    TableMirror::new(fresh_database(), Shape { ddl: DDL, query, snapshot, ..Shape::default() }).run();
}

#[test]
fn a_query_that_can_not_be_limited_is_refused() {
    let publish = "FOR TABLE t (id, keep) WHERE (id > 40)";
    for (query, part) in [
        ("SELECT id, keep, secret FROM t", "column \\\"secret\\\""),
        ("SELECT id, keep FROM t ORDER BY id", "can't be limited to it: it sorts"),
    ] {
        let shape = Shape { ddl: DDL, publish, query, snapshot: "concurrency: 1", ..Shape::default() };
        let refused = TableMirror::new(fresh_database(), shape).faucet.run("mirror").expect_code(2);
        for part in ["postgres.not_covered", part] {
            assert!(refused.stderr.contains(part), "no {part}:\n{}", refused.stderr);
        }
    }
    let query = "SELECT id, keep AS keep FROM t";
    let m = TableMirror::new(fresh_database(), Shape { ddl: DDL, publish, query, ..Shape::default() });
    m.run();
    assert_eq!(copied(&m), "60 rows from 41 to 100, secrets 0, generated 0");
}

#[test]
fn a_partitioned_table_is_limited_by_its_root_and_not_by_its_partitions() {
    let ddl = "CREATE TABLE t (id int PRIMARY KEY, keep text, secret text) PARTITION BY RANGE (id);
               CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (0) TO (50); CREATE TABLE t_2 PARTITION OF t DEFAULT;
               INSERT INTO t SELECT g, 'k', 's' FROM generate_series(1, 100) g;
               CREATE TABLE copy (id int PRIMARY KEY, keep text, secret text, twice int)";
    let publish = "FOR TABLE t (id, keep) WHERE (id > 40) WITH (publish_via_partition_root = true)";
    let m = TableMirror::new(fresh_database(), Shape { ddl, publish, ..Shape::default() });
    m.run();
    assert_eq!(copied(&m), "60 rows from 41 to 100, secrets 0, generated 0");
    let publish = "FOR TABLE t_1 WHERE (id > 40), t_2";
    let refused = TableMirror::new(fresh_database(), Shape { ddl, publish, ..Shape::default() });
    let refused = refused.faucet.run("mirror").expect_code(2);
    assert!(refused.stderr.contains("publish_via_partition_root"), "{}", refused.stderr);
}
