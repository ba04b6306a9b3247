//! Every kind of change, as it was made and in the order it was made.

use super::{Fixture, changes};
use faucet_core::model::Position;
use faucet_core::ports::Boundary;

#[test]
fn every_kind_of_change_is_delivered_in_order() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY, note text, n numeric(6,2))");
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1, 'one', 1.50), (2, '', NULL)");
    fixture.sql("UPDATE t SET note = NULL WHERE id = 1");
    fixture.sql("BEGIN; UPDATE t SET id = 3 WHERE id = 1; DELETE FROM t WHERE id = 2; COMMIT");
    fixture.sql("TRUNCATE t");
    fixture.sql("INSERT INTO t VALUES (9, 'nine', 'NaN')");
    let expected = [
        "c t id=1 note=one n=1.50",
        "c t id=2 note= n=null",
        "u t id=1 note=null n=1.50",
        "u t id=3 note=null n=1.50 < id=1",
        "d t < id=2",
        "t t",
        "c t id=9 note=nine n=NaN",
    ];
    assert_eq!(fixture.open().changes(), expected);
}

#[test]
fn rows_of_one_commit_share_its_position_and_differ_in_their_ordinal() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)");
    fixture.capture();
    fixture.sql("INSERT INTO t SELECT generate_series(1, 10)");
    fixture.sql("INSERT INTO t VALUES (11)");
    let batches = fixture.open().drain();
    let change = batches[0].pages[0].change().unwrap();
    let positions: Vec<&[u8]> = (0..11).map(|row| change.positions.get(row)).collect();
    assert!(positions.is_sorted_by(|a, b| a < b));
    assert!(positions[..10].iter().enumerate().all(|(i, p)| p[..8] == positions[0][..8] && p[15] == i as u8));
    assert_ne!(positions[10][..8], positions[0][..8]);
    assert!(change.committed_at.iter().all(|at| *at > 1_700_000_000_000_000));
    // The whole batch is at or before the bookmark, by the capture's own account.
    let Boundary::Commit(Some(bookmark)) = &batches[0].boundary else { panic!("inside") };
    let capture = super::connector().capture(&fixture.config).unwrap();
    let end = capture.position(bookmark).unwrap();
    assert_eq!(change.positions.count_through(&end), 11);
    let before_last = Position::from_bytes(positions[9].to_vec());
    assert_eq!(change.positions.count_through(&before_last), 10);
}

#[test]
fn interleaved_transactions_come_whole_and_in_commit_order() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY, who text)");
    fixture.capture();
    let (a, b) = (fixture.client(), fixture.client());
    a.execute("BEGIN; INSERT INTO t VALUES (1, 'a')");
    b.execute("BEGIN; INSERT INTO t VALUES (2, 'b')");
    a.execute("INSERT INTO t VALUES (3, 'a')");
    b.execute("INSERT INTO t VALUES (4, 'b'); COMMIT");
    fixture.sql("INSERT INTO t VALUES (5, 'c')");
    a.execute("INSERT INTO t VALUES (6, 'a'); COMMIT");
    let expected =
        ["c t id=2 who=b", "c t id=4 who=b", "c t id=5 who=c", "c t id=1 who=a", "c t id=3 who=a", "c t id=6 who=a"];
    assert_eq!(fixture.open().changes(), expected);
}

#[test]
fn a_truncate_of_two_tables_reaches_both_between_their_rows() {
    let ddl = "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY REFERENCES a)";
    let fixture = Fixture::new(ddl);
    fixture.capture();
    fixture.sql(
        "BEGIN; INSERT INTO a VALUES (1); INSERT INTO b VALUES (1); TRUNCATE a CASCADE; \
                 INSERT INTO a VALUES (2); INSERT INTO b VALUES (2); COMMIT",
    );
    let lines = fixture.open().changes();
    let of =
        |table: &str| lines.iter().filter(|l| l.contains(&format!(" {table}"))).map(|l| &l[..1]).collect::<String>();
    assert_eq!((of("a"), of("b")), ("ctc".to_owned(), "ctc".to_owned()));
}

#[test]
fn rolled_back_work_and_savepoints_leave_no_trace() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)");
    fixture.capture();
    fixture.sql("BEGIN; INSERT INTO t VALUES (1); ROLLBACK");
    fixture.sql(
        "BEGIN; INSERT INTO t VALUES (2); SAVEPOINT s; INSERT INTO t VALUES (3); ROLLBACK TO s; \
                 INSERT INTO t VALUES (4); COMMIT",
    );
    assert_eq!(fixture.open().changes(), ["c t id=2", "c t id=4"]);
}

#[test]
fn a_logical_message_does_not_hide_the_changes_around_it() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY)");
    fixture.capture();
    fixture.sql("BEGIN; SELECT pg_logical_emit_message(true, 'x', 'y'); INSERT INTO t VALUES (1); COMMIT");
    fixture.sql("SELECT pg_logical_emit_message(false, 'x', 'y')");
    fixture.sql("INSERT INTO t VALUES (2)");
    assert_eq!(fixture.open().changes(), ["c t id=1", "c t id=2"]);
}

#[test]
fn a_schema_that_changes_midway_starts_a_new_page() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY, a text)");
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1, 'x')");
    fixture.sql("ALTER TABLE t ADD COLUMN b int DEFAULT 5");
    fixture.sql("INSERT INTO t VALUES (2, 'y', 6)");
    fixture.sql("ALTER TABLE t DROP COLUMN a");
    fixture.sql("INSERT INTO t VALUES (3, 7)");
    let batches = fixture.open().drain();
    let names = |page: &faucet_core::model::Page| {
        page.schema().fields.iter().map(|f| f.name.to_string()).collect::<Vec<_>>().join(",")
    };
    let pages: Vec<String> = batches.iter().flat_map(|b| &b.pages).map(names).collect();
    assert_eq!(pages, ["id,a", "id,a,b", "id,b"]);
    let lines: Vec<String> = batches.iter().flat_map(changes).collect();
    assert_eq!(lines, ["c t id=1 a=x", "c t id=2 a=y b=6", "c t id=3 b=7"]);
}

#[test]
fn a_table_dropped_since_is_still_delivered() {
    let fixture =
        Fixture::new("CREATE TYPE mood AS ENUM ('ok'); CREATE TABLE t (b int, a int, m mood, PRIMARY KEY (a, b))");
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1, 2, 'ok')");
    fixture.sql("DROP TABLE t; DROP TYPE mood");
    let batches = fixture.open().drain();
    assert_eq!(changes(&batches[0]), ["c t b=1 a=2 m=ok"]);
    let schema = batches[0].pages[0].schema();
    assert_eq!(schema.fields[2].native.as_deref(), Some("postgres:public.mood"));
}

#[test]
fn types_are_told_apart_by_schema_and_domains_read_as_their_base() {
    let fixture = Fixture::new(
        "CREATE SCHEMA other; CREATE TYPE mood AS ENUM ('ok'); CREATE TYPE other.mood AS ENUM ('meh');
         CREATE DOMAIN price AS numeric(8,2) CHECK (value >= 0);
         CREATE TABLE t (id int PRIMARY KEY, a mood, b other.mood, p price, tags text[])",
    );
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1, 'ok', 'meh', 2.5, '{x,NULL}')");
    let batches = fixture.open().drain();
    assert_eq!(changes(&batches[0]), ["c t id=1 a=ok b=meh p=2.50 tags={x,NULL}"]);
    let fields = &batches[0].pages[0].schema().fields;
    let natives: Vec<&str> = fields.iter().map(|f| f.native_of("postgres").unwrap()).collect();
    assert_eq!(natives, ["integer", "public.mood", "other.mood", "numeric(8,2)", "text[]"]);
    assert_eq!(fields[3].kind, faucet_core::model::Kind::Decimal);
}

#[test]
fn a_composite_key_is_in_the_order_of_its_index() {
    let fixture = Fixture::new("CREATE TABLE t (a int, b int, c int, PRIMARY KEY (c, a))");
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1, 2, 3)");
    let batches = fixture.open().drain();
    assert_eq!(batches[0].pages[0].schema().key, [2, 0]);
}
