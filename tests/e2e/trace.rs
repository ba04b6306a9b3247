//! Looking at single records of a real stream, with no effect on it.

use crate::config::{mirror, postgres_sink};
use faucet_tests::{Database, Faucet, fresh_database};
use serde_json::{Value, json};

const SETUP: &str = "CREATE TABLE src (id bigint PRIMARY KEY, email text, price numeric, note text);
ALTER TABLE src REPLICA IDENTITY FULL;
INSERT INTO src SELECT g, 'user' || g || '@example.com', 12.50, repeat('x', 10) FROM generate_series(1, 5) g;
CREATE PUBLICATION pub FOR TABLE src";

/// A mirror that has caught up once, with a transform that is a component.
fn mirrored() -> (Database, Faucet) {
    let database = fresh_database();
    database.client().execute(SETUP);
    let sink = postgres_sink(&database, "dst", &["id"]);
    let sink: Vec<&str> = sink.iter().map(String::as_str).collect();
    let config = mirror(&database, "SELECT * FROM src", &sink, "");
    let config = config
        .replace("- type: cdc_unwrap\n", "- type: cdc_unwrap\n    - { type: mask, config: { columns: [email] } }\n");
    let faucet = Faucet::new(&config);
    faucet.run("mirror").expect_code(0);
    assert_eq!(database.client().one("SELECT count(*) FROM dst WHERE email = '***'"), "5");
    (database, faucet)
}

/// Everything that a look must leave alone.
fn world(database: &Database, faucet: &Faucet) -> Vec<String> {
    let state = walk(&faucet.dir().join("state"));
    let slots =
        "SELECT string_agg(slot_name || ' ' || confirmed_flush_lsn, ',' ORDER BY slot_name) FROM pg_replication_slots
                 WHERE database = current_database()";
    let rows = "SELECT string_agg(dst::text, ',' ORDER BY id) FROM dst";
    let tables = "SELECT string_agg(relname || relnatts, ',' ORDER BY relname) FROM pg_class WHERE relkind = 'r'";
    let asked = [slots, rows, tables].map(|sql| database.client().one(sql));
    [vec![state], asked.to_vec()].concat()
}

fn walk(folder: &std::path::Path) -> String {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let text = |file: &std::path::PathBuf| format!("{}: {:?}", file.display(), std::fs::read(file).unwrap_or_default());
    files.iter().map(text).collect()
}

/// The records that a trace prints as JSON.
fn records(faucet: &Faucet, arguments: &[&str]) -> Vec<Value> {
    let finished = faucet.run_with(&[&["trace", "config.yaml", "--output", "json"], arguments].concat()).expect_code(0);
    finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_change_is_followed_to_its_statements_and_nothing_moves() {
    let (database, faucet) = mirrored();
    let source = database.client();
    source.execute("UPDATE src SET email = 'new@example.com', price = 1e-3 WHERE id = 2");
    source.execute("BEGIN; DELETE FROM src WHERE id = 3; UPDATE src SET id = 40 WHERE id = 4; COMMIT");
    let before = world(&database, &faucet);

    let shown = faucet.run_with(&["trace", "config.yaml", "--key", "id=2"]).expect_code(0).stdout;
    for part in [
        "record 1: public.src, update at ",
        "before  {\"id\":2,\"email\":\"user2@example.com\",\"price\":12.50,",
        "after   {\"id\":2,\"email\":\"new@example.com\",\"price\":0.001,",
        "  1 cdc_unwrap\n",
        "  2 mask, component ",
        "{\"id\":2,\"email\":\"***\",\"price\":0.001,",
        "  sink postgres\n",
        "INSERT INTO \"public\".\"dst\" (\"id\", \"email\", \"price\", \"note\")",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }

    let deleted = &records(&faucet, &["--key", "id=3"])[0];
    assert_eq!((&deleted["op"], deleted["images"].as_array().map(Vec::len)), (&json!("delete"), Some(1)));
    let statements = deleted["writes"][0]["statements"].as_array().unwrap();
    assert!(
        statements.iter().any(|text| text.as_str().unwrap().starts_with("DELETE FROM \"public\".\"dst\"")),
        "{deleted}"
    );
    assert!(!statements.iter().any(|text| text.as_str().unwrap().starts_with("INSERT")), "{deleted}");

    // A changed key is two rows after `cdc_unwrap`, found under either.
    let moved = records(&faucet, &["--key", "id=40"]);
    assert_eq!(moved, records(&faucet, &["--key", "id=4"]));
    assert_eq!(moved[0]["steps"][0]["rows"].as_array().map(Vec::len), Some(2), "{}", moved[0]);

    // The position that is printed finds it again, and its commit finds both changes.
    let position = moved[0]["position"].as_str().unwrap();
    assert_eq!(records(&faucet, &["--position", position]), moved);
    let commit = position.split_once(':').unwrap().0;
    assert_eq!(records(&faucet, &["--position", commit, "--limit", "9"]).len(), 2);

    assert_eq!(world(&database, &faucet), before, "a look changed something");
    faucet.run("mirror").expect_code(0);
    let rows = "SELECT string_agg(id || ' ' || price, ',' ORDER BY id) FROM ";
    assert_eq!(source.one(&format!("{rows}dst")), source.one(&format!("{rows}src")), "a look lost something");
}

/// What is durable here may be more than the server was told before a crash. A look does not tell it either.
#[test]
fn a_bookmark_beyond_what_the_slot_confirmed_is_not_confirmed_by_a_look() {
    let (database, faucet) = mirrored();
    let slot = format!("{}_slot", database.name());
    let behind = format!("{slot}_behind");
    database.client().execute(&format!("SELECT pg_copy_logical_replication_slot('{slot}', '{behind}')"));
    database.client().execute("UPDATE src SET note = 'y' WHERE id = 1");
    faucet.run("mirror").expect_code(0);
    database.client().execute("UPDATE src SET note = 'z' WHERE id = 2");
    let config = std::fs::read_to_string(faucet.config()).unwrap();
    faucet.set_config(&config.replace(&format!("{slot}\n"), &format!("{behind}\n")));
    let before = world(&database, &faucet);
    assert_eq!(records(&faucet, &["--key", "note=z"]).len(), 1);
    assert_eq!(world(&database, &faucet), before);
}

#[test]
fn rows_that_exist_are_followed_through_the_snapshots_source() {
    let (_database, faucet) = mirrored();
    let shown = records(&faucet, &["--snapshot", "--key", "email=user5@example.com"]);
    assert_eq!((&shown[0]["source"]["type"], &shown[0]["images"][0]["of"]), (&json!("postgres"), &json!("row")));
    assert_eq!(shown[0]["steps"][1]["rows"][0]["email"], "***");
}

#[test]
fn a_slot_that_is_missing_stays_missing_and_so_does_a_table() {
    let (database, faucet) = mirrored();
    let config = std::fs::read_to_string(faucet.config()).unwrap();
    faucet.set_config(&config.replace("name: m\n", "name: other\n").replace("_slot\n", "_none\n"));
    let before = world(&database, &faucet);
    let refused = faucet.run_with(&["trace", "config.yaml", "--key", "id=1"]).expect_code(1);
    assert!(refused.stderr.contains("postgres.slot_missing"), "{}", refused.stderr);

    faucet.set_config(&config.replace("\"dst\"", "\"nowhere\""));
    database.client().execute("INSERT INTO src VALUES (6, 'f', 1, null)");
    let shown = records(&faucet, &["--key", "id=6"]);
    let statements = &shown[0]["writes"][0]["statements"];
    assert!(statements[0].as_str().unwrap().starts_with("CREATE TABLE IF NOT EXISTS \"nowhere\""), "{statements}");
    assert_eq!(world(&database, &faucet), before, "a look made something");
}

#[test]
fn a_table_that_would_be_altered_is_not() {
    let (database, faucet) = mirrored();
    let config = std::fs::read_to_string(faucet.config()).unwrap();
    faucet.set_config(&format!("{config}schema: {{ on_drift: evolve }}\n"));
    database.client().execute("ALTER TABLE src ADD COLUMN extra int; INSERT INTO src VALUES (6, 'f', 1, null, 7)");
    let before = world(&database, &faucet);
    let shown = records(&faucet, &["--key", "id=6"]);
    let statements = json!(["ALTER TABLE \"public\".\"dst\" ADD COLUMN \"extra\" integer"]);
    assert_eq!(shown[0]["writes"][0]["statements"], statements);
    assert_eq!(world(&database, &faucet), before);
}

#[test]
fn what_is_not_there_and_what_is_badly_asked_is_said() {
    let (_database, faucet) = mirrored();
    let said = |arguments: &[&str], code| {
        faucet.run_with(&[&["trace", "config.yaml"], arguments].concat()).expect_code(code).stderr
    };
    assert!(said(&["--key", "id=77"], 2).contains("ended without such a record"));
    assert!(said(&["--key", "id"], 2).contains("COLUMN=VALUE"));
    assert!(said(&["--position", "x"], 2).contains("16/B374D848"));
    assert!(said(&[], 2).contains("--key"));
    assert!(said(&["--key", "id=1", "--limit", "0"], 2).contains("--limit"));
    assert!(said(&["--snapshot", "--key", "nothing=1"], 2).contains("its columns are: id, email, price, note"));
    assert!(said(&["--snapshot", "--position", "0/1"], 2).contains("have no position"));
}
