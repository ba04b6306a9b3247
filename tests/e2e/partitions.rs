//! Rows that come or go with a partition as a whole, of which the stream doesn't tell.

use faucet_tests::{Shape, TableMirror, fresh_database};
use serde_json::Value;

const DDL: &str = "CREATE TABLE t (id int, at int, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
    CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (0) TO (10); CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM (10) TO (20);
    CREATE TABLE t_3 PARTITION OF t FOR VALUES FROM (20) TO (30);
    INSERT INTO t SELECT g, g FROM generate_series(0, 29) g; CREATE TABLE copy (id int, at int, PRIMARY KEY (id, at))";

fn mirrored(publish: &str) -> TableMirror {
    let shape = Shape { ddl: DDL, publish, key: "[id, at]", snapshot: "shards: 2", ..Shape::default() };
    let m = TableMirror::new(fresh_database(), shape);
    m.run();
    m.settles();
    m
}

fn both_ways(check: impl Fn(&str)) {
    check("FOR TABLE t");
    check("FOR TABLE t WITH (publish_via_partition_root = true)");
}

fn reasons(m: &TableMirror) -> Vec<String> {
    let marker = m.marker();
    let reasons = marker["resync_required"].as_array().map(Vec::as_slice).unwrap_or_default();
    reasons.iter().map(|reason| reason.as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn what_came_or_went_as_a_whole_is_told_everywhere() {
    both_ways(|publish| {
        let m = mirrored(publish);
        m.sql(
            "CREATE TABLE \"t.4\" (id int, at int, PRIMARY KEY (id, at)); INSERT INTO \"t.4\" VALUES (35, 35);
             ALTER TABLE t ATTACH PARTITION \"t.4\" FOR VALUES FROM (30) TO (40);
             ALTER TABLE t DETACH PARTITION t_1; TRUNCATE t_2",
        );
        let told = m.run();
        let found = reasons(&m);
        for part in ["\"public\".\"t.4\" was attached with rows", "\"t_1\" was detached", "\"t_2\" was truncated alone"]
        {
            assert!(found.iter().any(|reason| reason.contains(part)), "no {part}: {found:?}");
        }
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(told.stderr.contains("t_1") && told.stderr.contains("faucet mirror drop"), "{}", told.stderr);
        let last: Value = serde_json::from_str(told.stdout.lines().last().unwrap()).unwrap();
        assert_eq!(last["resync_required"], true);
        let config = m.faucet.config().display().to_string();
        let doctor = m.faucet.run_with(&["doctor", &config]).expect_code(0);
        assert!(doctor.stdout.contains("resync required") && doctor.stdout.contains("t_1"), "{}", doctor.stdout);
        // It is told once, and stays until the mirror is dropped.
        let again = m.run();
        assert_eq!((reasons(&m).len(), again.stderr.contains("t_1")), (3, false), "{}", again.stderr);
        m.faucet.run_with(&["mirror", "drop", "--yes", &config]).expect_code(0);
        m.sql("TRUNCATE copy");
        m.run();
        assert_eq!(reasons(&m), Vec::<String>::new());
        m.settles();
    });
}

#[test]
fn partitions_are_looked_at_through_their_table_by_a_role_that_may_read_only_that() {
    let m = mirrored("FOR TABLE t");
    let (name, server) = (m.database.name(), faucet_tests::shared_postgres());
    let role = format!("reader_{name}");
    server.create_role(&role, "pw", "REPLICATION");
    m.sql(&format!(
        "GRANT SELECT ON t TO {role}; GRANT ALL ON copy, _faucet_commit_token TO {role}; GRANT CREATE ON SCHEMA public TO {role}"
    ));
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    m.faucet.set_config(&config.replace(m.database.url(), &server.url_as(&role, "pw", name)));
    m.sql(
        "CREATE TABLE t_4 (id int, at int, PRIMARY KEY (id, at)); INSERT INTO t_4 VALUES (35, 35);
         ALTER TABLE t ATTACH PARTITION t_4 FOR VALUES FROM (30) TO (40);
         CREATE TABLE t_5 PARTITION OF t FOR VALUES FROM (40) TO (50)",
    );
    m.run();
    assert!(matches!(&reasons(&m)[..], [one] if one.contains("t_4")), "{:?}", reasons(&m));
    m.sql(&format!("DROP OWNED BY {role}"));
}

#[test]
fn what_the_stream_tells_of_is_no_reason() {
    both_ways(|publish| {
        let m = mirrored(publish);
        m.sql(
            "CREATE TABLE t_4 PARTITION OF t FOR VALUES FROM (30) TO (40); INSERT INTO t VALUES (31, 31);
             CREATE TABLE t_5 (id int, at int, PRIMARY KEY (id, at));
             ALTER TABLE t ATTACH PARTITION t_5 FOR VALUES FROM (40) TO (50); INSERT INTO t VALUES (41, 41);
             BEGIN; CREATE TABLE t_6 PARTITION OF t FOR VALUES FROM (50) TO (60); INSERT INTO t VALUES (51, 51); COMMIT;
             UPDATE t SET at = at + 10 WHERE id = 25",
        );
        m.sql("CREATE TABLE t_7 PARTITION OF t FOR VALUES FROM (60) TO (70)");
        m.run();
        // Rewritten, with and without rows.
        m.sql("VACUUM FULL t_1");
        m.sql("VACUUM FULL t_7");
        m.run();
        m.settles();
        assert_eq!(reasons(&m), Vec::<String>::new());
        m.sql("TRUNCATE t; INSERT INTO t VALUES (1, 1), (11, 11)");
        m.run();
        m.settles();
        assert_eq!(reasons(&m), Vec::<String>::new());
    });
}

#[test]
fn a_partition_that_came_before_the_snapshot_ended_is_in_it() {
    let shape = Shape { ddl: DDL, key: "[id, at]", snapshot: "shards: 4", ..Shape::default() };
    let mut m = TableMirror::new(fresh_database(), shape);
    m.crash("after_part:2");
    m.sql(
        "CREATE TABLE t_4 (id int, at int, PRIMARY KEY (id, at)); INSERT INTO t_4 SELECT g, 35 FROM generate_series(1, 9) g;
         ALTER TABLE t ATTACH PARTITION t_4 FOR VALUES FROM (30) TO (40)",
    );
    m.run();
    m.settles();
    assert_eq!(reasons(&m), Vec::<String>::new());
}
