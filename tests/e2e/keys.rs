//! Keys of every type that can be one, above all values that are equal and not the same: the source's index takes them
//! for one key.

use crate::config;
use faucet_tests::{Database, Faucet, fresh_database, sqlite_rows, types};

/// A type, two spellings of one key (the same one, where there is no other), and another key.
const KEYS: &[(&str, &str, &str, &str)] = &[
    ("numeric", "'1.0'", "'1.00'", "'NaN'"),
    ("double precision", "'0'", "'-0'", "'NaN'"),
    ("real", "'-0'", "'0'", "'Infinity'"),
    ("a.citext", "'Key'", "'kEY'", "'other'"),
    ("text COLLATE a.nocase", "'Key'", "'kEY'", "'other'"),
    ("interval", "'1 mon'", "'30 days'", "'1 day'"),
    ("jsonb", "'[1.0]'", "'[1.00]'", "'null'"),
    ("numrange", "'[1.0,2.0)'", "'[1.00,2.00)'", "'empty'"),
    ("numeric[]", "'{1.0,NULL}'", "'{1.00,NULL}'", "'{}'"),
    ("a.pair", "ROW(1, 'x')::a.pair", "ROW(1, 'x')::a.pair", "ROW(NULL, NULL)::a.pair"),
    ("a.mood", "'sad'", "'sad'", "'o''k, \"fine\"'"),
    ("a.amount", "'1.5'", "'1.50'", "'2'"),
    ("text", "''", "''", "'NULL'"),
    ("char(5)", "'ab'", "'ab   '", "''"),
    ("bytea", "'\\x00'", "'\\x00'", "''"),
    ("uuid", "'00000000-0000-0000-0000-000000000000'", "'00000000-0000-0000-0000-000000000000'", "gen_random_uuid()"),
    ("timestamptz", "'2024-01-01 00:00+00'", "'2024-01-01 02:00+02'", "'infinity'"),
    ("timetz", "'12:00+00'", "'12:00+00'", "'13:00+01'"),
    ("date", "'0044-03-15 BC'", "'0044-03-15 BC'", "'infinity'"),
    ("inet", "'1.2.3.4'", "'1.2.3.4/32'", "'1.2.3.4/24'"),
    ("bit(3)", "B'101'", "B'101'", "B'000'"),
    ("boolean", "true", "true", "false"),
    ("money", "'12.34'", "'12.34'", "'-1'"),
    ("bigint", "9007199254740993", "9007199254740993", "9007199254740992"),
];

/// Everything that can happen to a row under the two spellings `{a}`, `{b}` of its key, and under another key `{c}`.
const STEPS: [&str; 7] = [
    "UPDATE source SET k = {b}, n = 2",
    "BEGIN; UPDATE source SET k = {a}, n = 3; UPDATE source SET n = 4; COMMIT",
    "BEGIN; DELETE FROM source; INSERT INTO source VALUES ({b}, 5, 'new'); COMMIT",
    "BEGIN; UPDATE source SET k = {c}; INSERT INTO source VALUES ({a}, 6, NULL); UPDATE source SET n = n + 1; COMMIT",
    "BEGIN; DELETE FROM source WHERE k = {a}; UPDATE source SET k = {b}; COMMIT",
    "BEGIN; INSERT INTO source VALUES ({c}, 7, 'x'); DELETE FROM source WHERE k = {a}; INSERT INTO source VALUES ({a}, 8, ''); COMMIT",
    "BEGIN; UPDATE source SET n = n + 1; DELETE FROM source WHERE k = {b}; COMMIT",
];

fn source((kind, a, _, _): (&str, &str, &str, &str)) -> Database {
    let database = fresh_database();
    types::prepare(database.client());
    // Where the operators of extensions are, for the sink as well.
    database.client().execute(&format!("ALTER DATABASE {} SET search_path = public, a", database.name()));
    database.client().execute("SET search_path = public, a");
    database.client().execute(&format!(
        "CREATE TABLE source (k {kind} PRIMARY KEY, n int, big text); ALTER TABLE source ALTER big SET STORAGE EXTERNAL;
         CREATE PUBLICATION pub FOR TABLE source; INSERT INTO source VALUES ({a}, 1, repeat('x', 3000))"
    ));
    // A table that faucet makes has the columns' types, and not their collations.
    if kind.contains("COLLATE") {
        database.client().execute(&format!("CREATE TABLE copy (k {kind} PRIMARY KEY, n int, big text)"));
    }
    database
}

fn faucet(database: &Database, sink: &[String]) -> Faucet {
    let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
    Faucet::new(&config::mirror(database, "SELECT * FROM source", &sink, "").replace("300ms", "50ms"))
}

/// Runs the steps, and looks after each or after all of them.
fn steps(key: (&str, &str, &str, &str), run: impl Fn(&str), database: &Database, at_once: bool) {
    let (_, a, b, c) = key;
    let mut done = String::new();
    for step in STEPS {
        let sql = step.replace("{a}", a).replace("{b}", b).replace("{c}", c);
        database.client().execute(&sql);
        done.push_str(&sql);
        if !at_once {
            run(&sql);
        }
    }
    if at_once {
        run(&done);
    }
}

#[test]
fn a_row_is_found_under_any_spelling_of_its_key_in_postgres() {
    for key in KEYS {
        // Step by step only where there are two spellings.
        let ways = if key.1 == key.2 { &[true][..] } else { &[false, true] };
        for &at_once in ways {
            let database = source(*key);
            let faucet = faucet(&database, &config::postgres_sink(&database, "copy", &["k"]));
            faucet.run("mirror").expect_code(0);
            let rows = |table: &str| {
                database.client().rows(&format!("SELECT format('%L', k), n, big FROM {table} ORDER BY k"))
            };
            let check = |step: &str| {
                faucet.run("mirror").expect_code(0);
                assert_eq!(rows("copy"), rows("source"), "{} after {step}", key.0);
            };
            steps(*key, check, &database, at_once);
        }
    }
}

#[test]
fn a_row_is_found_under_any_spelling_of_its_key_in_sqlite() {
    for key in KEYS {
        let database = source(*key);
        let faucet = faucet(&database, &config::sqlite_sink("copy", &["k"]));
        faucet.run("mirror").expect_code(0);
        let check = |step: &str| {
            faucet.run("mirror").expect_code(0);
            let copy = sqlite_rows(&faucet.dir().join("mirror.db"), "SELECT n, big FROM copy ORDER BY n").unwrap();
            assert_eq!(copy, database.client().rows("SELECT n, big FROM source ORDER BY n"), "{} after {step}", key.0);
        };
        steps(*key, check, &database, true);
    }
}
