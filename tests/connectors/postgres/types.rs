//! Every type through both formats, with the server as the oracle.

use faucet_connectors::postgres::connect::SESSION_SETTINGS;
use faucet_connectors::postgres::decode::text;
use faucet_core::model::{Column, ColumnBuilder, Kind};
use faucet_tests::types::{self, TypeCase};
use faucet_tests::{Database, fresh_database};
use serde_json::json;

use super::support::{TestSink, read, shown, try_read};

/// A database with the types of the table, and the table.
fn database() -> (Database, Vec<TypeCase>) {
    let db = fresh_database();
    types::prepare(db.client());
    let cases = types::all(db.client());
    (db, cases)
}

/// Creates `source` with the literals of a case, and a null where the type allows it.
fn fill(db: &Database, case: &TypeCase) {
    let TypeCase { name, literals, .. } = case;
    db.client()
        .execute(&format!("DROP TABLE IF EXISTS source, copy; CREATE TABLE source (id int PRIMARY KEY, v {name})"));
    for (id, literal) in literals.iter().enumerate() {
        db.client().execute(&format!("INSERT INTO source VALUES ({id}, {literal})"));
    }
    if case.nullable {
        db.client().execute("INSERT INTO source VALUES (1000, NULL)");
    }
}

/// The column as logical replication would bring it: the type's output text, decoded by the text decoder.
fn through_text(db: &Database, kind: Kind) -> Column {
    let client = db.connect();
    client.execute(SESSION_SETTINGS);
    let mut column = ColumnBuilder::new(kind);
    for row in client.rows("SELECT v FROM source ORDER BY id") {
        match &row[0] {
            Some(value) => text::push(&mut column, value.as_bytes(), &mut Vec::new()).unwrap(),
            None => column.push_null(),
        }
    }
    column.finish()
}

#[test]
fn snapshot_bytes_equal_stream_bytes() {
    let (db, cases) = database();
    for case in &cases {
        let name = &case.name;
        fill(&db, case);
        let pages = read(&db, "SELECT id, v FROM source ORDER BY id");
        let [page] = pages.as_slice() else { panic!("{name} gives one page") };
        let kind = page.schema().fields[1].kind;
        assert_eq!(kind.to_string(), case.kind, "{name}");
        let text = through_text(&db, kind);
        assert_eq!(text.len(), page.rows());
        for row in 0..page.rows() {
            let (snapshot, stream) = (page.row(row).get(1), text.value(row));
            assert!(snapshot.same(&stream), "{name}, row {row}: {snapshot:?} and {stream:?}");
        }
    }
}

#[test]
fn native_names_are_those_of_the_server() {
    let (db, cases) = database();
    for case in &cases {
        fill(&db, case);
        let page = read(&db, "SELECT v FROM source").remove(0);
        let native = page.schema().fields[0].native_of("postgres").unwrap().to_owned();
        // The description of a result names the type under a domain.
        let column = "SELECT format_type(CASE typtype WHEN 'd' THEN typbasetype ELSE t.oid END, \
                      CASE typtype WHEN 'd' THEN typtypmod ELSE atttypmod END) FROM pg_attribute JOIN pg_type t ON \
                      t.oid = atttypid WHERE attrelid = 'source'::regclass AND attname = 'v'";
        if case.name != "a.deep" {
            assert_eq!(native, db.client().one(column));
        }
    }
}

/// Every value, with its type's own output; unlike a cast this hides no blanks.
const SHOWN: &str = "SELECT id, format('%L', v) FROM";

#[test]
fn values_arrive_as_they_left_in_both_formats() {
    let (db, cases) = database();
    for case in &cases {
        fill(&db, case);
        let pages = read(&db, "SELECT id, v FROM source ORDER BY id");
        let expected = shown(&db, &format!("{SHOWN} source ORDER BY id"));
        // A column that has no binary form makes the whole copy text.
        for more in ["", ", p point"] {
            db.client()
                .execute(&format!("DROP TABLE IF EXISTS copy; CREATE TABLE copy (id int, v {} {more})", case.name));
            let query =
                format!("SELECT id, v {} FROM source ORDER BY id", more.replace("p point", "'(1,2)'::point AS p"));
            let mut sink = TestSink::open(&db, json!({ "table_name": "copy" }));
            let pages = if more.is_empty() { pages.clone() } else { read(&db, &query) };
            pages.iter().for_each(|page| sink.apply(page));
            sink.close();
            assert_eq!(shown(&db, &format!("{SHOWN} copy ORDER BY id")), expected, "{} {more}", case.name);
        }
    }
}

#[test]
fn a_created_table_has_the_sources_types() {
    let (db, cases) = database();
    for case in &cases {
        fill(&db, case);
        let mut sink = TestSink::open(
            &db,
            json!({ "table_name": "copy", "create_table": true, "write_mode": "upsert", "key": ["id"] }),
        );
        read(&db, "SELECT id, v FROM source").iter().for_each(|page| sink.apply(page));
        sink.close();
        let types = |table| {
            let query = "SELECT format_type(CASE typtype WHEN 'd' THEN typbasetype ELSE t.oid END, \
                         CASE typtype WHEN 'd' THEN typtypmod ELSE atttypmod END) FROM pg_attribute JOIN pg_type t ON \
                         t.oid = atttypid WHERE attnum > 0 AND attrelid =";
            shown(&db, &format!("{query} '{table}'::regclass ORDER BY attnum"))
        };
        if case.name != "a.deep" {
            assert_eq!(types("copy"), types("source"));
        }
        assert_eq!(
            shown(&db, &format!("{SHOWN} copy ORDER BY id")),
            shown(&db, &format!("{SHOWN} source ORDER BY id")),
            "{}",
            case.name
        );
    }
}

#[test]
fn a_timestamp_after_the_range_is_an_error_that_names_the_column() {
    let db = fresh_database();
    for kind in ["timestamp", "timestamptz"] {
        let query = format!("SELECT 1 AS id, '294276-12-31 23:59:59.999999'::{kind} AS until");
        let error = try_read(&db, &query, json!({})).unwrap_err();
        assert_eq!(error.code().id, "postgres.value_out_of_range");
        assert!(error.to_string().contains("\"until\"") && !error.to_string().contains("294276"), "{error}");
    }
}
