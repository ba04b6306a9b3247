//! What went wrong elsewhere: the shortest way to it, and the right end. The list is in the documentation, "How change data
//! capture fails".

use crate::config;
use faucet_tests::{Database, Faucet, fresh_database};

/// A mirror of `source` in `copy`, under the key `key`, with `steps` between `cdc_unwrap` and the sink.
fn mirror(database: &Database, key: &[&str], steps: &str, options: &str) -> Faucet {
    let sink = config::postgres_sink(database, "copy", key);
    let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
    let text = config::mirror(database, "SELECT * FROM source", &sink, options);
    Faucet::new(&text.replace("    - type: cdc_unwrap\n", &format!("    - type: cdc_unwrap\n{steps}")))
}

fn source(ddl: &str) -> Database {
    let database = fresh_database();
    database.client().execute(ddl);
    database.client().execute("CREATE PUBLICATION pub FOR TABLE source");
    database
}

#[track_caller]
fn assert_equal(database: &Database) {
    let rows = |table: &str| database.client().rows(&format!("SELECT to_jsonb(x) FROM {table} x ORDER BY 1"));
    assert_eq!(rows("copy"), rows("source"));
}

#[test]
fn twenty_thousand_deletes_by_a_key_of_two_columns_are_one_page() {
    let database = source(
        "CREATE TABLE source (a int, b text, note text, PRIMARY KEY (b, a));
         INSERT INTO source SELECT g, 'b' || g % 7, 'x' FROM generate_series(1, 20005) g",
    );
    let faucet = mirror(&database, &["b", "a"], "", "");
    let config = std::fs::read_to_string(faucet.config()).unwrap();
    faucet.set_config(&config.replace("idle_timeout: 300ms", "idle_timeout: 300ms\n      batch_size: 50000"));
    faucet.run("mirror").expect_code(0);
    database.client().execute("DELETE FROM source WHERE a <= 20000");
    faucet.run("mirror").expect_code(0);
    assert_equal(&database);
    assert_eq!(database.client().one("SELECT count(*) FROM copy"), "5");
}

#[test]
fn a_null_stays_null_where_both_sides_have_a_default_and_a_component_between() {
    let database = source(
        "CREATE TABLE source (id int PRIMARY KEY, n int DEFAULT 5, note text DEFAULT 'd', name text);
         CREATE TABLE copy (LIKE source INCLUDING ALL); INSERT INTO source VALUES (1, NULL, NULL, 'x'), (2, 7, '', 'x')",
    );
    let mask = "    - type: mask\n      config: { columns: [name], method: redact }\n";
    let faucet = mirror(&database, &["id"], mask, "");
    faucet.run("mirror").expect_code(0);
    database.client().execute(
        "INSERT INTO source VALUES (3, NULL, NULL, 'x'), (4, NULL, '', 'x'); UPDATE source SET n = NULL WHERE id = 2",
    );
    faucet.run("mirror").expect_code(0);
    let shown = |table: &str| database.client().rows(&format!("SELECT id, n, note FROM {table} ORDER BY id"));
    assert_eq!(shown("copy"), shown("source"));
    assert_eq!(database.client().one("SELECT count(*) FROM copy WHERE n IS NULL"), "4");
}

/// The stream does not carry them, and a copy of them is not written either.
#[test]
fn generated_columns_are_generated_at_the_destination() {
    let ddl = "CREATE TABLE source (id int PRIMARY KEY, a int, twice int GENERATED ALWAYS AS (a * 2) STORED);
               INSERT INTO source VALUES (1, 1); CREATE TABLE copy (LIKE source INCLUDING ALL)";
    let database = source(ddl);
    let faucet = mirror(&database, &["id"], "", "");
    faucet.run("mirror").expect_code(0);
    database.client().execute("UPDATE source SET a = 10; INSERT INTO source VALUES (2, 2)");
    faucet.run("mirror").expect_code(0);
    assert_equal(&database);
}

/// A key that moved is a delete and an upsert at one position; the last of a transaction, it is whole or not there.
#[test]
fn a_changed_key_at_the_end_of_a_transaction_survives_a_crash_at_every_step() {
    for failpoint in ["mid_stream", "after_sink_commit", "after_state"] {
        let database =
            source("CREATE TABLE source (id int PRIMARY KEY, note text); INSERT INTO source VALUES (1, 'x')");
        let mut faucet = mirror(&database, &["id"], "", "");
        faucet.run("mirror").expect_code(0);
        database
            .client()
            .execute("BEGIN; INSERT INTO source VALUES (5, 'y'); UPDATE source SET id = 2 WHERE id = 1; COMMIT");
        faucet.set_env("FAUCET_FAILPOINT", failpoint);
        let killed = faucet.run("mirror");
        assert_eq!(killed.code(), None, "{failpoint} was not reached:\n{}", killed.stderr);
        faucet.set_env("FAUCET_FAILPOINT", "");
        let keys = database.client().rows("SELECT id FROM copy WHERE note = 'x'");
        assert_eq!(keys.len(), 1, "{failpoint}: half of the change is visible");
        faucet.run("mirror").expect_code(0);
        assert_equal(&database);
    }
}
