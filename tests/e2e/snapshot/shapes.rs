//! Tables of many shapes, each read in ranges: no row is missing and none is there twice.

use faucet_tests::{Shape, TableMirror, fresh_database, rows_read};

/// Mirrors it with a crash on the way, and checks both sides. The number of ranges that were planned.
#[track_caller]
fn whole(shape: Shape<'_>, rows: u64) -> u64 {
    let mut m = TableMirror::new(fresh_database(), shape);
    m.crash("after_part");
    let ranges = m.ranges();
    m.run();
    m.settles();
    // In one go, each row is read once.
    let m = TableMirror::new(fresh_database(), Shape { snapshot: "shards: 8, concurrency: 4", ..shape });
    assert_eq!(rows_read(&m.run()), rows);
    m.settles();
    ranges
}

#[test]
fn the_extremes_of_a_key() {
    let ddl = "CREATE TABLE t (id bigint PRIMARY KEY, a int);
               INSERT INTO t SELECT g, g FROM generate_series(1, 400) g;
               INSERT INTO t VALUES (-9223372036854775808, 1), (9223372036854775807, 2), (0, 3), (-1, 4)";
    assert_eq!(whole(Shape { ddl, ..Shape::default() }, 404), 8);
    let ddl = "CREATE TABLE t (id float8 PRIMARY KEY);
               INSERT INTO t SELECT g / 7.0 FROM generate_series(1, 200) g;
               INSERT INTO t VALUES ('NaN'), ('Infinity'), ('-Infinity'), (1e-300), (-1e300)";
    assert_eq!(whole(Shape { ddl, ..Shape::default() }, 205), 8);
    let ddl = "CREATE TABLE t (id timestamptz PRIMARY KEY);
               INSERT INTO t SELECT '2020-02-29 12:34:56.789012+05:30'::timestamptz + g * interval '1 hour 0.000001 s'
               FROM generate_series(1, 200) g;
               INSERT INTO t VALUES ('infinity'), ('-infinity'), ('4713-01-01 BC')";
    assert_eq!(whole(Shape { ddl, ..Shape::default() }, 203), 8);
}

#[test]
fn keys_of_several_columns_and_of_text() {
    let ddl = "CREATE TABLE t (b int, a text, note text, PRIMARY KEY (a, b));
               INSERT INTO t SELECT g, (ARRAY['it''s', 'b\\', 'ü', '', 'B', '%s'])[1 + g % 3], 'n' FROM generate_series(1, 300) g";
    assert_eq!(whole(Shape { ddl, key: "[a, b]", ..Shape::default() }, 300), 8);
    let ddl = "CREATE TABLE t (id text COLLATE \"en-x-icu\" PRIMARY KEY);
               INSERT INTO t SELECT x || g FROM generate_series(1, 100) g, unnest(ARRAY['a', 'B', 'é', 'Z ', '\\\"_']) x";
    assert_eq!(whole(Shape { ddl, ..Shape::default() }, 500), 8);
    let ddl = "CREATE TYPE \"Mood\" AS ENUM ('sad', 'O''K', 'glad'); CREATE DOMAIN short AS varchar(9);
               CREATE TABLE t (a \"Mood\", id short, c char(6), d uuid DEFAULT gen_random_uuid(), PRIMARY KEY (a, c, id));
               INSERT INTO t SELECT (ARRAY['sad', 'O''K', 'glad']::\"Mood\"[])[1 + g % 3], 's' || g, 'c' || g
               FROM generate_series(1, 300) g";
    assert_eq!(whole(Shape { ddl, key: "[id]", ..Shape::default() }, 300), 8);
}

#[test]
fn a_unique_index_with_nulls() {
    let ddl = "CREATE TABLE t (id int, code int UNIQUE); ALTER TABLE t REPLICA IDENTITY FULL;
               INSERT INTO t SELECT g, CASE WHEN g % 3 = 0 THEN NULL ELSE g END FROM generate_series(1, 300) g";
    assert_eq!(whole(Shape { ddl, ..Shape::default() }, 300), 8);
}

#[test]
fn few_rows_and_none() {
    let ddl = "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)";
    assert_eq!(whole(Shape { ddl, ..Shape::default() }, 3), 3);
    let m =
        TableMirror::new(fresh_database(), Shape { ddl: "CREATE TABLE t (id int PRIMARY KEY)", ..Shape::default() });
    assert_eq!(rows_read(&m.run()), 0);
    m.settles();
}

#[test]
fn partitioned_and_inherited_tables() {
    let ddl = "CREATE TABLE t (id int, at date, note text, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
               CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
               CREATE TABLE t_2 PARTITION OF t DEFAULT;
               INSERT INTO t SELECT g, '2020-06-01'::date + g, 'n' FROM generate_series(1, 400) g";
    let publish = "FOR TABLE t WITH (publish_via_partition_root = true)";
    assert_eq!(whole(Shape { ddl, publish, key: "[id, at]", ..Shape::default() }, 400), 8);
    let ddl = "CREATE TABLE t (id int PRIMARY KEY, note text); CREATE TABLE child () INHERITS (t);
               ALTER TABLE child ADD PRIMARY KEY (id);
               INSERT INTO t SELECT g FROM generate_series(1, 100) g; INSERT INTO child SELECT g FROM generate_series(101, 200) g;
               CREATE TABLE copy (id int PRIMARY KEY, note text)";
    assert_eq!(whole(Shape { ddl, query: "SELECT * FROM ONLY t", source: "ONLY t", ..only() }, 100), 8);
}

/// The parent alone.
fn only() -> Shape<'static> {
    Shape { publish: "FOR TABLE ONLY t", ..Shape::default() }
}

#[test]
fn names_that_need_quotes() {
    let ddl =
        "CREATE SCHEMA \"S.1\"; CREATE TABLE \"S.1\".\"My \"\"Table\" (\"Id.x\" int PRIMARY KEY, \"select\" text);
               INSERT INTO \"S.1\".\"My \"\"Table\" SELECT g, 'v' || g FROM generate_series(1, 200) g";
    let source = "\"S.1\".\"My \"\"Table\"";
    let query =
        "SELECT o.* FROM \"S.1\".\"My \"\"Table\" AS o WHERE o.\"Id.x\" > 0 OR o.\"Id.x\" IS NULL -- all of them";
    assert_eq!(whole(Shape { ddl, source, query, key: "[\"Id.x\"]", ..Shape::default() }, 200), 8);
}

#[test]
fn what_can_not_be_cut_is_refused_when_ranges_are_asked_for() {
    let ddl = "CREATE TABLE t (id int PRIMARY KEY, a int); INSERT INTO t SELECT g, g % 5 FROM generate_series(1, 50) g;
               CREATE VIEW v AS SELECT * FROM t; CREATE TABLE p (id int, a int) PARTITION BY RANGE (id)";
    for (query, publish, why) in [
        ("SELECT id, a FROM t ORDER BY id", "", "it sorts its rows"),
        ("SELECT id, a, row_number() OVER () FROM t", "", "computes its rows from several"),
        ("SELECT id, a, generate_series(1, 1) FROM t", "", "computes its rows from several"),
        ("SELECT * FROM v", "", "view"),
        ("SELECT * FROM p", "FOR TABLE p", "no unique index"),
    ] {
        let m = TableMirror::new(fresh_database(), Shape { ddl, query, publish, ..Shape::default() });
        let refused = m.faucet.run("mirror").expect_code(2);
        assert!(
            refused.stderr.contains("postgres.not_splittable") && refused.stderr.contains(why),
            "{}",
            refused.stderr
        );
        // Not asked for, it is read as a whole.
        m.faucet.run_with(&["mirror", "drop", "--yes", "config.yaml"]).expect_code(0);
        let config = std::fs::read_to_string(m.faucet.config()).unwrap();
        m.faucet.set_config(&config.replace("    shards: 8\n", "").replace("copy", "whole"));
        m.sql(&format!(
            "CREATE TABLE whole AS SELECT * FROM ({query}) AS q LIMIT 0; CREATE UNIQUE INDEX ON whole (id)"
        ));
        m.run();
    }
}

#[test]
fn a_reading_tells_how_far_the_snapshot_is() {
    let ddl = "CREATE TABLE t (id int PRIMARY KEY, pad text);
               INSERT INTO t SELECT g, repeat('x', 500) FROM generate_series(1, 20000) g; ANALYZE t";
    let m = TableMirror::new(fresh_database(), Shape { ddl, ..Shape::default() });
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    m.faucet.set_config(&format!("{config}observability: {{ progress_interval: 20ms }}\n"));
    let done = m.run();
    let events = done.stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let snapshot: Vec<_> =
        events.filter(|event| event["phase"] == "snapshot" && event["snapshot_parts_total"] == 8).collect();
    assert!(!snapshot.is_empty(), "{}", done.stdout);
    assert!(snapshot.iter().all(|event| event["snapshot_rows_estimated"] == 20000), "{snapshot:?}");
    let percents: Vec<u64> = snapshot.iter().filter_map(|event| event["snapshot_percent"].as_u64()).collect();
    assert!(percents.is_sorted() && percents.iter().all(|percent| *percent <= 99), "{percents:?}");
}

/// The planner guesses the width of rows that it never saw: here at an eighth.
#[test]
fn a_table_that_was_never_analyzed_is_estimated_by_its_rows() {
    let ddl = "CREATE TABLE t (id int PRIMARY KEY, pad text) WITH (autovacuum_enabled = false);
               INSERT INTO t SELECT g, repeat('x', 500) FROM generate_series(1, 20000) g";
    for (snapshot, parts) in [("shards: 8", 8), ("shards: 1", 1)] {
        let m = TableMirror::new(fresh_database(), Shape { ddl, snapshot, ..Shape::default() });
        let config = std::fs::read_to_string(m.faucet.config()).unwrap();
        m.faucet.set_config(&format!("{config}observability: {{ progress_interval: 10ms }}\n"));
        let done = m.run();
        let estimates = estimates(&done.stdout, parts);
        assert!(!estimates.is_empty(), "{}", done.stdout);
        for rows in estimates {
            let rows = rows.as_u64().expect("there is an estimate");
            assert!((17_000..=23_000).contains(&rows), "{rows} rows of 20000");
        }
    }
}

/// What the planner would have to guess is not shown as a share.
#[test]
fn a_query_over_a_table_that_was_never_analyzed_has_no_estimate() {
    let ddl = "CREATE TABLE t (id int PRIMARY KEY, pad text) WITH (autovacuum_enabled = false);
               INSERT INTO t SELECT g, repeat('x', 500) FROM generate_series(1, 5000) g;
               CREATE VIEW w AS SELECT x.id, x.pad FROM t x JOIN t y USING (id)";
    let query = "SELECT * FROM w";
    let m = TableMirror::new(fresh_database(), Shape { ddl, query, snapshot: "", ..Shape::default() });
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    m.faucet.set_config(&format!("{config}observability: {{ progress_interval: 10ms }}\n"));
    let done = m.run();
    let estimates = estimates(&done.stdout, 1);
    assert!(!estimates.is_empty() && estimates.iter().all(serde_json::Value::is_null), "{estimates:?}");
}

fn estimates(stdout: &str, parts: u64) -> Vec<serde_json::Value> {
    let events = stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let of_snapshot = events.filter(|event| event["phase"] == "snapshot" && event["snapshot_parts_total"] == parts);
    of_snapshot.map(|event| event["snapshot_rows_estimated"].clone()).collect()
}
