//! A value is written exactly or refused: every type of the source into every type of the destination, on a real server.
//!
//! Each value of each pair must be at the destination as it was, or be set aside with an error that names the column.

use faucet_connectors::postgres::connect::SESSION_SETTINGS;
use faucet_core::error::Error;
use faucet_core::model::{Field, Kind, Page, Schema};
use faucet_core::ports::{OnDrift, OnIncompatible, SchemaPolicy, SinkContext};
use faucet_tests::{Database, fresh_database};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::support::{TestSink, read, shown};

/// Types with values that others would round, cut off, pad, shift or read as something else.
const TYPES: &[(&str, &[&str])] = &[
    ("boolean", &["true"]),
    ("smallint", &["-5", "32767", "1"]),
    ("integer", &["70000", "-1", "16777217"]),
    ("bigint", &["9007199254740993", "-1", "5"]),
    ("oid", &["4294967295", "7"]),
    ("numeric", &["1.5", "1.005", "12345678901234567890", "'NaN'", "'Infinity'", "5"]),
    ("numeric(14,4)", &["1.2345", "5", "1234567890.1"]),
    ("numeric(10,2)", &["1.25", "99999999.99", "3"]),
    ("numeric(10,0)", &["1234567890", "2"]),
    ("numeric(5,-2)", &["12300"]),
    ("real", &["0.1", "16777216", "'NaN'", "1e-40", "2"]),
    ("double precision", &["0.1", "1e22", "0.30000000000000004", "'-Infinity'", "2"]),
    ("money", &["1.25"]),
    ("text", &["'ab'", "'ab   '", "'12'", "'2024-01-01 10:00'", "repeat('x', 70)", "''", "'ok'", "'{1,2}'"]),
    ("varchar(3)", &["'ab '", "'abc'"]),
    ("varchar(10)", &["'abcdefghij'", "'a  '"]),
    ("char(3)", &["'ab'", "'abc'"]),
    ("char(5)", &["'ab'", "'abcde'"]),
    ("bpchar", &["'ab '", "'ab'"]),
    ("name", &["'pg_class'"]),
    ("\"char\"", &["'a'"]),
    ("date", &["'2024-01-31'", "'infinity'", "'0044-03-15 BC'", "'5874897-12-31'"]),
    ("timestamp", &["'2024-01-31 10:11:12.345678'", "'2024-01-31'", "'-infinity'", "'0044-03-15 01:00 BC'"]),
    ("timestamp(0)", &["'2024-01-31 10:11:12'"]),
    ("timestamp(3)", &["'2024-01-31 10:11:12.345'"]),
    ("timestamptz", &["'2024-01-31 10:11:12.345678+02'", "'2024-01-31 00:00+00'"]),
    ("timestamptz(0)", &["'2024-01-31 10:11:12+02'"]),
    ("time", &["'10:11:12.345678'", "'10:11'", "'24:00'"]),
    ("time(0)", &["'10:11:12'"]),
    ("timetz", &["'10:11:12.345678+02'"]),
    ("timetz(2)", &["'10:11:12.34+02'"]),
    ("interval", &["'1 mon 2 days 03:04:05.678901'", "'1 year'", "'3 days'"]),
    ("interval(0)", &["'1 mon 2 days 03:04:05'"]),
    ("interval year to month", &["'1 year 2 mons'"]),
    ("interval day to second(3)", &["'2 days 03:04:05.678'"]),
    ("bytea", &[r"'\x00ff'", r"'\x6162'"]),
    ("uuid", &["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"]),
    ("json", &["'{\"a\" : 1, \"a\": 2}'", "'1.50'", "'{\"b\":1,\"a\":2}'", "'[1,  2]'"]),
    ("jsonb", &["'{\"a\" : 1}'", "'1.50'"]),
    ("xml", &["'<a>b</a>'", "'<?xml version=\"1.0\"?><a/>'"]),
    ("bit(3)", &["B'101'"]),
    ("bit(5)", &["B'10101'"]),
    ("varbit", &["B'1'", "B'101'", "B'1010101'"]),
    ("varbit(5)", &["B'101'", "B'10101'"]),
    ("inet", &["'1.2.3.4'", "'1.2.3.4/24'"]),
    ("cidr", &["'10.0.0.0/8'", "'1.2.3.4/32'"]),
    ("macaddr", &["'08:00:2b:01:02:03'"]),
    ("macaddr8", &["'08:00:2b:01:02:03:04:05'"]),
    ("point", &["'(0.1,2)'"]),
    ("tsvector", &["'b a'"]),
    ("int4range", &["'[1,5)'", "'empty'"]),
    ("int8range", &["'[1,9007199254740993)'"]),
    ("numrange", &["'[1.505,2]'"]),
    ("daterange", &["'[2024-01-01,2024-02-01)'"]),
    ("tsrange", &["'[2024-01-01 10:00,)'"]),
    ("tstzrange", &["'[2024-01-01 10:00+02,)'"]),
    ("int4multirange", &["'{[1,5),[7,8)}'"]),
    ("integer[]", &["'{1,NULL,70000}'"]),
    ("smallint[]", &["'{1,2}'"]),
    ("numeric(10,2)[]", &["'{1.25}'"]),
    ("numeric(14,4)[]", &["'{1.2345}'", "'{5}'"]),
    ("text[]", &["'{\"a b\",NULL,\"c,d\",\"e  \"}'", "'{1}'"]),
    ("varchar(3)[]", &["'{\"ab \"}'"]),
    ("timestamp[]", &["'{\"2024-01-31 10:11:12.345678\"}'"]),
    ("timestamp(0)[]", &["'{\"2024-01-31 10:11:12\"}'"]),
    ("box[]", &["'{(1,1),(0,0);(2,2),(1,1)}'"]),
    ("real[]", &["'{0.1}'"]),
    ("double precision[]", &["'{0.1,0.30000000000000004}'"]),
    ("a.mood", &["'ok'", "'sad'"]),
    ("b.mood", &["'ok'", "'glad'"]),
    ("a.mood[]", &["'{ok,sad}'"]),
    ("a.amount", &["1.25"]),
    ("b.amount", &["1"]),
    ("a.amount[]", &["'{1.25}'"]),
    ("b.amount[]", &["'{1}'"]),
    ("a.pair", &["'(1,abc)'", "'(1.5,ab)'", "'(3,ab)'"]),
    ("b.pair", &["'(3,ab)'"]),
    ("a.span", &["'[1.505,2]'", "'[1,2]'"]),
    ("b.span", &["'[1.50,2.00]'"]),
    ("a.citext", &["'MiXed '"]),
];

/// Of one name, and not the same.
const MADE: &str = "CREATE SCHEMA a; CREATE SCHEMA b; CREATE EXTENSION citext SCHEMA a;
    CREATE TYPE a.mood AS ENUM ('ok', 'sad'); CREATE TYPE b.mood AS ENUM ('glad', 'ok');
    CREATE DOMAIN a.amount AS numeric(10,2); CREATE DOMAIN b.amount AS numeric(10,0);
    CREATE TYPE a.pair AS (x numeric(10,2), y text); CREATE TYPE b.pair AS (x numeric(10,0), y varchar(2));
    CREATE DOMAIN b.coarse AS numeric(10,2);
    CREATE TYPE a.span AS RANGE (subtype = numeric); CREATE TYPE b.span AS RANGE (subtype = b.coarse)";

fn database() -> Database {
    let db = fresh_database();
    db.client().execute(MADE);
    db.client().execute(SESSION_SETTINGS);
    db
}

/// One page for each type; rows are numbered from 1.
fn sources(db: &Database, types: &[(String, Vec<String>)]) -> Vec<Page> {
    let page = |(at, (name, literals)): (usize, &(String, Vec<String>))| {
        db.client().execute(&format!("CREATE TABLE s{at} (id int PRIMARY KEY, v {name})"));
        for (id, literal) in (1..).zip(literals) {
            db.client().execute(&format!("INSERT INTO s{at} VALUES ({id}, {literal})"));
        }
        read(db, &format!("SELECT id, v FROM s{at} ORDER BY id")).remove(0)
    };
    types.iter().enumerate().map(page).collect()
}

fn listed() -> Vec<(String, Vec<String>)> {
    let owned = |(name, literals): &(&str, &[&str])| {
        ((*name).to_owned(), literals.iter().map(|literal| (*literal).to_owned()).collect())
    };
    TYPES.iter().map(owned).collect()
}

fn context(schema: SchemaPolicy) -> SinkContext {
    SinkContext { pipeline: "test".into(), schema, sets_aside: true, ..SinkContext::default() }
}

/// What is written of what fits is written, and the rest set aside.
const KEEP: SchemaPolicy = SchemaPolicy { on_drift: OnDrift::Quarantine, on_incompatible: OnIncompatible::Keep };

/// What became of each row: the error's code, or nothing when it was written.
type Outcome = BTreeMap<i64, Option<String>>;

/// Writes `page` into the empty table of `sink`.
fn write(sink: &mut TestSink, page: &Page) -> Result<Outcome, Error> {
    sink.write(page)?;
    sink.commit()?;
    let mut outcome: Outcome = (1..=page.rows() as i64).map(|id| (id, None)).collect();
    for aside in sink.set_aside() {
        let error = format!("{:?} {:?}", aside.error, aside.error.hint_text());
        assert!(error.contains("\"v\""), "the column isn't named: {error}");
        for row in 0..aside.rows.rows() {
            let id = match aside.rows.row(row).get(0) {
                faucet_core::model::ValueRef::I64(id) => id,
                other => panic!("{other:?}"),
            };
            outcome.insert(id, Some(aside.error.code().id.to_owned()));
        }
    }
    Ok(outcome)
}

/// Values of `copy` that are not those of `source`.
fn changed(db: &Database, source: &str, copy: &str) -> Vec<String> {
    let same =
        "SELECT s.id, format('%s', s.v), format('%s', c.v), format('%s', pg_typeof(s.v)), format('%s', pg_typeof(c.v))";
    let rows = shown_rows(
        db,
        &format!("{same} FROM {copy} c JOIN {source} s USING (id) WHERE c.v IS NOT NULL OR s.v IS NOT NULL"),
    );
    rows.into_iter().filter(|row| !is_same(db, row)).map(|row| row.join(" | ")).collect()
}

fn shown_rows(db: &Database, sql: &str) -> Vec<Vec<String>> {
    let text = |cell: Option<String>| cell.unwrap_or_else(|| "NULL".to_owned());
    db.client().rows(sql).into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}

/// The text as PostgreSQL prints it, the number, or for two `character(n)` what comes before the blanks.
fn is_same(db: &Database, row: &[String]) -> bool {
    let (left, right, from, to) = (&row[1], &row[2], row[3].as_str(), row[4].as_str());
    let is_number = |name: &str| {
        let numbers =
            ["smallint", "integer", "bigint", "oid", "numeric", "real", "double precision", "a.amount", "b.amount"];
        numbers.contains(&name)
    };
    let equal = |through: &str| {
        let rows = db.client().try_rows(&format!("SELECT ('{left}'::{through} = '{right}'::{through})::text"));
        rows.is_ok_and(|rows| rows[0][0].as_deref() == Some("true"))
    };
    match (from.strip_suffix("[]"), to.strip_suffix("[]")) {
        _ if left == right => true,
        (Some(from), Some(to)) if is_number(from) && is_number(to) => equal("numeric[]"),
        _ if from == "real" && to == "double precision" => {
            f64::from(left.parse::<f32>().unwrap()) == right.parse::<f64>().unwrap()
        }
        _ if is_number(from) => !right.ends_with(' ') && equal("numeric"),
        // In a text it is spelled out.
        _ if from == "boolean" => left == "t" && right == "true" || left == "f" && right == "false",
        _ if from == "character" && to == "character" => left.trim_end_matches(' ') == right.trim_end_matches(' '),
        _ => from == "json" && to == "jsonb" && equal("jsonb"),
    }
}

/// Every source into one destination type; what differs.
fn into_one(db: &Database, at: usize, types: &[(String, Vec<String>)], pages: &[Page]) -> Vec<String> {
    let (table, to) = (format!("d{at}"), &types[at].0);
    db.client().execute(&format!("CREATE TABLE IF NOT EXISTS {table} (id int, v {to})"));
    let mut sink = TestSink::open_with(db, json!({ "table_name": table }), context(KEEP)).unwrap();
    let mut wrong = Vec::new();
    for (from, page) in pages.iter().enumerate().filter(|(_, page)| !page.is_empty()) {
        let name = &types[from].0;
        let outcome = match write(&mut sink, page) {
            Ok(outcome) => outcome,
            Err(error) => {
                wrong.push(format!("{name} into {to}: {error:?}"));
                sink = TestSink::open_with(db, json!({ "table_name": table }), context(KEEP)).unwrap();
                continue;
            }
        };
        let there = shown(db, &format!("SELECT id FROM {table} ORDER BY id"));
        let written = outcome.iter().filter(|(_, code)| code.is_none()).map(|(id, _)| id.to_string());
        if there != written.collect::<Vec<_>>() {
            wrong.push(format!("{name} into {to}: rows {there:?} after {outcome:?}"));
        }
        let values = changed(db, &format!("s{from}"), &table);
        wrong.extend(values.iter().map(|value| format!("{name} into {to}: {value}")));
        if from == at && outcome.values().any(Option::is_some) {
            wrong.push(format!("{name} into itself: {outcome:?}"));
        }
        db.client().execute(&format!("TRUNCATE {table}"));
    }
    wrong
}

#[test]
fn every_type_arrives_in_every_other_as_it_was_or_is_refused() {
    let (db, types) = (database(), listed());
    let pages = sources(&db, &types);
    let wrong: Vec<String> = (0..types.len()).flat_map(|at| into_one(&db, at, &types, &pages)).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// From a system that says nothing of PostgreSQL's types: only a kind, and the value.
#[test]
fn every_kind_arrives_in_every_type_as_it_was_or_is_refused() {
    let (db, types) = (database(), listed());
    let untyped = |page: Page| {
        let fields = page.schema().fields.iter().map(|field| Field::new(&*field.name, field.kind)).collect();
        let schema = Arc::new(Schema::new(page.schema().table.clone(), fields));
        let (_, columns, _) = page.clone().into_parts();
        Page::new(schema, page.rows(), columns)
    };
    // One of each kind, all texts, and some arrays; of the others no row.
    let mut kinds = Vec::new();
    let mut chosen = |(page, (name, _)): (Page, &(String, Vec<String>))| {
        let kind = page.schema().fields[1].kind;
        let is_new = !kinds.contains(&kind);
        kinds.push(kind);
        if is_new || kind == Kind::Text || name.ends_with(")[]") { page } else { page.slice(0, 0) }
    };
    let pages = sources(&db, &types).into_iter().map(untyped).zip(&types).map(&mut chosen).collect::<Vec<_>>();
    let wrong: Vec<String> = (0..types.len()).flat_map(|at| into_one(&db, at, &types, &pages)).collect();
    // A text is read by the type of its column, which spells it in its own way.
    let wrong: Vec<String> = wrong.into_iter().filter(|line| !is_reading(&db, line)).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether a line of what differs is a text and what a type reads in it, without anything lost.
fn is_reading(db: &Database, line: &str) -> bool {
    let Some((_, row)) = line.split_once(": ") else { return false };
    let [_, left, right, from, to] = row.split(" | ").collect::<Vec<_>>()[..] else { return false };
    let through = match to {
        "numeric" | "real" | "double precision" | "smallint" | "integer" | "bigint" | "oid" | "a.amount"
        | "b.amount" => "numeric",
        "date" | "timestamp without time zone" | "timestamp with time zone" => "timestamptz",
        "time without time zone" | "interval" => "interval",
        "jsonb" => "jsonb",
        "uuid" | "inet" | "cidr" | "macaddr" | "macaddr8" | "tsvector" | "boolean" => to,
        _ => return false,
    };
    let typed =
        ["smallint", "integer", "bigint", "numeric", "real", "double precision", "boolean", "date", "bytea", "uuid"];
    let is_text =
        !typed.contains(&from) && !from.starts_with("time") && from != "interval" && !from.ends_with(".amount");
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let same = format!("SELECT ({}::{through} = {}::{through})::text", quoted(left), quoted(right));
    is_text && db.client().try_rows(&same).is_ok_and(|rows| rows[0][0].as_deref() == Some("true"))
}

/// Pairs that lose something: a value, and the verdict before one is written.
const LOSES: &[(&str, &str, &str)] = &[
    ("numeric(14,4)", "numeric(10,2)", "1.2345"),
    ("numeric", "numeric(10,2)", "1.005"),
    ("double precision", "real", "0.30000000000000004"),
    ("bigint", "double precision", "9007199254740993"),
    ("integer", "real", "16777217"),
    ("integer", "numeric(5,-2)", "12345"),
    ("integer", "oid", "-1"),
    ("timestamp", "timestamp(0)", "'2024-01-31 10:11:12.5'"),
    ("timestamptz", "timestamptz(3)", "'2024-01-31 10:11:12.3456+02'"),
    ("timestamptz", "timestamp", "'2024-01-31 10:11:12+02'"),
    ("timestamp", "timestamptz", "'2024-01-31 10:11:12'"),
    ("timestamp", "date", "'2024-01-31 10:11:12'"),
    ("time", "time(0)", "'10:11:12.5'"),
    ("timetz", "time", "'10:11:12+02'"),
    ("interval", "interval(0)", "'1.5 s'"),
    ("interval", "interval year to month", "'1 year 2 days'"),
    ("text", "char(3)", "'a'"),
    ("text", "name", "repeat('x', 70)"),
    ("char(5)", "char(3)", "'abcde'"),
    ("json", "jsonb", "'{\"a\":1,\"a\":2}'"),
    ("macaddr", "macaddr8", "'08:00:2b:01:02:03'"),
    ("numrange", "int4range", "'[1,5]'"),
    ("numeric(14,4)[]", "numeric(10,2)[]", "'{1.2345}'"),
    ("timestamp[]", "timestamp(0)[]", "'{\"2024-01-31 10:11:12.5\"}'"),
    ("real[]", "double precision[]", "'{0.1}'"),
    ("text", "bytea", "'ab'"),
];

#[test]
fn what_would_lose_something_is_refused_before_a_row_is_written() {
    let db = database();
    let types: Vec<_> = LOSES.iter().map(|(from, _, value)| ((*from).to_owned(), vec![(*value).to_owned()])).collect();
    for ((at, page), (from, to, _)) in sources(&db, &types).iter().enumerate().zip(LOSES) {
        db.client().execute(&format!("CREATE TABLE d{at} (id int, v {to})"));
        let table = json!({ "table_name": format!("d{at}") });
        let error = TestSink::open(&db, table.clone()).refused(page);
        let all = format!("{error:?} {:?}", error.hint_text());
        assert_eq!(error.code().id, "sink.type_incompatible", "{from} into {to}: {all}");
        assert!(all.contains("\\\"v\\\"") && all.contains("ALTER TABLE"), "{from} into {to}: {all}");
        // The witness: looked at by itself, the value is refused too.
        if *from != "real[]" {
            let mut sink = TestSink::open_with(&db, table, context(KEEP)).unwrap();
            let outcome = write(&mut sink, page).unwrap();
            assert!(outcome[&1].is_some(), "{from} into {to} loses nothing");
        }
    }
}

/// A wide float means the number that the narrow one is, not the one that its spelling means, in both formats of COPY.
#[test]
fn a_narrow_float_keeps_its_number_in_a_wide_column() {
    let db = fresh_database();
    db.client().execute(
        "CREATE TABLE s (id int, v real, w inet); INSERT INTO s VALUES (1, 0.1, NULL), (2, 'NaN', NULL), (3, -1e-40, NULL);
         CREATE TABLE d (id int, v double precision, w inet)",
    );
    for query in ["SELECT id, v FROM s", "SELECT id, v, w FROM s"] {
        let mut sink = TestSink::open(&db, json!({ "table_name": "d" }));
        sink.apply(&read(&db, query).remove(0));
        sink.close();
        let same = "SELECT count(*) FROM s JOIN d USING (id) WHERE s.v::double precision = d.v";
        assert_eq!(shown(&db, same), ["3"], "{query}");
        db.client().execute("TRUNCATE d");
    }
}
