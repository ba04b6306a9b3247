//! A change is decoded as what its partition was when it was made.

use faucet_tests::Shape;

const DDL: &str = "CREATE TABLE ev (id int, at int, v text, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
    CREATE TABLE ev_1 PARTITION OF ev FOR VALUES FROM (0) TO (10); CREATE TABLE ev_2 PARTITION OF ev FOR VALUES FROM (10) TO (20);
    INSERT INTO ev SELECT g, g, 'a' FROM generate_series(0, 19) g; CREATE TABLE copy (id int, at int, v text, PRIMARY KEY (id, at))";

fn mirrored() -> faucet_tests::TableMirror {
    let shape = Shape { ddl: DDL, source: "ev", query: "SELECT * FROM ev", key: "[id, at]", ..Shape::default() };
    super::mirrored_as(shape)
}

#[test]
fn changes_of_a_partition_that_is_gone_are_still_the_tables() {
    for ddl in [
        "DROP TABLE ev_1",
        "ALTER TABLE ev DETACH PARTITION ev_1",
        "ALTER TABLE ev DETACH PARTITION ev_1; DROP TABLE ev_1",
    ] {
        let m = mirrored();
        m.sql(&format!("UPDATE ev SET v = 'b'; INSERT INTO ev VALUES (100, 5, 'new'); {ddl}; UPDATE ev SET v = 'c'"));
        m.run();
        let copied = |sql: &str| m.database.client().one(sql);
        assert_eq!(copied("SELECT string_agg(DISTINCT v, ',') FROM copy WHERE at >= 10"), "c", "{ddl}");
        // The rows that went with the partition are told of, in their last state.
        assert_eq!(copied("SELECT string_agg(DISTINCT v, ',') FROM copy WHERE at < 10"), "b,new", "{ddl}");
        assert!(m.marker()["resync_required"].to_string().contains("ev_1"), "{}", m.marker());
        m.run();
    }
}

#[test]
fn a_root_with_another_name_is_the_same_table() {
    let mut m = mirrored();
    m.sql("UPDATE ev SET v = 'b'; ALTER TABLE ev RENAME TO events; INSERT INTO events VALUES (100, 5, 'new')");
    m.source = "events".to_owned();
    m.run();
    m.settles();
    m.run();
}

#[test]
fn one_partition_can_not_stand_for_the_table() {
    let shape = Shape { ddl: DDL, source: "ev", query: "SELECT * FROM ev_2", key: "[id, at]", ..Shape::default() };
    let m = faucet_tests::TableMirror::new(faucet_tests::fresh_database(), shape);
    super::refused(&m, "mirror.query_differs", "the partition public.ev_2");
    let publish = "FOR TABLE ev_2";
    let mut m = super::mirrored_as_filtered_by(Shape { publish, ..shape });
    m.sql("UPDATE ev SET v = 'b'; INSERT INTO ev VALUES (100, 15, 'new'), (101, 5, 'elsewhere')");
    m.run();
    m.source = "ev_2".to_owned();
    m.settles();
}
