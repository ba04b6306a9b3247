//! A value arrives as it is or stops the pipeline with an error that says what to do; and what it says works.

use crate::config;
use faucet_tests::{Database, Faucet, Finished, Postgres, PostgresOptions, fresh_database};
use std::fs;

/// A mirror of `t` to `copy` in the same database.
struct Copied {
    database: Database,
    faucet: Faucet,
}

impl Copied {
    fn new(setup: &str, options: &str) -> Self {
        let database = fresh_database();
        database.client().execute(&format!("{setup}; CREATE PUBLICATION pub FOR TABLE t"));
        let sink = config::postgres_sink(&database, "copy", &["id"]);
        let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
        let faucet = Faucet::new(&config::mirror(&database, "SELECT * FROM t", &sink, options));
        Self { database, faucet }
    }

    fn execute(&self, sql: &str) {
        self.database.client().execute(sql);
    }

    #[track_caller]
    fn equal(&self) {
        let rows = |table: &str| self.database.client().rows(&format!("SELECT t::text FROM {table} t ORDER BY id"));
        assert_eq!(rows("copy"), rows("t"));
    }

    /// Runs, and is stopped by an error that has all these parts.
    #[track_caller]
    fn stops(&self, parts: &[&str]) -> Finished {
        let stopped = self.faucet.run("mirror");
        assert_ne!(stopped.code(), Some(0), "{}", stopped.stderr);
        for part in parts {
            assert!(stopped.stderr.contains(part), "no {part}:\n{}", stopped.stderr);
        }
        stopped
    }
}

/// The statement that a hint says to run, up to its end or a semicolon.
#[track_caller]
fn hinted(stopped: &Finished, start: &str) -> String {
    let at = stopped.stderr.find(start).unwrap_or_else(|| panic!("no {start}:\n{}", stopped.stderr));
    // Long lines are broken for the terminal.
    let rest = stopped.stderr[at..].split("\n\n").next().unwrap_or_default();
    let whole = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    let statement = whole.split(" more: ").next().unwrap_or_default();
    statement[..statement.find(';').unwrap_or(statement.len())].to_owned()
}

const TYPED: &str = "CREATE TABLE t (id int PRIMARY KEY, n numeric(10,2), r real, at timestamp(0), span interval(0),
    day date, zoned timestamp, few numeric(6,1)[], note char(3));
    INSERT INTO t VALUES (1, 1.25, 0.5, '2024-01-31 10:00', '1 s', '2024-01-31', '2024-01-31 10:00', '{1.5}', 'ab')";

/// What each column becomes at the source, a value that it has then, and whether the destination's can be widened to it.
const WIDER: &[(&str, &str, &str, bool)] = &[
    ("n", "numeric(14,4)", "1.2345", true),
    ("r", "double precision", "0.1", true),
    ("at", "timestamp(6) without time zone", "'2024-01-31 10:00:00.123456'", true),
    ("span", "interval(3)", "'1.234 s'", true),
    ("few", "numeric(8,3)[]", "'{1.125}'", true),
    ("note", "character(5)", "'abcde'", true),
    ("day", "timestamp(6) without time zone", "'2024-01-31 10:11:12'", false),
    ("zoned", "timestamp with time zone", "'2024-01-31 10:00+05'", false),
];

#[test]
fn a_narrower_column_of_the_destination_stops_the_mirror_before_a_value_is_changed() {
    let m = Copied::new(TYPED, "");
    m.faucet.run("mirror").expect_code(0);
    m.equal();
    for (id, (column, to, value, _)) in (2..).zip(WIDER) {
        m.execute(&format!(
            "ALTER TABLE t ALTER {column} TYPE {to}; INSERT INTO t (id, {column}) VALUES ({id}, {value})"
        ));
        let column = format!("column \"{column}\" is ");
        let stopped = m.stops(&["sink.type_incompatible", &column, "at the source, and ", "\"public\".\"copy\""]);
        assert_eq!(m.database.client().one("SELECT count(*) FROM copy"), (id - 1).to_string());
        // The hint, followed.
        m.execute(&hinted(&stopped, "ALTER TABLE \"public\".\"copy\""));
        m.faucet.run("mirror").expect_code(0);
        m.equal();
    }
}

#[test]
fn evolve_widens_what_can_be_widened_and_stops_at_the_rest() {
    let m = Copied::new(TYPED, "schema: { on_drift: evolve }\n");
    m.faucet.run("mirror").expect_code(0);
    for (id, (column, to, value, widens)) in (2..).zip(WIDER) {
        m.execute(&format!(
            "ALTER TABLE t ALTER {column} TYPE {to}; INSERT INTO t (id, {column}) VALUES ({id}, {value})"
        ));
        if !widens {
            let stopped = m.stops(&["sink.type_incompatible", &format!("column \"{column}\"")]);
            m.execute(&hinted(&stopped, "ALTER TABLE \"public\".\"copy\""));
        }
        m.faucet.run("mirror").expect_code(0);
        m.equal();
    }
    // What became narrower at the source stays wide.
    m.execute("ALTER TABLE t ALTER n TYPE numeric(10,2); UPDATE t SET n = 7.25 WHERE id = 1");
    m.faucet.run("mirror").expect_code(0);
    assert_eq!(m.database.client().one("SELECT n FROM copy WHERE id = 1"), "7.2500");
}

/// From the start: the table was made by hand.
#[test]
fn a_narrower_column_that_was_there_before_the_first_row_is_refused_too() {
    let m = Copied::new(
        "CREATE DOMAIN price AS numeric(14,4); CREATE DOMAIN cents AS numeric(10,2);
         CREATE TABLE t (id int PRIMARY KEY, p price, z timestamptz); INSERT INTO t VALUES (1, 1.2345, '2024-01-31 10:00+05')",
        "",
    );
    m.execute("CREATE TABLE copy (id int PRIMARY KEY, p cents, z timestamptz)");
    m.stops(&["sink.type_incompatible", "column \"p\" is numeric(14,4)", "numeric(10,2)"]);
    m.execute("ALTER TABLE copy ALTER p TYPE price, ALTER z TYPE timestamp");
    m.stops(&["sink.type_incompatible", "column \"z\" is timestamp with time zone", "drops the time zone"]);
    m.execute("ALTER TABLE copy ALTER z TYPE timestamptz");
    m.faucet.run("mirror").expect_code(0);
    m.execute("UPDATE t SET p = 5.4321");
    m.faucet.run("mirror").expect_code(0);
    m.equal();
}

#[test]
fn what_is_kept_is_written_where_it_stays_the_same_and_set_aside_where_not() {
    let options = "dlq: { sink: { type: jsonl, config: { path: ./rejected.jsonl } } }\n";
    for policy in ["on_incompatible: keep", "on_drift: warn", "on_drift: quarantine"] {
        let m = Copied::new(TYPED, &format!("{options}schema: {{ {policy} }}\n"));
        m.faucet.run("mirror").expect_code(0);
        m.execute(
            "ALTER TABLE t ALTER n TYPE numeric(14,4); INSERT INTO t (id, n) VALUES (2, 1.5), (3, 1.2345), (4, 2.25)",
        );
        m.faucet.run("mirror").expect_code(0);
        let ids = m.database.client().one("SELECT string_agg(id || '=' || n, ' ' ORDER BY id) FROM copy");
        assert_eq!(ids, "1=1.25 2=1.50 4=2.25", "{policy}");
        let letters = fs::read_to_string(m.faucet.dir().join("rejected.jsonl")).unwrap();
        assert!(letters.contains("postgres.value_would_change") && letters.contains("\\\"n\\\""), "{letters}");
        assert_eq!(letters.lines().count(), 1, "{letters}");
    }
}

const MOODS: &str =
    "CREATE SCHEMA far; CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE far.mood AS ENUM ('sad', 'ok');
    CREATE TABLE t (id int PRIMARY KEY, m mood); CREATE TABLE copy (id int PRIMARY KEY, m far.mood);
    INSERT INTO t VALUES (1, 'ok')";

#[test]
fn a_label_that_the_enum_lacks_stops_the_mirror_with_the_statement_that_adds_it() {
    let m = Copied::new(MOODS, "");
    m.faucet.run("mirror").expect_code(0);
    m.execute("ALTER TYPE mood ADD VALUE 'it''s \\ \"fine\"'");
    m.execute("INSERT INTO t VALUES (2, 'it''s \\ \"fine\"')");
    let stopped = m.stops(&["postgres.label_missing", "column \"m\"", "far.mood", "public.mood", "on_drift: evolve"]);
    m.execute(&hinted(&stopped, "ALTER TYPE far.mood ADD VALUE"));
    m.faucet.run("mirror").expect_code(0);
    m.equal();
}

#[test]
fn evolve_adds_the_labels_that_an_enum_lacks() {
    let m = Copied::new(MOODS, "schema: { on_drift: evolve }\n");
    // While rows are copied, and while changes are followed; two in one transaction.
    m.execute("ALTER TYPE mood ADD VALUE 'happy' BEFORE 'sad'");
    m.execute("INSERT INTO t VALUES (2, 'happy')");
    m.faucet.run("mirror").expect_code(0);
    m.equal();
    m.execute("ALTER TYPE mood ADD VALUE 'glad' AFTER 'sad'");
    m.execute("ALTER TYPE mood ADD VALUE 'it''s'");
    m.execute("BEGIN; INSERT INTO t VALUES (3, 'glad'); UPDATE t SET m = 'it''s' WHERE id = 1; COMMIT; UPDATE t SET m = 'glad' WHERE id = 2");
    m.faucet.run("mirror").expect_code(0);
    m.equal();
    let labels =
        "SELECT string_agg(enumlabel, ' ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = 'far.mood'::regtype";
    assert_eq!(m.database.client().one(labels), "happy sad glad ok it's");
}

/// A table is made with the types of the source; one that isn't there has to be made first.
#[test]
fn a_type_that_the_destination_lacks_comes_with_the_statement_that_makes_it() {
    let server = Postgres::start(PostgresOptions::default());
    let (from, to) = (Database::create_on(&server), Database::create_on(&server));
    from.client().execute(
        "CREATE TYPE mood AS ENUM ('sad', 'it''s'); CREATE TABLE t (id int PRIMARY KEY, m mood, n numeric(14,4), c char(3)[]);
         CREATE PUBLICATION pub FOR TABLE t; INSERT INTO t VALUES (1, 'it''s', 1.2345, '{ab}')",
    );
    let sink = config::postgres_sink(&to, "t", &["id"]);
    let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
    let faucet = Faucet::new(&config::mirror(&from, "SELECT * FROM t", &sink, ""));
    let stopped = faucet.run("mirror");
    assert_ne!(stopped.code(), Some(0));
    to.client().execute(&hinted(&stopped, "CREATE TYPE public.mood"));
    faucet.run("mirror").expect_code(0);
    let rows = |database: &Database| database.client().rows("SELECT t::text FROM t");
    assert_eq!(rows(&to), rows(&from));
    let types = "SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute
                 WHERE attrelid = 't'::regclass AND attnum > 0";
    assert_eq!(to.client().one(types), from.client().one(types));
    from.client().execute(&format!("SELECT pg_drop_replication_slot('{}_slot')", from.name()));
}

/// PostgreSQL has no such text, and others do.
#[test]
fn a_character_that_no_text_holds_is_refused_by_the_name_of_its_column() {
    let database = fresh_database();
    database.client().execute("CREATE TABLE copy (id bigint, v text, d jsonb)");
    let url = serde_json::json!(database.url());
    let faucet = Faucet::new(&format!(
        "version: 1
name: m
pipeline:
  source: {{ type: jsonl, config: {{ path: ./in.jsonl }} }}
  sink: {{ type: postgres, config: {{ connection_url: {url}, table_name: copy }} }}
"
    ));
    for (line, column) in [(r#"{"id":1,"v":"a\u0000b"}"#, "v"), (r#"{"id":1,"d":{"a":"\u0000"}}"#, "d")] {
        fs::write(faucet.dir().join("in.jsonl"), format!("{line}\n")).unwrap();
        let stopped = faucet.run("run");
        assert_ne!(stopped.code(), Some(0));
        for part in ["postgres.character_refused", &format!("\"{column}\""), "U+0000"] {
            assert!(stopped.stderr.contains(part), "no {part}:\n{}", stopped.stderr);
        }
    }
    assert_eq!(database.client().one("SELECT count(*) FROM copy"), "0");
}

/// A database that converts nothing, with bytes of another encoding in it: its own fault, in both phases.
#[test]
fn bytes_that_are_no_text_are_a_fault_of_the_source() {
    let server = Postgres::start(PostgresOptions::default());
    let database = Database::create_on(&server);
    database
        .client()
        .execute("CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'");
    let ascii = server.connect("ascii");
    ascii.execute(
        "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE PUBLICATION pub FOR TABLE t;
         INSERT INTO t VALUES (1, E'caf\\xe9'), (2, E'caf\\xc3\\xa9')",
    );
    let sink = config::postgres_sink(&database, "copy", &["id"]);
    let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
    let text = config::mirror(&database, "SELECT * FROM t", &sink, "");
    let (before, after) = text.split_once("  sink:\n").unwrap();
    let (sink, snapshot) = after.split_once("mirror:\n").unwrap();
    let elsewhere = |part: &str| part.replace(database.url(), &server.url("ascii"));
    let faucet = Faucet::new(&format!("{}  sink:\n{sink}mirror:\n{}", elsewhere(before), elsewhere(snapshot)));
    let stops = || {
        let stopped = faucet.run("mirror");
        assert_ne!(stopped.code(), Some(0));
        for part in ["postgres.not_utf8", "\"v\"", "SQL_ASCII"] {
            assert!(stopped.stderr.contains(part), "no {part}:\n{}", stopped.stderr);
        }
    };
    stops();
    // What the code's help says about Latin-1.
    ascii.execute(
        "UPDATE t SET v = convert_from(convert(convert_to(v, 'SQL_ASCII'), 'LATIN1', 'UTF8'), 'SQL_ASCII') WHERE id = 1",
    );
    faucet.run("mirror").expect_code(0);
    let rows = database.client().rows("SELECT v FROM copy ORDER BY id");
    assert_eq!(rows, [[Some("café".to_owned())], [Some("café".to_owned())]]);
    ascii.execute("INSERT INTO t VALUES (3, E'na\\xefve')");
    stops();
    ascii.execute(&format!("SELECT pg_drop_replication_slot('{}_slot')", database.name()));
}
