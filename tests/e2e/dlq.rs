//! Rows that can't be written go to the dead-letter queue, and the others go on.

use faucet_tests::mirror::Mirrored;
use faucet_tests::{Faucet, fresh_database};
use serde_json::Value;

const QUEUE: &str = "dlq: { sink: { type: jsonl, config: { path: ./rejected.jsonl } } }\n";

/// What the queue holds: code and id of each letter, sorted.
fn letters(faucet: &Faucet) -> Vec<(String, i64)> {
    let text = std::fs::read_to_string(faucet.dir().join("rejected.jsonl")).unwrap_or_default();
    let letter = |line: &str| {
        let letter: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&letter["pipeline"], &letter["stage"]), (&"m".into(), &"sink".into()), "{letter}");
        assert!(letter["at"].is_string() && !letter["reason"].as_str().unwrap().is_empty(), "{letter}");
        (letter["code"].as_str().unwrap().to_owned(), letter["row"]["id"].as_i64().unwrap())
    };
    let mut letters: Vec<_> = text.lines().map(letter).collect();
    letters.sort();
    letters
}

fn of(code: &str, ids: &[i64]) -> Vec<(String, i64)> {
    ids.iter().map(|id| (code.to_owned(), *id)).collect()
}

#[test]
fn quarantined_rows_have_a_value_that_has_no_place() {
    let options = format!("  continuous: false\nschema: {{ on_drift: quarantine }}\n{QUEUE}");
    for m in [Mirrored::postgres(fresh_database(), 20, &options), Mirrored::sqlite(fresh_database(), 20, "", &options)]
    {
        m.faucet.run("mirror").expect_code(0);
        m.client().execute(
            "ALTER TABLE orders REPLICA IDENTITY FULL, ADD COLUMN extra int;
             UPDATE orders SET qty = 1000 + id;
             UPDATE orders SET extra = 1, qty = 0 WHERE id IN (3, 17);
             DELETE FROM orders WHERE id IN (5, 17)",
        );
        let told = m.faucet.run("mirror").expect_code(0);
        assert!(told.stderr.contains("2 rows were set aside"), "{}", told.stderr);
        assert_eq!(letters(&m.faucet), of("sink.quarantined", &[3, 17]));
        let sums = "SELECT count(*), sum(qty) FROM orders_mirror";
        // The delete of 17 tells of the value in its old row, and removes it all the same.
        let expected = ["18".to_owned(), (18 * 1000 + 210 - 5 - 17).to_string()].map(Some);
        match m.sqlite_rows(sums) {
            rows if rows.is_empty() => assert_eq!(m.client().rows(sums), [expected]),
            rows => assert_eq!(rows, [expected]),
        }
    }
}

#[test]
fn rows_that_the_destination_refuses_are_set_aside_one_by_one() {
    let options = format!("  continuous: false\n{QUEUE}");
    let m = Mirrored::postgres(fresh_database(), 0, &options);
    m.client().execute(
        "ALTER TABLE orders_mirror ADD CHECK (qty < 100), ALTER name TYPE varchar(5);
         INSERT INTO orders SELECT i, 'n', CASE WHEN i % 100 = 7 THEN 500 ELSE 1 END, 1, NULL, now()
         FROM generate_series(1, 300) AS i",
    );
    m.faucet.run("mirror").expect_code(0);
    assert_eq!(letters(&m.faucet), of("postgres.constraint_violated", &[7, 107, 207]));
    assert_eq!(m.client().one("SELECT count(*)::text FROM orders_mirror"), "297");
    // One transaction with good and bad rows, among them a changed key whose new row is refused.
    std::fs::remove_file(m.faucet.dir().join("rejected.jsonl")).unwrap();
    m.client().execute(
        "BEGIN;
         UPDATE orders SET qty = 2;
         UPDATE orders SET name = 'far too long' WHERE id IN (11, 12);
         UPDATE orders SET id = 1001, name = 'much too long' WHERE id = 13;
         DELETE FROM orders WHERE id = 14;
         UPDATE orders SET id = 1002 WHERE id = 15;
         COMMIT",
    );
    m.faucet.run("mirror").expect_code(0);
    // The two rows of the changed key stay together: the delete of 13 is set aside with what should have replaced it.
    assert_eq!(letters(&m.faucet), of("postgres.value_refused", &[11, 12, 13, 1001]));
    let found =
        m.client().rows("SELECT id::text, qty::text FROM orders_mirror WHERE id IN (11, 13, 14, 15, 1001, 1002)");
    let mut found: Vec<_> =
        found.into_iter().map(|row| row.into_iter().flatten().collect::<Vec<_>>().join(" ")).collect();
    found.sort();
    assert_eq!(found, ["1002 2", "11 2", "13 2"]);
}

#[test]
fn more_letters_than_allowed_stop_the_run_and_lose_nothing() {
    let options = format!("  continuous: false\n{}", QUEUE.replace("dlq: {", "dlq: { max_rows: 2,"));
    let m = Mirrored::postgres(fresh_database(), 10, &options);
    m.faucet.run("mirror").expect_code(0);
    m.client().execute(
        "ALTER TABLE orders_mirror ADD CONSTRAINT small CHECK (qty < 1000) NOT VALID; UPDATE orders SET qty = 1000",
    );
    let stopped = m.faucet.run("mirror");
    assert_ne!(stopped.code(), Some(0));
    assert!(stopped.stderr.contains("dlq.too_many_rows"), "{}", stopped.stderr);
    assert!(letters(&m.faucet).len() > 2);
    m.client().execute("ALTER TABLE orders_mirror DROP CONSTRAINT small");
    m.faucet.run("mirror").expect_code(0);
    m.settles();
}

#[test]
fn a_row_without_its_key_is_set_aside() {
    let database = fresh_database();
    database.client().execute("CREATE TABLE t (id int PRIMARY KEY, n int)");
    let url = database.url();
    for sink in [
        format!(
            "type: postgres, config: {{ connection_url: \"{url}\", table_name: t, write_mode: upsert, key: [id] }}"
        ),
        "type: sqlite, config: { path: ./t.db, table_name: t, create_table: true, write_mode: upsert, key: [id] }"
            .into(),
    ] {
        let faucet = Faucet::new(&format!(
            "version: 1\nname: m\npipeline:\n  source: {{ type: postgres, config: {{ connection_url: \"{url}\", \
             query: \"SELECT NULLIF(i, 5) AS id, i AS n FROM generate_series(1, 9) AS i\" }} }}\n  sink: {{ {sink} }}\n\
             \x20 {QUEUE}"
        ));
        faucet.run("run").expect_code(0);
        let text = std::fs::read_to_string(faucet.dir().join("rejected.jsonl")).unwrap();
        let letter: Value = serde_json::from_str(text.trim()).unwrap();
        assert_eq!(
            (&letter["code"], &letter["row"]),
            (&"sink.key_null".into(), &serde_json::json!({"id": null, "n": 5}))
        );
    }
    assert_eq!(database.client().one("SELECT count(*)::text FROM t"), "8");
}

#[test]
fn what_needs_a_queue_or_rules_one_out_is_said_before_the_run() {
    let m = Mirrored::postgres(fresh_database(), 0, "schema: { on_drift: quarantine }\n");
    let refused = m.faucet.run("validate").expect_code(2);
    assert!(refused.stderr.contains("`quarantine` needs a place"), "{}", refused.stderr);
    let m = Mirrored::postgres(fresh_database(), 0, &format!("delivery: exactly_once\n{QUEUE}"));
    let refused = m.faucet.run("validate").expect_code(2);
    assert!(refused.stderr.contains("can get a row twice"), "{}", refused.stderr);
    let queue = QUEUE.replace("jsonl }", "jsonl, write_mode: overwrite }");
    let m = Mirrored::postgres(fresh_database(), 0, &queue);
    let refused = m.faucet.run("validate").expect_code(2);
    assert!(refused.stderr.contains("has to append"), "{}", refused.stderr);
}
