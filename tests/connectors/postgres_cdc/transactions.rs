//! Every kind of transaction: prepared, nested, larger than the server's memory, empty, with messages in it, with columns
//! that change in the middle of it.

use super::{Fixture, bookmark, changes, last_bookmark};
use faucet_core::model::Page;
use faucet_core::ports::{Batch, Boundary};
use faucet_tests::{Postgres, PostgresOptions};
use serde_json::json;

const DDL: &str = "CREATE TABLE t (id int PRIMARY KEY, who text)";

fn server(settings: &[(&str, &str)]) -> Postgres {
    let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Postgres::start(PostgresOptions { settings, ..PostgresOptions::default() })
}

#[test]
fn a_prepared_transaction_arrives_once_when_it_is_committed_and_not_when_it_is_rolled_back() {
    let server = server(&[("max_prepared_transactions", "5")]);
    let fixture = Fixture::on_server(&server, DDL);
    fixture.capture();
    fixture.sql("BEGIN; INSERT INTO t VALUES (1, 'kept'), (2, 'kept'); PREPARE TRANSACTION 'kept'");
    fixture.sql("BEGIN; INSERT INTO t VALUES (3, 'dropped'); PREPARE TRANSACTION 'dropped'");
    fixture.sql("INSERT INTO t VALUES (4, 'between')");
    let mut stream = fixture.open();
    let batches = stream.drain();
    assert_eq!(batches.iter().flat_map(changes).collect::<Vec<_>>(), ["c t id=4 who=between"]);
    let at = last_bookmark(&batches);
    stream.confirm(&at);
    stream.close();
    // The position confirmed lies after the prepared rows: they come with their commit nevertheless.
    fixture.sql("ROLLBACK PREPARED 'dropped'");
    fixture.sql("COMMIT PREPARED 'kept'");
    fixture.sql("INSERT INTO t VALUES (5, 'after')");
    let expected = ["c t id=1 who=kept", "c t id=2 who=kept", "c t id=5 who=after"];
    let mut resumed = fixture.resume(&at);
    let batches = resumed.drain();
    assert_eq!(batches.iter().flat_map(changes).collect::<Vec<_>>(), expected);
    resumed.close();
    assert!(fixture.resume(&last_bookmark(&batches)).changes().is_empty(), "it came again");
}

#[test]
fn of_many_subtransactions_only_what_was_released_arrives() {
    let fixture = Fixture::new(DDL);
    fixture.capture();
    // More than the 64 that the server keeps for a transaction without looking them up.
    let nested = |i: u32| {
        let end = if i.is_multiple_of(3) { "ROLLBACK TO" } else { "RELEASE" };
        format!(
            "SAVEPOINT a; INSERT INTO t VALUES ({i}, 'a'); SAVEPOINT b; INSERT INTO t VALUES (1000 + {i}, 'b'); ROLLBACK TO b; {end} a;"
        )
    };
    let all: String = (1..=100).map(nested).collect();
    fixture.sql(&format!("BEGIN; {all} COMMIT"));
    let expected: Vec<_> =
        (1..=100_u32).filter(|i| !i.is_multiple_of(3)).map(|i| format!("c t id={i} who=a")).collect();
    assert_eq!(fixture.open().changes(), expected);
}

#[test]
fn a_transaction_over_the_servers_memory_beside_others_comes_whole_and_in_its_place() {
    let server = server(&[("logical_decoding_work_mem", "64kB")]);
    let fixture = Fixture::on_server(&server, DDL).with(json!({"batch_size": 1000}));
    fixture.capture();
    let (a, b) = (fixture.client(), fixture.client());
    a.execute("BEGIN; INSERT INTO t SELECT g, 'a' FROM generate_series(1, 3000) g");
    b.execute("BEGIN; INSERT INTO t SELECT g, 'b' FROM generate_series(5001, 8000) g");
    fixture.sql("INSERT INTO t VALUES (9001, 'c')");
    a.execute("INSERT INTO t SELECT g, 'a' FROM generate_series(3001, 4000) g");
    b.execute("COMMIT");
    fixture.sql("INSERT INTO t VALUES (9002, 'c')");
    a.execute("COMMIT");
    let spilled =
        format!("SELECT spill_txns > 1 FROM pg_stat_replication_slots WHERE slot_name = '{}'", fixture.slot());
    let mut stream = fixture.open();
    let batches = stream.drain();
    stream.close();
    let row = |id: i32, who: &str| format!("c t id={id} who={who}");
    let expected: Vec<_> = std::iter::once(row(9001, "c"))
        .chain((5001..=8000).map(|id| row(id, "b")))
        .chain([row(9002, "c")])
        .chain((1..=4000).map(|id| row(id, "a")))
        .collect();
    assert_eq!(batches.iter().flat_map(changes).collect::<Vec<_>>(), expected);
    assert!(batches.iter().any(|batch| batch.boundary == Boundary::Inside));
    let probe = fixture.client();
    faucet_tests::eventually(std::time::Duration::from_secs(10), "the server to have spilled", || {
        match probe.one(&spilled).as_str() {
            "t" => Ok(()),
            _ => Err("it did not".to_owned()),
        }
    });
}

#[test]
fn transactions_without_rows_are_nothing_but_a_position() {
    let fixture = Fixture::publishing("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int)", "FOR TABLE t");
    fixture.sql("CREATE SEQUENCE numbers");
    fixture.capture();
    fixture.sql("BEGIN; SELECT pg_current_xact_id(); COMMIT");
    fixture.sql("BEGIN; INSERT INTO u VALUES (1); COMMIT");
    fixture.sql("BEGIN; INSERT INTO t VALUES (1); ROLLBACK");
    fixture.sql("CREATE TABLE v (id int); DROP TABLE v");
    fixture.sql("SELECT nextval('numbers') FROM generate_series(1, 100)");
    fixture.sql("SELECT setval('numbers', 5000)");
    fixture.sql("UPDATE t SET id = id WHERE false");
    let end = fixture.client().one("SELECT pg_current_wal_lsn()");
    let batches = fixture.open().drain();
    assert_eq!(batches.iter().map(Batch::rows).sum::<usize>(), 0);
    let at = last_bookmark(&batches);
    let passed = format!("SELECT '{}'::pg_lsn >= '{end}'", at.0["lsn"].as_str().unwrap());
    assert_eq!(fixture.client().one(&passed), "t");
}

/// A position inside a transaction, such as that of a message that does not belong to it, is before its commit.
#[test]
fn rows_around_messages_arrive_after_a_restart_at_any_bookmark() {
    let fixture = Fixture::new(DDL).with(json!({"batch_size": 2, "linger": 0, "status_update_interval": "10ms"}));
    fixture.capture();
    for id in [0, 10, 20] {
        fixture.sql(&format!(
            "BEGIN; SELECT pg_logical_emit_message(true, 'x', 'y'); INSERT INTO t VALUES ({id} + 1, 'first');
             SELECT pg_logical_emit_message(false, 'x', 'y'); INSERT INTO t VALUES ({id} + 2, 'second');
             SELECT pg_logical_emit_message(true, 'x', 'y'); INSERT INTO t VALUES ({id} + 3, 'third');
             SELECT pg_logical_emit_message(false, 'x', ''); COMMIT"
        ));
        fixture.sql("SELECT pg_logical_emit_message(false, 'x', 'between')");
        fixture.sql("BEGIN; SELECT pg_logical_emit_message(true, 'x', 'alone'); COMMIT");
    }
    let mut stream = fixture.open();
    let batches = stream.drain();
    drop(stream);
    let all: Vec<String> = batches.iter().flat_map(changes).collect();
    assert_eq!(all.len(), 9);
    assert!(batches.iter().any(|batch| batch.boundary == Boundary::Inside), "no transaction was cut");
    let mut seen = 0;
    for batch in &batches {
        seen += batch.rows();
        if batch.boundary != Boundary::Inside {
            assert_eq!(fixture.resume(&bookmark(batch)).changes(), all[seen..], "after {seen}");
        }
    }
}

fn shape(page: &Page) -> String {
    let field = |f: &faucet_core::model::Field| format!("{} {}", f.name, f.native_of("postgres").unwrap());
    page.schema().fields.iter().map(field).collect::<Vec<_>>().join(", ")
}

#[test]
fn each_row_has_the_columns_of_its_moment_when_they_change_inside_a_transaction() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY, a text, n int)");
    fixture.capture();
    fixture.sql(
        "BEGIN; INSERT INTO t VALUES (1, 'x', 1);
         ALTER TABLE t ADD COLUMN b int DEFAULT 5; UPDATE t SET a = 'y';
         ALTER TABLE t RENAME COLUMN a TO \"A b\"; INSERT INTO t VALUES (2, 'z', 2, 6);
         ALTER TABLE t ALTER COLUMN n TYPE text USING n || '!'; UPDATE t SET b = 7 WHERE id = 1;
         ALTER TABLE t DROP COLUMN b; DELETE FROM t WHERE id = 2; INSERT INTO t VALUES (3, NULL, 'n'); COMMIT",
    );
    let batches = fixture.open().drain();
    let lines: Vec<String> = batches.iter().flat_map(changes).collect();
    let expected = [
        "c t id=1 a=x n=1",
        "u t id=1 a=y n=1 b=5",
        "c t id=2 A b=z n=2 b=6",
        "u t id=1 A b=y n=1! b=7",
        "d t < id=2",
        "c t id=3 A b=null n=n",
    ];
    assert_eq!(lines, expected);
    let shapes: Vec<String> = batches.iter().flat_map(|b| &b.pages).map(shape).collect();
    let expected = [
        "id integer, a text, n integer",
        "id integer, a text, n integer, b integer",
        "id integer, A b text, n integer, b integer",
        "id integer, A b text, n text, b integer",
        "id integer, A b text, n text",
    ];
    assert_eq!(shapes, expected);
}

#[test]
fn a_truncate_of_several_tables_is_one_change_of_each_wherever_it_cascades() {
    let fixture = Fixture::new(
        "CREATE TABLE a (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, note text);
         CREATE TABLE b (id serial PRIMARY KEY); CREATE TABLE c (id int PRIMARY KEY REFERENCES a);
         INSERT INTO a (note) VALUES ('old'), ('old'); INSERT INTO b DEFAULT VALUES; INSERT INTO c VALUES (1)",
    );
    fixture.capture();
    fixture.sql(
        "BEGIN; INSERT INTO a (note) VALUES ('before'); TRUNCATE a, b RESTART IDENTITY CASCADE;
         INSERT INTO a (note) VALUES ('after'); INSERT INTO b DEFAULT VALUES; INSERT INTO c VALUES (1); COMMIT",
    );
    let lines = fixture.open().changes();
    let of = |table: &str| lines.iter().filter(|line| line[2..].starts_with(table)).cloned().collect::<Vec<_>>();
    assert_eq!(of("a"), ["c a id=3 note=before", "t a", "c a id=1 note=after"]);
    assert_eq!(
        (of("b"), of("c")),
        (vec!["t b".to_owned(), "c b id=1".to_owned()], vec!["t c".to_owned(), "c c id=1".to_owned()])
    );
}
