//! `write_mode: append`, tokens, mapping by name and as JSON.

use faucet_core::model::{
    Kind,
    ValueRef::{Absent, Bytes, Decimal, F64, I64, Json, Null, Text, Timestamp, U64},
};
use faucet_tests::fresh_database;
use serde_json::json;

use super::support::{TestSink, page, shown};

const ID_NOTE: &[(&str, Kind)] = &[("id", Kind::I64), ("note", Kind::Text)];

#[test]
fn rows_are_there_after_the_commit_and_not_before() {
    let db = fresh_database();
    db.client().execute("CREATE TABLE t (id int, note text)");
    let mut sink = TestSink::open(&db, json!({ "table_name": "t" }));
    sink.write(&page(ID_NOTE, &[&[I64(1), Text("a")], &[I64(2), Null]])).unwrap();
    sink.write(&page(ID_NOTE, &[&[I64(3), Text("")]])).unwrap();
    assert_eq!(db.client().one("SELECT count(*) FROM t"), "0");
    sink.commit().unwrap();
    assert_eq!(shown(&db, "TABLE t"), ["1|a", "2|NULL", "3|"]);
    sink.write(&page(ID_NOTE, &[&[I64(4), Null]])).unwrap();
    sink.close();
    assert_eq!(db.client().one("SELECT count(*) FROM t"), "3");
}

#[test]
fn names_are_taken_as_they_are() {
    let db = fresh_database();
    db.client().execute("CREATE SCHEMA \"My.Schema\"");
    let open = || {
        let table = json!({ "schema": "My.Schema", "table_name": "Ta\"b.le ü", "create_table": true });
        let mut upsert = json!({ "write_mode": "upsert", "key": ["a.B"] });
        upsert.as_object_mut().unwrap().extend(table.as_object().unwrap().clone());
        TestSink::open(&db, upsert)
    };
    let columns = [("a.b", Kind::I64), ("a.B", Kind::I64), ("x\"y", Kind::Text)];
    let mut sink = open();
    sink.apply(&page(&columns, &[&[I64(1), I64(2), Text("q")]]));
    sink.close();
    let mut sink = open();
    sink.apply(&page(&columns, &[&[I64(5), I64(2), Text("r")]]));
    assert_eq!(shown(&db, "TABLE \"My.Schema\".\"Ta\"\"b.le ü\""), ["5|2|r"]);
    sink.commit_token("a scope", "1").unwrap();
    assert_eq!(shown(&db, "TABLE \"My.Schema\"._faucet_commit_token"), ["a scope|1"]);
}

#[test]
fn columns_that_are_missing_on_either_side() {
    let db = fresh_database();
    db.client()
        .execute("CREATE TABLE t (id int, note text DEFAULT 'default', twice int GENERATED ALWAYS AS (id * 2) STORED)");
    let open = || TestSink::open(&db, json!({ "table_name": "t" }));
    let error = open().refused(&page(&[("id", Kind::I64), ("Note", Kind::Text)], &[&[I64(1), Null]]));
    assert_eq!(error.code().id, "postgres.column_missing");
    assert!(error.hint_text().unwrap().contains("\"note\""), "{error:?}");
    let error = open().refused(&page(&[("id", Kind::I64), ("__op", Kind::Text)], &[&[I64(1), Null]]));
    assert!(error.hint_text().unwrap().contains("delete_marker"), "{error:?}");

    // The table's default stands for what a page lacks, and for single slots that were not sent.
    let mut sink = open();
    sink.apply(&page(&[("id", Kind::I64)], &[&[I64(1)]]));
    sink.apply(&page(ID_NOTE, &[&[I64(2), Absent], &[I64(3), Null], &[I64(4), Text("x")], &[Absent, Absent]]));
    sink.apply(&page(&[("id", Kind::I64), ("twice", Kind::I64)], &[&[I64(5), I64(99)]]));
    sink.close();
    assert_eq!(
        shown(&db, "SELECT * FROM t ORDER BY id"),
        ["1|default|2", "2|default|4", "3|NULL|6", "4|x|8", "5|default|10", "NULL|NULL|NULL"]
    );
}

#[test]
fn a_value_that_does_not_fit_is_an_error_without_the_value() {
    let db = fresh_database();
    db.client()
        .execute("CREATE TABLE t (small smallint, n numeric(4,2), day date, short varchar(3), p point, u bigint)");
    let cases: &[(&str, Kind, faucet_core::model::ValueRef<'_>, &str)] = &[
        ("small", Kind::I64, I64(70_123), "postgres.value_too_large"),
        ("n", Kind::Decimal, Decimal("701.23"), "postgres.value_refused"),
        ("day", Kind::Text, Text("70123"), "postgres.value_refused"),
        ("short", Kind::Text, Text("70123"), "postgres.value_refused"),
        ("short", Kind::Text, Text("\0"), "postgres.character_refused"),
        ("p", Kind::Text, Text("70123"), "postgres.value_refused"),
        ("n", Kind::Decimal, Decimal("70123x"), "postgres.not_a_number"),
        ("u", Kind::U64, U64(u64::MAX), "postgres.value_too_large"),
        ("day", Kind::Timestamp, Timestamp(i64::MIN + 1), "postgres.value_refused"),
    ];
    for (name, kind, value, code) in cases {
        let sink = TestSink::open(&db, json!({ "table_name": "t" }));
        let error = sink.refused(&page(&[(name, *kind)], &[&[*value]]));
        let all = format!("{error:?} {:?}", error.hint_text());
        assert_eq!(error.code().id, *code, "{all}");
        assert!(all.contains(&format!("\"{name}\"")) && !all.contains("70123"), "{all}");
    }
}

#[test]
fn integers_and_texts_meet_other_types_exactly() {
    let db = fresh_database();
    db.client()
        .execute("CREATE TABLE t (a numeric, b text, c jsonb, d double precision, e text, f bytea, g timestamptz)");
    let columns = [
        ("a", Kind::U64),
        ("b", Kind::I64),
        ("c", Kind::Text),
        ("d", Kind::F32),
        ("e", Kind::F64),
        ("f", Kind::Bytes),
        ("g", Kind::TimestampTz),
    ];
    let row: &[_] = &[
        U64(u64::MAX),
        I64(-5),
        Text("{\"x\": 1}"),
        faucet_core::model::ValueRef::F32(0.1),
        F64(1e300),
        Bytes(b"\0\\"),
        faucet_core::model::ValueRef::TimestampTz(0),
    ];
    let mut sink = TestSink::open(&db, json!({ "table_name": "t" }));
    sink.apply(&page(&columns, &[row]));
    db.client().execute("SET TimeZone = 'UTC'");
    assert_eq!(
        shown(&db, "TABLE t"),
        ["18446744073709551615|-5|{\"x\": 1}|0.10000000149011612|1e300|\\x005c|1970-01-01 00:00:00+00"]
    );
}

#[test]
fn identity_columns_take_the_rows_values() {
    let db = fresh_database();
    db.client().execute(
        "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, note text);
         CREATE TABLE u (id int PRIMARY KEY, n int GENERATED ALWAYS AS IDENTITY, note text)",
    );
    let mut append = TestSink::open(&db, json!({ "table_name": "t" }));
    append.apply(&page(ID_NOTE, &[&[I64(70), Text("a")]]));
    let mut upsert = TestSink::open(&db, json!({ "table_name": "t", "write_mode": "upsert", "key": ["id"] }));
    upsert.apply(&page(ID_NOTE, &[&[I64(70), Text("b")], &[I64(80), Text("c")]]));
    assert_eq!(shown(&db, "SELECT * FROM t ORDER BY id"), ["70|b", "80|c"]);
    let mut beside = TestSink::open(&db, json!({ "table_name": "u", "write_mode": "upsert", "key": ["id"] }));
    let columns = [("id", Kind::I64), ("n", Kind::I64), ("note", Kind::Text)];
    beside.apply(&page(&columns, &[&[I64(1), I64(500), Text("a")]]));
    beside.apply(&page(&columns, &[&[I64(1), I64(501), Text("b")]]));
    assert_eq!(shown(&db, "TABLE u"), ["1|500|b"]);
}

#[test]
fn tokens_commit_with_the_rows() {
    let db = fresh_database();
    db.client().execute("CREATE TABLE t (id int, note text)");
    let mut sink = TestSink::open(&db, json!({ "table_name": "t" }));
    assert_eq!(sink.last_token("p::x").unwrap(), None);
    sink.write(&page(ID_NOTE, &[&[I64(1), Null]])).unwrap();
    sink.commit_token("p::x", "{\"n\":1}").unwrap();
    sink.commit_token("p::y", "other").unwrap();
    assert_eq!(sink.last_token("p::x").unwrap().as_deref(), Some("{\"n\":1}"));
    sink.write(&page(ID_NOTE, &[&[I64(2), Null]])).unwrap();
    sink.commit_token("p::x", "{\"n\":2}").unwrap();
    sink.write(&page(ID_NOTE, &[&[I64(3), Null]])).unwrap();
    sink.close();
    let mut again = TestSink::open(&db, json!({ "table_name": "t" }));
    assert_eq!(again.last_token("p::x").unwrap().as_deref(), Some("{\"n\":2}"));
    assert_eq!(again.last_token("p").unwrap(), None);
    assert_eq!(db.client().one("SELECT count(*) FROM t"), "2");
}

#[test]
fn a_row_can_be_one_json_object() {
    let db = fresh_database();
    db.client().execute("CREATE TABLE t (data jsonb); CREATE TABLE wrong (data text)");
    let columns =
        [("id", Kind::I64), ("price", Kind::Decimal), ("note", Kind::Text), ("meta", Kind::Json), ("f", Kind::F64)];
    let rows: &[&[_]] = &[
        &[I64(9007199254740993), Decimal("1.50"), Text("a\"\n"), Json("{\"x\":[1]}"), F64(f64::NAN)],
        &[I64(2), Null, Absent, Json("null"), F64(-0.5)],
    ];
    let mut sink = TestSink::open(&db, json!({ "table_name": "t", "column_mapping": "jsonb" }));
    sink.apply(&page(&columns, rows));
    assert_eq!(
        shown(&db, "TABLE t"),
        [
            r#"{"f": "NaN", "id": 9007199254740993, "meta": {"x": [1]}, "note": "a\"\n", "price": 1.50}"#,
            r#"{"f": -0.5, "id": 2, "meta": null, "price": null}"#
        ]
    );
    let wrong = TestSink::open(&db, json!({ "table_name": "wrong", "column_mapping": "jsonb" }));
    assert_eq!(wrong.refused(&page(&columns, rows)).code().id, "postgres.not_jsonb");
    let none = TestSink::open(&db, json!({ "table_name": "t", "column_mapping": "jsonb", "jsonb_column": "row" }));
    assert_eq!(none.refused(&page(&columns, rows)).code().id, "postgres.column_missing");
}

#[test]
fn a_destination_that_is_not_there_is_found_at_once() {
    let db = fresh_database();
    db.client()
        .execute("CREATE TABLE t (id int); CREATE VIEW v AS TABLE t; CREATE UNIQUE INDEX ON t (id) WHERE id > 0");
    let refused = |extra| TestSink::try_open(&db, extra).err().expect("it is refused at once");
    let missing = refused(json!({ "table_name": "T" }));
    assert_eq!(missing.code().id, "postgres.table_missing");
    assert!(missing.hint_text().unwrap().contains("create_table"));
    assert_eq!(refused(json!({ "table_name": "v" })).code().id, "postgres.not_a_table");
    let key = refused(json!({ "table_name": "t", "write_mode": "upsert", "key": ["id"] }));
    assert_eq!(key.code().id, "postgres.no_unique_key");
    assert!(key.hint_text().unwrap().contains("CREATE UNIQUE INDEX ON \"public\".\"t\" (\"id\")"));
}

#[test]
fn many_chunks_make_one_page() {
    let db = fresh_database();
    db.client().execute("CREATE TABLE t (id int, note text)");
    let wide = "w".repeat(300_000);
    let rows: Vec<Vec<_>> =
        (0..50).map(|id| vec![I64(id), if id % 7 == 0 { Text(&wide) } else { Text("x") }]).collect();
    let rows: Vec<&[_]> = rows.iter().map(Vec::as_slice).collect();
    for batch in [json!(null), json!(1), json!(7)] {
        let mut sink = TestSink::open(&db, json!({ "table_name": "t", "batch_size": batch }));
        sink.apply(&page(ID_NOTE, &rows));
        assert_eq!(shown(&db, "SELECT count(*), sum(id), sum(length(note)) FROM t"), ["50|1225|2400042"]);
        db.client().execute("TRUNCATE t");
    }
}
