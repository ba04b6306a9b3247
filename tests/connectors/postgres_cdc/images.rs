//! What is told of a row before and after a change, under each replica identity.

use super::Fixture;

/// A text that doesn't compress and is stored out of line.
const LARGE: &str = "(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 400) i)";

fn toast(identity: &str) -> Fixture {
    let fixture = Fixture::new(&format!(
        "CREATE TABLE t (id int PRIMARY KEY, big text, n int);
         ALTER TABLE t ALTER big SET STORAGE EXTERNAL; ALTER TABLE t REPLICA IDENTITY {identity};
         INSERT INTO t VALUES (1, {LARGE}, 1)"
    ));
    fixture.capture();
    fixture
}

#[test]
fn an_unchanged_large_value_is_absent_and_not_null() {
    let fixture = toast("DEFAULT");
    fixture.sql("UPDATE t SET n = 2");
    fixture.sql("UPDATE t SET n = NULL, big = NULL");
    assert_eq!(fixture.open().changes(), ["u t id=1 n=2", "u t id=1 big=null n=null"]);
}

#[test]
fn with_a_key_change_under_default_identity_it_stays_absent() {
    let fixture = toast("DEFAULT");
    fixture.sql("UPDATE t SET id = 2");
    assert_eq!(fixture.open().changes(), ["u t id=2 n=1 < id=1"]);
}

#[test]
fn under_full_identity_it_is_taken_from_the_row_before() {
    let fixture = toast("FULL");
    fixture.sql("UPDATE t SET n = 2");
    fixture.sql("DELETE FROM t");
    let image = |n: u8| format!("id=1 big=c4ca4238..(12800) n={n}");
    let expected = [format!("u t {} < {}", image(2), image(1)), format!("d t < {}", image(2))];
    assert_eq!(fixture.open().changes(), expected);
}

#[test]
fn under_full_identity_nulls_before_are_nulls_and_the_key_is_the_primary_key() {
    let fixture = Fixture::new("CREATE TABLE t (id int PRIMARY KEY, note text); ALTER TABLE t REPLICA IDENTITY FULL");
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1, NULL)");
    fixture.sql("UPDATE t SET note = 'x'");
    let batches = fixture.open().drain();
    assert_eq!(super::changes(&batches[0]), ["c t id=1 note=null", "u t id=1 note=x < id=1 note=null"]);
    assert_eq!(batches[0].pages[0].schema().key, [0]);
}

#[test]
fn an_identity_index_tells_its_own_columns() {
    let fixture = Fixture::new(
        "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL, c int);
         CREATE UNIQUE INDEX other ON t (b, a); ALTER TABLE t REPLICA IDENTITY USING INDEX other",
    );
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1, 2, 3, 4)");
    fixture.sql("UPDATE t SET a = 5");
    fixture.sql("DELETE FROM t");
    let batches = fixture.open().drain();
    let expected = ["c t id=1 a=2 b=3 c=4", "u t id=1 a=5 b=3 c=4 < a=2 b=3", "d t < a=5 b=3"];
    assert_eq!(super::changes(&batches[0]), expected);
    assert_eq!(batches[0].pages[0].schema().key, [2, 1]);
}

#[test]
fn a_table_without_any_identity_has_no_key_and_delivers_inserts() {
    let fixture = Fixture::new("CREATE TABLE t (id int, note text)");
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1, 'x')");
    let batches = fixture.open().drain();
    assert_eq!(super::changes(&batches[0]), ["c t id=1 note=x"]);
    assert!(batches[0].pages[0].schema().key.is_empty());
}

#[test]
fn swapped_keys_come_as_they_were_swapped() {
    let fixture = Fixture::new(
        "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, note text);
         CREATE UNIQUE INDEX i ON t (id, note); ALTER TABLE t ALTER note SET NOT NULL;
         ALTER TABLE t REPLICA IDENTITY FULL; INSERT INTO t VALUES (1, 'a'), (2, 'b')",
    );
    fixture.capture();
    fixture.sql("UPDATE t SET id = 3 - id");
    let expected = ["u t id=2 note=a < id=1 note=a", "u t id=1 note=b < id=2 note=b"];
    assert_eq!(fixture.open().changes(), expected);
}

#[test]
fn a_column_list_and_a_row_filter_of_the_publication_hold() {
    let ddl = "CREATE TABLE t (id int PRIMARY KEY, a int, secret text)";
    let fixture = Fixture::publishing(ddl, "FOR TABLE t (id, a) WHERE (id > 10)");
    fixture.capture();
    fixture.sql("INSERT INTO t VALUES (1, 1, 's'), (11, 2, 's')");
    fixture.sql("UPDATE t SET id = 12 WHERE id = 1");
    assert_eq!(fixture.open().changes(), ["c t id=11 a=2", "c t id=12 a=1"]);
}

#[test]
fn tables_of_a_schema_are_streamed_those_that_come_later_too() {
    let ddl =
        "CREATE SCHEMA s; CREATE TABLE s.t (id int PRIMARY KEY, a int); CREATE TABLE public.t (id int PRIMARY KEY)";
    let fixture = Fixture::publishing(ddl, "FOR TABLES IN SCHEMA s");
    fixture.capture();
    fixture.sql("INSERT INTO public.t VALUES (1); INSERT INTO s.t VALUES (2, 2)");
    fixture.sql("CREATE TABLE s.later (id int PRIMARY KEY); INSERT INTO s.later VALUES (3); DELETE FROM s.t");
    assert_eq!(fixture.open().changes(), ["c t id=2 a=2", "c later id=3", "d t < id=2"]);
}
