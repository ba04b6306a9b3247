//! The source's columns change while a mirror follows: the `schema` block.

use faucet_tests::mirror::Mirrored;
use faucet_tests::{Client, fresh_database};

const ONCE: &str = "  continuous: false\n";

/// Columns and types of a table.
fn columns(client: &Client, table: &str) -> Vec<String> {
    let sql = format!(
        "SELECT attname || ' ' || format_type(atttypid, atttypmod) FROM pg_attribute
         WHERE attrelid = '{table}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname"
    );
    client.rows(&sql).into_iter().map(|row| row[0].clone().unwrap_or_default()).collect()
}

fn rows(client: &Client, table: &str) -> Vec<String> {
    let rows = client.rows(&format!("SELECT to_jsonb(t)::text FROM {table} t ORDER BY id"));
    rows.into_iter().map(|row| row[0].clone().unwrap_or_default()).collect()
}

fn mirrored(schema: &str) -> Mirrored {
    let m = Mirrored::postgres(fresh_database(), 20, &format!("{ONCE}{schema}"));
    m.faucet.run("mirror").expect_code(0);
    m.settles();
    m
}

#[test]
fn new_and_wider_columns_reach_the_destination_with_their_types() {
    let m = mirrored("schema: { on_drift: evolve }\n");
    m.client().execute(
        "BEGIN;
         UPDATE orders SET qty = qty + 1 WHERE id < 5;
         ALTER TABLE orders ADD COLUMN weight numeric(10,3), ADD COLUMN \"Tags and more\" text[];
         UPDATE orders SET weight = 1.500, \"Tags and more\" = '{a,NULL,\"b c\"}' WHERE id = 1;
         ALTER TABLE orders ALTER COLUMN qty TYPE bigint;
         UPDATE orders SET qty = 5000000000 WHERE id = 2;
         INSERT INTO orders SELECT 1001, 'new', 6000000000, 1.25, NULL, now(), 2.000;
         COMMIT;
         ALTER TABLE orders ADD COLUMN mood int;
         UPDATE orders SET mood = id WHERE id > 10",
    );
    m.faucet.run("mirror").expect_code(0);
    assert_eq!(columns(m.client(), "orders_mirror"), columns(m.client(), "orders"));
    assert_eq!(rows(m.client(), "orders_mirror"), rows(m.client(), "orders"));
    // A column that the source drops stays at the destination, with its values.
    m.client().execute("ALTER TABLE orders DROP COLUMN mood; UPDATE orders SET weight = 9 WHERE id = 11");
    m.faucet.run("mirror").expect_code(0);
    assert_eq!(m.client().one("SELECT weight || ' ' || mood FROM orders_mirror WHERE id = 11"), "9.000 11");
}

#[test]
fn an_older_schema_that_is_read_again_undoes_nothing() {
    let mut m = mirrored("schema: { on_drift: evolve }\n");
    m.client()
        .execute("UPDATE orders SET qty = 1; ALTER TABLE orders ADD COLUMN extra int; UPDATE orders SET extra = id");
    // Killed after the rows were committed, before that was recorded: all of it comes again.
    m.faucet.set_env("FAUCET_FAILPOINT", "after_sink_commit");
    let killed = m.faucet.run("mirror");
    assert_eq!(killed.code(), None, "it was expected to die:\n{}", killed.stderr);
    assert_eq!(m.client().one("SELECT count(extra)::text FROM orders_mirror"), "20");
    m.faucet.set_env("FAUCET_FAILPOINT", "");
    m.faucet.run("mirror").expect_code(0);
    assert_eq!(rows(m.client(), "orders_mirror"), rows(m.client(), "orders"));
}

#[test]
fn sqlite_gets_new_columns_too() {
    let m = Mirrored::sqlite(fresh_database(), 5, "", &format!("{ONCE}schema: {{ on_drift: evolve }}\n"));
    m.faucet.run("mirror").expect_code(0);
    m.client().execute("ALTER TABLE orders ADD COLUMN extra int; UPDATE orders SET extra = id * 2 WHERE id <= 2");
    m.faucet.run("mirror").expect_code(0);
    let found = m.sqlite_rows("SELECT id, extra FROM orders_mirror ORDER BY id LIMIT 3");
    let found: Vec<_> = found.into_iter().map(|row| row[1].clone()).collect();
    assert_eq!(found, [Some("2".to_owned()), Some("4".to_owned()), None]);
}

/// PostgreSQL adds a column with a default without touching the rows, and so no change tells of what they hold then.
const FILLED: &str = "ALTER TABLE orders ADD COLUMN n int NOT NULL DEFAULT 7, ADD COLUMN label text DEFAULT 'it''s \\ \"new\"',
    ADD COLUMN tags text[] DEFAULT '{a,NULL,\"b c\"}', ADD COLUMN weight numeric(10,3) DEFAULT 1.500,
    ADD COLUMN since timestamptz DEFAULT '2024-02-29 12:00+02', ADD COLUMN raw bytea DEFAULT '\\x00ff', ADD COLUMN ok bool DEFAULT true,
    ADD COLUMN doc jsonb DEFAULT '{\"a\": [1, null]}', ADD COLUMN area box DEFAULT '(2,2),(0,0)', ADD COLUMN empty text DEFAULT '', ADD COLUMN none text DEFAULT NULL;
    UPDATE orders SET n = 8, label = NULL WHERE id = 3; ALTER TABLE orders ALTER COLUMN n SET DEFAULT 9";

#[test]
fn rows_that_were_there_get_what_a_new_column_holds_at_the_source() {
    let m = mirrored("schema: { on_drift: evolve }\n");
    m.client().execute(FILLED);
    m.faucet.run("mirror").expect_code(0);
    assert_eq!(rows(m.client(), "orders_mirror"), rows(m.client(), "orders"));
    let defaults = "SELECT count(*) FROM pg_attrdef WHERE adrelid = 'orders_mirror'::regclass";
    assert_eq!(m.client().one(defaults), "0", "the default itself is the source's");
}

#[test]
fn in_sqlite_they_get_it_too() {
    let m = Mirrored::sqlite(fresh_database(), 5, "", &format!("{ONCE}schema: {{ on_drift: evolve }}\n"));
    m.faucet.run("mirror").expect_code(0);
    m.client().execute(FILLED);
    m.faucet.run("mirror").expect_code(0);
    let found = m.sqlite_rows(
        "SELECT n, label, tags, weight, since, hex(raw), ok, doc, area, empty, none IS NULL FROM orders_mirror WHERE id IN (2, 3) ORDER BY id",
    );
    let expected = |n: &str, label: Option<&str>| {
        let others = [
            "{a,NULL,\"b c\"}",
            "1.500",
            "2024-02-29 10:00:00+00:00",
            "00FF",
            "1",
            "{\"a\": [1, null]}",
            "(2,2),(0,0)",
            "",
            "1",
        ];
        let all = [Some(n), label].into_iter().chain(others.map(Some));
        all.map(|value| value.map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(found, [expected("7", Some("it's \\ \"new\"")), expected("8", None)]);
}

#[test]
fn without_a_word_a_new_column_stops_the_mirror_and_nothing_is_lost() {
    let m = mirrored("");
    m.client().execute("ALTER TABLE orders ADD COLUMN extra int; UPDATE orders SET extra = 7, qty = 70 WHERE id = 3");
    let stopped = m.faucet.run("mirror");
    assert_ne!(stopped.code(), Some(0));
    for part in ["postgres.column_missing", "has no column \"extra\"", "on_drift: evolve"] {
        assert!(stopped.stderr.contains(part), "no {part}:\n{}", stopped.stderr);
    }
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    m.faucet.set_config(&format!("{config}schema: {{ on_drift: warn }}\n"));
    let warned = m.faucet.run("mirror").expect_code(0);
    assert!(warned.stderr.contains("left out") && warned.stderr.contains("extra"), "{}", warned.stderr);
    assert_eq!(m.client().one("SELECT qty::text FROM orders_mirror WHERE id = 3"), "70");
    assert!(!columns(m.client(), "orders_mirror").iter().any(|column| column.starts_with("extra")));
    m.faucet.set_config(&format!("{config}schema: {{ on_drift: ignore }}\n"));
    m.client().execute("UPDATE orders SET extra = 8, qty = 80 WHERE id = 3");
    let ignored = m.faucet.run("mirror").expect_code(0);
    assert!(!ignored.stderr.contains("left out"), "{}", ignored.stderr);
    assert_eq!(m.client().one("SELECT qty::text FROM orders_mirror WHERE id = 3"), "80");
}

#[test]
fn a_type_that_does_not_fit_stops_the_mirror_unless_it_may_stay() {
    let m = mirrored("schema: { on_drift: evolve }\n");
    m.client().execute(
        "UPDATE orders SET qty = 5 WHERE id = 1;
         ALTER TABLE orders ALTER COLUMN qty TYPE text;
         UPDATE orders SET qty = '6' WHERE id = 1",
    );
    let stopped = m.faucet.run("mirror");
    assert_ne!(stopped.code(), Some(0));
    for part in ["sink.type_incompatible", "is text at the source, and integer", "on_incompatible: keep"] {
        assert!(stopped.stderr.contains(part), "no {part}:\n{}", stopped.stderr);
    }
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    m.faucet.set_config(&config.replace("on_drift: evolve", "on_drift: evolve, on_incompatible: keep"));
    m.faucet.run("mirror").expect_code(0);
    assert_eq!(m.client().one("SELECT qty::text FROM orders_mirror WHERE id = 1"), "6");
    m.client().execute("UPDATE orders SET qty = 'many' WHERE id = 1");
    let refused = m.faucet.run("mirror");
    assert!(refused.stderr.contains("postgres.value_refused"), "{}", refused.stderr);
    assert_eq!(m.client().one("SELECT qty::text FROM orders_mirror WHERE id = 1"), "6");
}
