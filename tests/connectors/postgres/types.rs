//! Every type through both formats, with the server as the oracle.

use faucet_connectors::postgres::connect::SESSION_SETTINGS;
use faucet_connectors::postgres::decode::text;
use faucet_core::model::{Column, ColumnBuilder, Kind};
use faucet_tests::{Database, fresh_database};
use serde_json::json;

use super::support::{TestSink, read, shown, try_read};

/// A type, the kind it is read as, and literals of it.
struct Case(&'static str, Kind, &'static [&'static str]);

const CASES: &[Case] = &[
    Case("boolean", Kind::Bool, &["true", "false"]),
    Case("smallint", Kind::I64, &["-32768", "32767", "0"]),
    Case("integer", Kind::I64, &["-2147483648", "2147483647", "0"]),
    Case("bigint", Kind::I64, &["-9223372036854775808", "9223372036854775807", "9007199254740993"]),
    Case("oid", Kind::I64, &["0", "4294967295", "2147483648"]),
    Case(
        "real",
        Kind::F32,
        &["'NaN'", "'Infinity'", "'-Infinity'", "'-0'", "1e-45", "3.4028235e38", "0.1", "16777217"],
    ),
    Case(
        "double precision",
        Kind::F64,
        &[
            "'NaN'",
            "'inf'::float8 - 'inf'::float8",
            "'Infinity'",
            "'-Infinity'",
            "'-0'",
            "5e-324",
            "1.7976931348623157e308",
            "0.1",
        ],
    ),
    Case(
        "numeric",
        Kind::Decimal,
        &[
            "'NaN'",
            "'Infinity'",
            "'-Infinity'",
            "0",
            "0.00",
            "-0.10",
            "1.50",
            "10000",
            "0.0001",
            "123456789012345678901234567890",
            "1e-16383",
            "('1' || repeat('0', 131071))::numeric",
            "('-' || repeat('9', 131072) || '.' || repeat('8', 16383))::numeric",
            "1e131071",
            "9999.9999",
            "10000.00001",
        ],
    ),
    Case("numeric(12,2)", Kind::Decimal, &["1.5", "-0.005", "9999999999.99"]),
    Case("numeric(3,-2)", Kind::Decimal, &["12345", "-99949"]),
    Case(
        "text",
        Kind::Text,
        &["''", "'NULL'", r"'\N'", r"E'a\tb\nc\rd\\e'", "'ünïcødé 🚰'", "repeat('x', 300000)", r"'\.'", "E'\\x01'"],
    ),
    Case("varchar(10)", Kind::Text, &["''", "'a b '", "'ääääääääää'"]),
    Case("char(5)", Kind::Text, &["''", "'ab'", "'ab   '"]),
    Case("name", Kind::Text, &["''", "'pg_class'"]),
    Case("\"char\"", Kind::Text, &["''", "'a'", "'\\'"]),
    Case("bytea", Kind::Bytes, &["''", r"'\x00'", r"'\x00ff5c0a0d09'", "decode(repeat('ab', 200000), 'hex')"]),
    Case(
        "date",
        Kind::Date,
        &[
            "'1970-01-01'",
            "'0001-12-31 BC'",
            "'4714-11-24 BC'",
            "'5874897-12-31'",
            "'infinity'",
            "'-infinity'",
            "'2024-02-29'",
        ],
    ),
    Case("time", Kind::Time, &["'00:00'", "'24:00:00'", "'23:59:59.999999'", "'12:34:56.7'"]),
    Case("time(2)", Kind::Time, &["'12:34:56.789'"]),
    Case(
        "timestamp",
        Kind::Timestamp,
        &[
            "'epoch'",
            "'4714-11-24 00:00:00 BC'",
            "'0001-12-31 23:59:59.999999 BC'",
            "'294246-12-31 23:59:59.999999'",
            "'infinity'",
            "'-infinity'",
            "'15000-01-01'",
        ],
    ),
    Case(
        "timestamptz",
        Kind::TimestampTz,
        &[
            "'epoch'",
            "'4714-11-24 00:00:00+00 BC'",
            "'294246-12-31 23:59:59.999999+00'",
            "'infinity'",
            "'-infinity'",
            "'2024-03-31 02:30:00+02'",
            "'1900-01-01 00:00:00+00'",
        ],
    ),
    Case(
        "interval",
        Kind::Interval,
        &[
            "'0'",
            "'1 mon -2 days 03:04:05.000006'",
            "'-1 year -1 mon'",
            "'-0.000001 s'",
            "'178000000 years'",
            "'-178000000 years'",
            "make_interval(days => 2147483647)",
            "make_interval(days => -2147483648)",
            "'2562047788:00:54.775807'",
            "'-2562047788:00:54.775807'",
            "'1 year -1 day 1 sec'",
            "'100 hours'",
        ],
    ),
    Case("uuid", Kind::Uuid, &["'00000000-0000-0000-0000-000000000000'", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'"]),
    Case("json", Kind::Json, &["'null'", "'{\"a\" : [1,  2]}'", "'\"str\"'", "'{}'", "'1e400'"]),
    Case("jsonb", Kind::Json, &["'null'", "'{\"b\": 1.50, \"a\": [1, 2]}'", "'\"str\"'", "'{}'", "'\"\\u00e9\\n\"'"]),
    // The rest travels as the text of the type itself.
    Case("timetz", Kind::Native, &["'12:00:00+05:30'", "'24:00:00-15:59'"]),
    Case("money", Kind::Native, &["12.34", "-92233720368547758.08"]),
    Case("bit(1)", Kind::Native, &["B'1'"]),
    Case("varbit(8)", Kind::Native, &["B''", "B'10110'"]),
    Case("inet", Kind::Native, &["'1.2.3.4'", "'1.2.3.4/32'", "'1.2.3.0/24'", "'::1'"]),
    Case("cidr", Kind::Native, &["'10.0.0.0/8'", "'1.2.3.4/32'"]),
    Case("macaddr", Kind::Native, &["'08:00:2b:01:02:03'"]),
    Case("xml", Kind::Native, &["'<a>b</a>'", "'text only'"]),
    Case("point", Kind::Native, &["'(0.1,-0)'", "'(NaN,Infinity)'"]),
    Case("path", Kind::Native, &["'[(0,0),(1,1)]'"]),
    Case("tsvector", Kind::Native, &["'a:1A fat:2B,4C cat:5D'", "''"]),
    Case("int4range", Kind::Native, &["'empty'", "'(,)'", "'[1,5)'"]),
    Case("tstzrange", Kind::Native, &["'[,2020-01-01)'", "'[2020-01-01 00:00:00+02,infinity]'"]),
    Case("int8multirange", Kind::Native, &["'{[1,2),[5,)}'"]),
    Case("bigint[]", Kind::Native, &["'{1,NULL,3}'", "'[0:1]={7,8}'", "'{}'", "'{{1,2},{3,4}}'"]),
    Case("text[]", Kind::Native, &["'{\"NULL\",NULL,\"\",\"a,b\",\"c\\\\d\"}'", "'{{NULL},{NULL}}'"]),
    Case("inet[]", Kind::Native, &["'{1.2.3.4,::1}'"]),
    Case("interval[]", Kind::Native, &["'{1 mon -2 days}'"]),
    Case("timestamptz[]", Kind::Native, &["'{2024-01-01 00:00:00+02}'"]),
    Case("pg_lsn", Kind::Native, &["'16/B374D848'"]),
    Case("a.mood", Kind::Native, &["'sad'", "'o''k, \"fine\"'"]),
    Case("b.mood", Kind::Native, &["'angry'"]),
    Case("a.pair", Kind::Native, &["ROW(1, NULL)::a.pair", "ROW(NULL, NULL)::a.pair", "ROW(2, 'x,y')::a.pair"]),
    Case("a.mood[]", Kind::Native, &["'{sad,NULL}'"]),
    Case("a.amount", Kind::Decimal, &["1.5"]),
    Case("a.deep", Kind::Decimal, &["2.25"]),
    Case("a.address", Kind::Native, &["'1.2.3.4'"]),
    Case("a.label", Kind::Text, &["'x'"]),
];

fn database() -> Database {
    let db = fresh_database();
    db.client().execute(
        "CREATE SCHEMA a; CREATE SCHEMA b;
         CREATE TYPE a.mood AS ENUM ('sad', 'o''k, \"fine\"'); CREATE TYPE b.mood AS ENUM ('angry');
         CREATE TYPE a.pair AS (x int, y text);
         CREATE DOMAIN a.amount AS numeric(10,2) CHECK (VALUE > 0); CREATE DOMAIN a.deep AS a.amount;
         CREATE DOMAIN a.address AS inet; CREATE DOMAIN a.label AS varchar(3) NOT NULL DEFAULT 'd'",
    );
    db
}

/// Creates `source` with the literals of a case, and a null where the type allows it.
fn fill(db: &Database, case: &Case) {
    let Case(name, _, literals) = case;
    db.client()
        .execute(&format!("DROP TABLE IF EXISTS source, copy; CREATE TABLE source (id int PRIMARY KEY, v {name})"));
    for (id, literal) in literals.iter().enumerate() {
        db.client().execute(&format!("INSERT INTO source VALUES ({id}, {literal})"));
    }
    if *name != "a.label" {
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
    let db = database();
    for case in CASES {
        let Case(name, kind, _) = case;
        fill(&db, case);
        let pages = read(&db, "SELECT id, v FROM source ORDER BY id");
        let [page] = pages.as_slice() else { panic!("{name} gives one page") };
        assert_eq!(page.schema().fields[1].kind, *kind, "{name}");
        let text = through_text(&db, *kind);
        assert_eq!(text.len(), page.rows());
        for row in 0..page.rows() {
            let (snapshot, stream) = (page.row(row).get(1), text.value(row));
            assert!(snapshot.same(&stream), "{name}, row {row}: {snapshot:?} and {stream:?}");
        }
    }
}

#[test]
fn native_names_are_those_of_the_server() {
    let db = database();
    for case in CASES {
        fill(&db, case);
        let page = read(&db, "SELECT v FROM source").remove(0);
        let native = page.schema().fields[0].native_of("postgres").unwrap().to_owned();
        // The description of a result names the type under a domain.
        let column = "SELECT format_type(CASE typtype WHEN 'd' THEN typbasetype ELSE t.oid END, \
                      CASE typtype WHEN 'd' THEN typtypmod ELSE atttypmod END) FROM pg_attribute JOIN pg_type t ON \
                      t.oid = atttypid WHERE attrelid = 'source'::regclass AND attname = 'v'";
        if case.0 != "a.deep" {
            assert_eq!(native, db.client().one(column));
        }
    }
}

/// Every value, with its type's own output; unlike a cast this hides no blanks.
const SHOWN: &str = "SELECT id, format('%L', v) FROM";

#[test]
fn values_arrive_as_they_left_in_both_formats() {
    let db = database();
    for case in CASES {
        fill(&db, case);
        let pages = read(&db, "SELECT id, v FROM source ORDER BY id");
        let expected = shown(&db, &format!("{SHOWN} source ORDER BY id"));
        // A column that has no binary form makes the whole copy text.
        for more in ["", ", p point"] {
            db.client().execute(&format!("DROP TABLE IF EXISTS copy; CREATE TABLE copy (id int, v {} {more})", case.0));
            let query =
                format!("SELECT id, v {} FROM source ORDER BY id", more.replace("p point", "'(1,2)'::point AS p"));
            let mut sink = TestSink::open(&db, json!({ "table_name": "copy" }));
            let pages = if more.is_empty() { pages.clone() } else { read(&db, &query) };
            pages.iter().for_each(|page| sink.apply(page));
            sink.close();
            assert_eq!(shown(&db, &format!("{SHOWN} copy ORDER BY id")), expected, "{} {more}", case.0);
        }
    }
}

#[test]
fn a_created_table_has_the_sources_types() {
    let db = database();
    for case in CASES {
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
        if case.0 != "a.deep" {
            assert_eq!(types("copy"), types("source"));
        }
        assert_eq!(
            shown(&db, &format!("{SHOWN} copy ORDER BY id")),
            shown(&db, &format!("{SHOWN} source ORDER BY id")),
            "{}",
            case.0
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
