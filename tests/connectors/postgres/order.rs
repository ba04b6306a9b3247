//! Pages whose rows can't be written in any order: what one does equals its changes one by one.

use faucet_core::model::{
    Kind, Page, ValueRef,
    ValueRef::{Absent, I64, Null, Text},
};
use faucet_tests::{Database, fresh_database};
use serde_json::json;

use super::support::{TestSink, page, shown, with_moves};

/// Rows of (id, ref, name, body): what the tables below have.
const COLUMNS: &[(&str, Kind)] =
    &[("id", Kind::I64), ("ref", Kind::I64), ("name", Kind::Text), ("body", Kind::Text), ("__op", Kind::Text)];

type Line<'a> = [ValueRef<'a>; 5];

fn rows(rows: &[Line<'_>]) -> Page {
    page(COLUMNS, &rows.iter().map(|row| row.as_slice()).collect::<Vec<_>>())
}

fn put<'a>(op: &'a str, id: i64, reference: Option<i64>, name: &'a str, body: ValueRef<'a>) -> Line<'a> {
    [I64(id), reference.map_or(Null, I64), Text(name), body, Text(op)]
}

fn delete(id: i64) -> Line<'static> {
    [I64(id), Absent, Absent, Absent, Text("d")]
}

const TRUNCATE: Line<'static> = [Absent, Absent, Absent, Absent, Text("t")];

fn database(table: &str) -> Database {
    let db = fresh_database();
    db.client().execute(table);
    db
}

/// Triggers fire and references act, as they don't by default where the role may keep them from it.
fn config() -> serde_json::Value {
    json!({
        "table_name": "t", "write_mode": "upsert", "key": ["id"], "delete_marker": { "field": "__op", "values": ["d"] },
        "triggers": "fire"
    })
}

fn contents(db: &Database) -> Vec<String> {
    shown(db, "SELECT id, ref, name, body FROM t ORDER BY id")
}

/// Applies the page to a table made by `table`, with and without setting rows aside, and once more over its own result.
#[track_caller]
fn assert_becomes(table: &str, page: &Page, expected: &[&str]) {
    for aside in [false, true] {
        let db = database(table);
        let mut sink = if aside { TestSink::open_setting_aside(&db, config()) } else { TestSink::open(&db, config()) };
        sink.apply(page);
        assert_eq!((contents(&db), sink.aside()), (expected.iter().map(|s| (*s).to_owned()).collect(), 0));
        sink.close();
    }
}

const UNIQUE: &str = "CREATE TABLE t (id int PRIMARY KEY, ref int, name text UNIQUE, body text);
    INSERT INTO t VALUES (1, 1, 'a', 'A'), (2, 2, 'b', 'B')";

#[test]
fn a_unique_value_goes_round_among_rows() {
    let page = rows(&[
        put("u", 1, Some(1), "tmp", Text("A")),
        put("u", 2, Some(2), "a", Text("B")),
        put("u", 1, Some(1), "b", Text("A")),
    ]);
    assert_becomes(UNIQUE, &page, &["1|1|b|A", "2|2|a|B"]);
}

#[test]
fn a_new_row_takes_the_value_that_a_partial_update_gives_up() {
    let page = rows(&[put("u", 1, Some(1), "c", Absent), put("c", 3, None, "a", Text("C"))]);
    assert_becomes(UNIQUE, &page, &["1|1|c|A", "2|2|b|B", "3|NULL|a|C"]);
}

#[test]
fn a_moved_row_passes_its_value_on() {
    // 1 becomes 9 and gives up its name, which 2 takes; then 9 takes that of 2.
    let page = rows(&[
        delete(1),
        put("u", 9, Some(1), "tmp", Absent),
        put("u", 2, Some(2), "a", Absent),
        put("u", 9, Some(1), "b", Absent),
    ]);
    assert_becomes(UNIQUE, &with_moves(page, &[(0, 1)]), &["2|2|a|B", "9|1|b|A"]);
}

#[test]
fn ranges_that_must_not_overlap_pass_by_each_other() {
    let table = "CREATE TABLE t (id int PRIMARY KEY, ref int, name text, body text,
                   EXCLUDE USING gist (int4range(ref, ref + 10) WITH &&));
                 INSERT INTO t VALUES (1, 0, 'a', 'A'), (2, 100, 'b', 'B')";
    let page = rows(&[
        put("u", 1, Some(200), "a", Text("A")),
        put("u", 2, Some(5), "b", Text("B")),
        put("u", 1, Some(95), "a", Text("A")),
    ]);
    assert_becomes(table, &page, &["1|95|a|A", "2|5|b|B"]);
}

#[test]
fn a_deferrable_constraint_holds_at_the_end() {
    for when in ["DEFERRABLE", "DEFERRABLE INITIALLY DEFERRED"] {
        let table = format!("{}; ALTER TABLE t DROP CONSTRAINT t_name_key, ADD UNIQUE (name) {when}", UNIQUE);
        let page = rows(&[put("u", 1, Some(1), "b", Text("A")), put("u", 2, Some(2), "a", Absent)]);
        assert_becomes(&table, &page, &["1|1|b|A", "2|2|a|B"]);
    }
}

#[test]
fn what_breaks_a_constraint_in_any_order_is_refused_or_set_aside_alone() {
    let page = rows(&[
        put("u", 1, Some(1), "tmp", Text("A")),
        put("u", 2, Some(2), "a", Text("B")),
        put("u", 1, Some(1), "b", Text("A")),
        put("c", 3, None, "a", Text("C")),
        put("c", 4, None, "d", Text("D")),
    ]);
    let db = database(UNIQUE);
    let error = TestSink::open(&db, config()).refused(&page);
    assert_eq!(error.code().id, "postgres.constraint_violated");
    let mut sink = TestSink::open_setting_aside(&db, config());
    sink.apply(&page);
    assert_eq!(sink.aside(), 1);
    assert_eq!(contents(&db), ["1|1|b|A", "2|2|a|B", "4|NULL|d|D"]);
}

fn tree(action: &str) -> String {
    format!(
        "CREATE TABLE t (id int PRIMARY KEY, ref int REFERENCES t {action}, name text DEFAULT 'x', body text);
         INSERT INTO t VALUES (1, NULL, 'a', 'A'), (2, 1, 'b', 'B'), (3, 2, 'c', 'C')"
    )
}

#[test]
fn a_child_that_leaves_its_parent_before_the_parent_goes_stays() {
    for action in ["", "ON DELETE CASCADE", "ON DELETE SET NULL", "ON DELETE SET DEFAULT", "ON DELETE RESTRICT"] {
        for body in [Absent, Text("B")] {
            let page = rows(&[put("u", 2, None, "b", body), delete(1)]);
            assert_becomes(&tree(action), &page, &["2|NULL|b|B", "3|2|c|C"]);
        }
    }
}

#[test]
fn a_parent_that_goes_and_comes_back_takes_its_children_with_it() {
    // As the source did: the children's deletes come after their parent's.
    let page =
        rows(&[delete(1), delete(2), delete(3), put("c", 1, None, "new", Null), put("c", 2, Some(1), "b2", Null)]);
    for action in ["ON DELETE CASCADE", "DEFERRABLE"] {
        assert_becomes(&tree(action), &page, &["1|NULL|new|NULL", "2|1|b2|NULL"]);
    }
    // And a row that is left alone by the stream's page goes by the action alone.
    let page = rows(&[delete(1), put("c", 1, None, "new", Null)]);
    assert_becomes(&tree("ON DELETE CASCADE"), &page, &["1|NULL|new|NULL"]);
}

#[test]
fn a_key_that_changes_takes_the_references_with_it() {
    let page =
        with_moves(rows(&[delete(1), put("u", 10, None, "a", Absent), put("u", 2, Some(10), "b", Absent)]), &[(0, 1)]);
    for action in ["ON UPDATE CASCADE", "ON UPDATE CASCADE ON DELETE CASCADE", "ON DELETE CASCADE DEFERRABLE"] {
        assert_becomes(&tree(action), &page, &["2|10|b|B", "3|2|c|C", "10|NULL|a|A"]);
    }
}

#[test]
fn a_trigger_sees_each_change() {
    let table = "CREATE TABLE log (number int GENERATED ALWAYS AS IDENTITY, what text);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO log (what) VALUES (TG_OP || coalesce(NEW.name, OLD.name)); RETURN NULL; END $$;
        CREATE TABLE t (id int PRIMARY KEY, ref int, name text, body text);
        INSERT INTO t VALUES (1, 1, 'a', 'A');
        CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION note()";
    let db = database(table);
    let mut sink = TestSink::open(&db, config());
    sink.apply(&rows(&[
        put("u", 1, None, "b", Absent),
        put("u", 1, None, "c", Text("C")),
        delete(1),
        put("c", 1, None, "d", Text("D")),
    ]));
    assert_eq!(contents(&db), ["1|NULL|d|D"]);
    assert_eq!(shown(&db, "SELECT what FROM log ORDER BY number"), ["UPDATEb", "UPDATEc", "DELETEc", "INSERTd"]);
}

#[test]
fn a_table_that_another_references_can_be_emptied() {
    let tables = |action: &str| {
        format!(
            "{UNIQUE}; CREATE TABLE child (id int PRIMARY KEY, t int REFERENCES t {action}); INSERT INTO child VALUES (1, NULL)"
        )
    };
    let page = rows(&[put("u", 1, None, "x", Absent), TRUNCATE, put("c", 5, None, "a", Text("E"))]);
    for action in ["", "ON DELETE CASCADE", "ON DELETE SET NULL"] {
        assert_becomes(&tables(action), &page, &["5|NULL|a|E"]);
    }
    // Rows there that reference one that goes are treated as their constraint says.
    let filled = |action| database(&format!("{}; UPDATE child SET t = 2", tables(action)));
    assert_eq!(TestSink::open(&filled(""), config()).refused(&page).code().id, "postgres.constraint_violated");
    let cascading = filled("ON DELETE CASCADE");
    TestSink::open(&cascading, config()).apply(&page);
    assert_eq!(shown(&cascading, "SELECT * FROM child"), [""; 0]);
}

#[test]
fn an_identity_in_the_key_and_names_that_mean_something_in_a_loop() {
    let table = "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ref int, name text, body text,
                   twice int GENERATED ALWAYS AS (ref * 2) STORED, s int, o text, UNIQUE (name));
                 CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
                 CREATE TRIGGER a BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION nothing();
                 INSERT INTO t (ref, name, body) VALUES (1, 'a', 'A'), (2, 'b', 'B')";
    let page = with_moves(
        rows(&[
            put("u", 1, Some(1), "tmp", Absent),
            put("u", 2, Some(2), "a", Text("B")),
            delete(1),
            put("u", 7, Some(1), "b", Absent),
            put("u", 7, Some(4), "b", Absent),
        ]),
        &[(2, 3)],
    );
    assert_becomes(table, &page, &["2|2|a|B", "7|4|b|A"]);
}

#[test]
fn a_moved_row_that_has_arrived_before_is_the_one_meant() {
    let page =
        with_moves(rows(&[put("u", 2, None, "b", Absent), delete(1), put("u", 9, None, "m", Absent)]), &[(1, 2)]);
    let db = database(&tree("ON UPDATE CASCADE ON DELETE SET NULL"));
    let mut sink = TestSink::open(&db, config());
    sink.apply(&page);
    sink.apply(&page);
    assert_eq!(contents(&db), ["2|NULL|b|B", "3|2|c|C", "9|NULL|m|A"]);
}
