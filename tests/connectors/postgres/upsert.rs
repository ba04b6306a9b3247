//! `write_mode: upsert`: keys, deletes, truncates, partial rows, moved keys.

use faucet_core::model::{
    Kind, Page, ValueRef,
    ValueRef::{Absent, Decimal, I64, Json, Null, Text},
};
use faucet_tests::{Database, fresh_database};
use serde_json::{Value, json};

use super::support::{TestSink, page, shown, with_moves};

const COLUMNS: &[(&str, Kind)] = &[("id", Kind::I64), ("big", Kind::Text), ("n", Kind::I64), ("__op", Kind::Text)];

fn config(extra: Value) -> Value {
    let mut config = json!({
        "table_name": "t", "write_mode": "upsert", "key": ["id"], "delete_marker": { "field": "__op", "values": ["d"] }
    });
    config.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    config
}

/// A table with rows 1, 2 and 3 and a column that pages don't have.
fn database() -> Database {
    let db = fresh_database();
    db.client().execute(
        "CREATE TABLE t (id int PRIMARY KEY, big text, n int, extra text DEFAULT 'x');
         INSERT INTO t SELECT i, 'big' || i, i * 10 FROM generate_series(1, 3) AS i",
    );
    db
}

fn put<'a>(id: i64, big: ValueRef<'a>, n: i64) -> [ValueRef<'a>; 4] {
    [I64(id), big, I64(n), Text("u")]
}

fn delete(id: i64) -> [ValueRef<'static>; 4] {
    [I64(id), Absent, Absent, Text("d")]
}

const TRUNCATE: [ValueRef<'static>; 4] = [Absent, Absent, Absent, Text("t")];

fn rows(rows: &[[ValueRef<'_>; 4]]) -> Page {
    page(COLUMNS, &rows.iter().map(|row| row.as_slice()).collect::<Vec<_>>())
}

#[track_caller]
fn assert_becomes(page: &Page, expected: &[&str]) {
    for (batch, more) in [(json!(null), ""), (json!(1), ""), (json!(null), ", ADD p point")] {
        let db = database();
        let mut page = page.clone();
        if !more.is_empty() {
            // The same in text format.
            db.client().execute("ALTER TABLE t ALTER n TYPE bit(8) USING n::bit(8)");
            let (schema, mut columns, _) = page.clone().into_parts();
            let mut fields = schema.fields.clone();
            fields[2] = faucet_core::model::Field::new("n", Kind::Text);
            columns[2] = as_bits(&columns[2]);
            let schema = faucet_core::model::Schema::new(schema.table.clone(), fields);
            page = Page::new(schema.into(), page.rows(), columns).with_moves(page.moves().to_vec());
        }
        let mut sink = TestSink::open(&db, config(json!({ "batch_size": batch })));
        sink.apply(&page);
        assert_eq!(shown(&db, "SELECT id, big, n::int FROM t ORDER BY id"), expected);
        sink.close();
    }
}

fn as_bits(column: &faucet_core::model::Column) -> faucet_core::model::Column {
    let mut out = faucet_core::model::ColumnBuilder::new(Kind::Text);
    for row in 0..column.len() {
        match column.value(row) {
            I64(n) => out.push_str(&format!("{n:08b}")),
            other => out.push(other),
        }
    }
    out.finish()
}

#[test]
fn rows_are_put_and_deleted_in_order() {
    assert_becomes(
        &rows(&[put(1, Text("new"), 11), put(4, Null, 40), delete(2), put(4, Text("newer"), 41), delete(9)]),
        &["1|new|11", "3|big3|30", "4|newer|41"],
    );
    assert_becomes(
        &rows(&[delete(1), put(1, Text("again"), 1), delete(2), put(2, Null, 2), delete(2)]),
        &["1|again|1", "3|big3|30"],
    );
}

#[test]
fn an_absent_slot_is_left_alone() {
    assert_becomes(
        &rows(&[
            put(1, Absent, 11),
            put(2, Text("t"), 21),
            put(2, Absent, 22),
            put(8, Absent, 80),
            delete(8),
            put(9, Absent, 90),
        ]),
        &["1|big1|11", "2|t|22", "3|big3|30"],
    );
}

#[test]
fn a_put_that_is_no_update_makes_a_row_with_what_it_has() {
    let new = |id: i64, big, n: i64| [I64(id), big, I64(n), Text("c")];
    assert_becomes(
        &rows(&[
            new(9, Absent, 90),
            new(1, Absent, 11),
            new(8, Text("whole"), 80),
            [I64(7), Absent, Absent, Text("c")],
            delete(2),
            new(2, Absent, 22),
            new(6, Absent, 60),
            put(6, Absent, 61),
        ]),
        &["1|big1|11", "2|NULL|22", "3|big3|30", "6|NULL|61", "7|NULL|NULL", "8|whole|80", "9|NULL|90"],
    );
}

#[test]
fn a_truncate_cuts_the_page() {
    assert_becomes(&rows(&[put(7, Null, 7), TRUNCATE, put(4, Text("a"), 40), put(1, Absent, 5)]), &["4|a|40"]);
    assert_becomes(&rows(&[put(7, Null, 7), TRUNCATE]), &[]);
    let db = database();
    let mut ignoring = TestSink::open(&db, config(json!({ "on_truncate": "ignore" })));
    ignoring.apply(&rows(&[TRUNCATE, delete(1)]));
    assert_eq!(db.client().one("SELECT count(*) FROM t"), "2");
    let failing = TestSink::open(&db, config(json!({ "on_truncate": "fail" })));
    assert_eq!(failing.refused(&rows(&[TRUNCATE])).code().id, "sink.truncated");
    // A row that happens to say `t` is no truncate.
    ignoring.apply(&rows(&[[I64(1), Text("row"), I64(1), Text("t")]]));
    assert_eq!(db.client().one("SELECT big FROM t WHERE id = 1"), "row");
}

#[test]
fn a_moved_row_keeps_what_was_not_sent() {
    // 1 becomes 4.
    assert_becomes(
        &with_moves(rows(&[delete(1), put(4, Absent, 11)]), &[(0, 1)]),
        &["2|big2|20", "3|big3|30", "4|big1|11"],
    );
    // 1 becomes 4 becomes 5, and 1 is made anew.
    let chain = rows(&[delete(1), put(4, Absent, 11), put(1, Text("one"), 1), delete(4), put(5, Absent, 12)]);
    assert_becomes(&with_moves(chain, &[(0, 1), (3, 4)]), &["1|one|1", "2|big2|20", "3|big3|30", "5|big1|12"]);
    // The slot that was not sent is that of an earlier row of the page.
    let inside = rows(&[put(1, Text("sent"), 11), delete(1), put(4, Absent, 12)]);
    assert_becomes(&with_moves(inside, &[(1, 2)]), &["2|big2|20", "3|big3|30", "4|sent|12"]);
    // 2 was deleted before 1 took its place.
    let taken = rows(&[delete(2), delete(1), put(2, Absent, 11)]);
    assert_becomes(&with_moves(taken, &[(1, 2)]), &["2|big1|11", "3|big3|30"]);
}

#[test]
fn two_keys_can_be_swapped() {
    // Over a free key.
    let by_hand =
        rows(&[delete(1), put(99, Absent, 10), delete(2), put(1, Absent, 20), delete(99), put(2, Absent, 10)]);
    let expected = ["1|big2|20", "2|big1|10", "3|big3|30"];
    assert_becomes(&with_moves(by_hand, &[(0, 1), (2, 3), (4, 5)]), &expected);
    // Under a deferred constraint, where old images are whole.
    let old = |id, big, n| [I64(id), Text(big), I64(n), Text("d")];
    let deferred = rows(&[old(1, "big1", 10), put(2, Text("big1"), 10), old(2, "big2", 20), put(1, Text("big2"), 20)]);
    assert_becomes(&with_moves(deferred, &[(0, 1), (2, 3)]), &expected);
}

#[test]
fn a_move_that_was_applied_before_changes_nothing() {
    let db = database();
    let mut sink = TestSink::open(&db, config(json!({})));
    let moved = with_moves(rows(&[delete(1), put(4, Absent, 11)]), &[(0, 1)]);
    let expected = ["2|big2|20", "3|big3|30", "4|big1|11"];
    for _ in 0..2 {
        sink.apply(&moved);
        assert_eq!(shown(&db, "SELECT id, big, n FROM t ORDER BY id"), expected);
    }
    // Meanwhile there is another row 1: the row under the new key is still the one that is meant.
    sink.apply(&rows(&[put(1, Text("other"), 1)]));
    sink.write(&moved).unwrap();
    sink.write(&rows(&[put(1, Text("other"), 1)])).unwrap();
    sink.commit().unwrap();
    assert_eq!(
        shown(&db, "SELECT id, big, n FROM t ORDER BY id"),
        ["1|other|1", "2|big2|20", "3|big3|30", "4|big1|11"]
    );
}

#[test]
fn a_unique_value_moves_with_its_row() {
    let db = database();
    db.client().execute("CREATE UNIQUE INDEX ON t (big)");
    let mut sink = TestSink::open(&db, config(json!({})));
    sink.apply(&with_moves(
        rows(&[delete(1), put(4, Absent, 11), delete(2), put(5, Text("big2"), 1)]),
        &[(0, 1), (2, 3)],
    ));
    assert_eq!(shown(&db, "SELECT id, big, n FROM t ORDER BY id"), ["3|big3|30", "4|big1|11", "5|big2|1"]);
}

#[test]
fn a_value_that_another_row_gave_up_before_is_free() {
    let db = database();
    db.client().execute("CREATE UNIQUE INDEX ON t (big)");
    let mut sink = TestSink::open(&db, config(json!({})));
    // In the order of their keys they would collide.
    sink.apply(&rows(&[put(3, Text("big4"), 31), put(1, Text("big3"), 11)]));
    assert_eq!(shown(&db, "SELECT id, big, n FROM t ORDER BY id"), ["1|big3|11", "2|big2|20", "3|big4|31"]);
}

#[test]
fn a_parent_comes_before_its_children_in_whatever_pieces_rows_are_written() {
    let db = database();
    db.client().execute("ALTER TABLE t ADD CONSTRAINT parent FOREIGN KEY (n) REFERENCES t NOT VALID");
    let mut sink = TestSink::open(&db, config(json!({ "batch_size": 1 })));
    sink.apply(&rows(&[put(9, Text("parent"), 9), put(4, Text("child"), 9)]));
    assert_eq!(shown(&db, "SELECT id, big, n FROM t WHERE id > 3 ORDER BY id"), ["4|child|9", "9|parent|9"]);
}

#[test]
fn many_pages_make_one_transaction() {
    let db = database();
    let mut sink = TestSink::open(&db, config(json!({})));
    sink.write(&rows(&[put(4, Text("a"), 1), delete(1)])).unwrap();
    sink.write(&rows(&[put(5, Text("b"), 2)])).unwrap();
    sink.write(&rows(&[put(4, Absent, 3), delete(5)])).unwrap();
    // Another schema on the way.
    sink.write(&page(&[("id", Kind::I64), ("extra", Kind::Text)], &[&[I64(4), Text("e")]])).unwrap();
    sink.write(&rows(&[put(6, Null, 6)])).unwrap();
    assert_eq!(db.client().one("SELECT count(*) FROM t"), "3");
    sink.commit_token("scope", "7").unwrap();
    assert_eq!(shown(&db, "SELECT * FROM t ORDER BY id"), ["2|big2|20|x", "3|big3|30|x", "4|a|3|e", "6|NULL|6|x"]);
    sink.apply(&rows(&[delete(6)]));
    assert_eq!(db.client().one("SELECT count(*) FROM t"), "3");
}

#[test]
fn a_row_without_its_key_is_refused() {
    let db = database();
    let open = || TestSink::open(&db, config(json!({})));
    for bad in [[Null, Null, Null, Text("u")], [Absent, Null, I64(1), Text("u")], [Null, Absent, Absent, Text("d")]] {
        let error = open().refused(&rows(&[put(4, Null, 4), bad]));
        assert_eq!(error.code().id, "sink.key_null");
        assert!(error.to_string().contains("\"id\""));
    }
    let error = open().refused(&page(&[("n", Kind::I64)], &[&[I64(1)]]));
    assert_eq!(error.code().id, "sink.key_null");
    assert_eq!(db.client().one("SELECT count(*) FROM t"), "3");
}

#[test]
fn composite_keys_in_any_order_and_number() {
    let db = fresh_database();
    db.client().execute("CREATE TABLE t (v int, b numeric, \"A\" text, PRIMARY KEY (\"A\", b))");
    let config = config(json!({ "key": ["b", "A"] }));
    let mut sink = TestSink::open(&db, config);
    let columns = [("b", Kind::Decimal), ("A", Kind::Text), ("v", Kind::I64), ("__op", Kind::Text)];
    // Numbers are one key whatever their scale.
    let texts: Vec<String> = (0..20_000).map(|i| format!("{}", i / 2)).collect();
    let all: Vec<_> = texts.iter().map(|text| [Decimal("1.0"), Text(text), I64(1), Null]).collect();
    let view = |rows: &[[ValueRef<'_>; 4]]| page(&columns, &rows.iter().map(|r| r.as_slice()).collect::<Vec<_>>());
    sink.apply(&view(&all));
    assert_eq!(db.client().one("SELECT count(*) FROM t"), "10000");
    let gone: Vec<_> = texts.iter().skip(2).map(|text| [Decimal("1.00"), Text(text), Absent, Text("d")]).collect();
    sink.apply(&view(&gone));
    assert_eq!(shown(&db, "TABLE t"), ["1|1.0|0"]);
    sink.apply(&view(&[[Decimal("1.0"), Text("0"), I64(2), Null], [Decimal("1.000"), Text("0"), I64(3), Null]]));
    assert_eq!(shown(&db, "SELECT v FROM t"), ["3"]);
}

#[test]
fn a_table_of_keys_alone() {
    let db = fresh_database();
    db.client().execute("CREATE TABLE t (id int PRIMARY KEY)");
    let mut sink = TestSink::open(&db, config(json!({})));
    let columns = [("id", Kind::I64), ("__op", Kind::Text)];
    sink.apply(&page(&columns, &[&[I64(1), Text("c")], &[I64(2), Text("c")]]));
    sink.apply(&page(&columns, &[&[I64(1), Text("u")], &[I64(2), Text("d")]]));
    assert_eq!(shown(&db, "TABLE t"), ["1"]);
}

#[test]
fn markers_of_other_types() {
    let db = fresh_database();
    db.client().execute("CREATE TABLE t (id int PRIMARY KEY, n int)");
    for (value, kind, cell) in [(json!(true), Kind::Bool, ValueRef::Bool(true)), (json!(1), Kind::I64, I64(1))] {
        let marker = json!({ "field": "gone", "values": [value] });
        let mut sink = TestSink::open(&db, config(json!({ "delete_marker": marker })));
        let columns = [("id", Kind::I64), ("n", Kind::I64), ("gone", kind)];
        sink.apply(&page(&columns, &[&[I64(1), I64(1), Null], &[I64(2), I64(2), Null]]));
        sink.apply(&page(&columns, &[&[I64(1), Null, cell]]));
        assert_eq!(shown(&db, "TABLE t"), ["2|2"]);
    }
}

#[test]
fn domains_with_rules_of_their_own() {
    let db = fresh_database();
    db.client().execute(
        "CREATE DOMAIN word AS varchar(4) NOT NULL CHECK (VALUE <> 'bad'); CREATE TYPE mood AS ENUM ('ok', 'sad');
         CREATE TABLE t (id int PRIMARY KEY, w word DEFAULT 'def', m mood, n int); INSERT INTO t VALUES (1, 'good', 'ok', 1)",
    );
    let columns = [("id", Kind::I64), ("w", Kind::Text), ("m", Kind::Native), ("n", Kind::I64), ("__op", Kind::Text)];
    let mut sink = TestSink::open(&db, config(json!({})));
    let sad = ValueRef::Native("sad");
    sink.apply(&page(&columns, &[&[I64(1), Absent, sad, I64(2), Null], &[I64(2), Text("new"), Null, Null, Null]]));
    assert_eq!(shown(&db, "SELECT * FROM t ORDER BY id"), ["1|good|sad|2", "2|new|NULL|NULL"]);
    let error = sink.refused(&page(&columns, &[&[I64(3), Text("bad"), Null, Null, Null]]));
    assert_eq!(error.code().id, "postgres.constraint_violated");
}

#[test]
fn rows_as_json_objects_keep_what_was_not_sent() {
    let db = fresh_database();
    db.client().execute("CREATE TABLE t (id int PRIMARY KEY, data jsonb)");
    let mut sink = TestSink::open(&db, config(json!({ "column_mapping": "jsonb" })));
    sink.apply(&rows(&[put(1, Text("one"), 1), put(2, Text("two"), 2)]));
    let moved = with_moves(rows(&[put(1, Absent, 11), delete(2), put(3, Absent, 22)]), &[(1, 2)]);
    sink.apply(&moved);
    let expected = [r#"1|{"n": 11, "id": 1, "big": "one"}"#, r#"3|{"n": 22, "id": 3, "big": "two"}"#];
    assert_eq!(shown(&db, "SELECT * FROM t ORDER BY id"), expected);
    // A row that somebody else left without an object.
    db.client().execute("UPDATE t SET data = NULL");
    sink.apply(&rows(&[put(1, Absent, 12), [I64(3), Absent, I64(23), Text("c")]]));
    let expected = [r#"1|{"n": 12, "id": 1}"#, r#"3|{"n": 23, "id": 3}"#];
    assert_eq!(shown(&db, "SELECT * FROM t ORDER BY id"), expected);
}

#[test]
fn partitioned_tables_and_json_columns() {
    let db = fresh_database();
    db.client().execute(
        "CREATE TABLE t (id int, j json, k jsonb, PRIMARY KEY (id)) PARTITION BY RANGE (id);
         CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10); CREATE TABLE t2 PARTITION OF t DEFAULT",
    );
    let mut sink = TestSink::open(&db, config(json!({})));
    let columns = [("id", Kind::I64), ("j", Kind::Json), ("k", Kind::Json)];
    sink.apply(&page(&columns, &[&[I64(1), Json("null"), Json("null")], &[I64(11), Null, Null]]));
    sink.apply(&page(&columns, &[&[I64(1), Absent, Json("[ 1]")], &[I64(11), Json("{ }"), Absent]]));
    assert_eq!(shown(&db, "SELECT * FROM t ORDER BY id"), ["1|null|[1]", "11|{ }|NULL"]);
}
