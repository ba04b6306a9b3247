//! `faucet doctor` and `faucet mirror drop`, from the command line.

use faucet_tests::fresh_database;
use faucet_tests::mirror::Mirrored;

fn slots(m: &Mirrored) -> String {
    m.client().one("SELECT count(*)::text FROM pg_replication_slots WHERE database = current_database()")
}

#[test]
fn a_doctor_looks_before_and_after_and_changes_nothing() {
    let m = Mirrored::postgres(fresh_database(), 20, "  continuous: false\n");
    let before = m.faucet.run("doctor").expect_code(0);
    assert!(before.stdout.contains("the mirror has not begun"), "{}", before.stdout);
    assert!(before.stdout.contains("does not exist yet; the first run makes it"), "{}", before.stdout);
    assert_eq!(slots(&m), "0");
    m.faucet.run("mirror").expect_code(0);
    let after = m.faucet.run("doctor").expect_code(0);
    for part in ["the snapshot is done", "is in it", "restart_lsn", "wal_status"] {
        assert!(after.stdout.contains(part), "no {part}:\n{}", after.stdout);
    }
    m.client().execute(&format!("SELECT pg_drop_replication_slot('{}_slot')", m.database.name()));
    let gone = m.faucet.run("doctor").expect_code(1);
    assert!(gone.stdout.contains("FAIL  slot"), "{}", gone.stdout);
    assert!(gone.stdout.contains("mirror --replace") && gone.stderr.contains("doctor.unwell"), "{}", gone.stderr);
    let config = m.faucet.config().display().to_string();
    let lines = m.faucet.run_with(&["doctor", "--output", "json", &config]).expect_code(1);
    let failed = lines.stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    assert_eq!(failed.filter(|finding| finding["grade"] == "FAIL").count(), 1, "{}", lines.stdout);
}

#[test]
fn a_dropped_mirror_leaves_no_slot_and_starts_anew() {
    let m = Mirrored::postgres(fresh_database(), 30, "  continuous: false\n");
    m.faucet.run("mirror").expect_code(0);
    let config = m.faucet.config().display().to_string();
    let unasked = m.faucet.run_with(&["mirror", "drop", &config]).expect_code(2);
    assert!(unasked.stderr.contains("mirror.not_confirmed") && unasked.stderr.contains("--yes"), "{}", unasked.stderr);
    assert_eq!(slots(&m), "1");
    m.faucet.run_with(&["mirror", "drop", "--yes", &config]).expect_code(0);
    assert_eq!(slots(&m), "0");
    let again = m.faucet.run_with(&["mirror", "drop", "--yes", &config]).expect_code(0);
    assert!(again.stdout.contains("it had no place at the source"), "{}", again.stdout);
    // What happened meanwhile is in the snapshot of the next life.
    m.client().execute("DELETE FROM orders_mirror; UPDATE orders SET qty = 77");
    m.faucet.run("mirror").expect_code(0);
    m.settles();
}

#[test]
fn a_doctor_looks_at_the_destination_too() {
    let m = Mirrored::postgres(fresh_database(), 5, "  continuous: false\n");
    let said = |code: i32| m.faucet.run("doctor").expect_code(code).stdout;
    assert!(said(0).contains("is there, with a unique index on (\"id\")"), "{}", said(0));
    let client = m.client();
    client.execute(
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$;
         CREATE TRIGGER audit BEFORE INSERT ON orders_mirror FOR EACH ROW EXECUTE FUNCTION f();
         CREATE TABLE lines (id bigint REFERENCES orders_mirror ON DELETE CASCADE)",
    );
    let warned = said(0);
    for part in ["triggers fire on copied rows: audit", "foreign keys bind its rows: lines_id_fkey of lines"] {
        assert!(warned.contains(part), "no {part}:\n{warned}");
    }
    client.execute("DROP TABLE lines; ALTER TABLE orders_mirror DROP CONSTRAINT orders_mirror_pkey");
    assert!(said(1).contains("has no primary key or unique constraint on (\"id\")"), "{}", said(1));
    client.execute("DROP TABLE orders_mirror");
    assert!(said(1).contains("does not exist"), "{}", said(1));
}

#[test]
fn a_doctor_says_what_the_writing_role_lacks() {
    let m = Mirrored::postgres(fresh_database(), 5, "  continuous: false\n");
    let server = faucet_tests::shared_postgres();
    let role = format!("writer_{}", m.database.name());
    server.create_role(&role, "pw", "");
    m.client().execute(&format!("GRANT SELECT, INSERT, UPDATE ON orders_mirror TO {role}"));
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    let sink = config.find("  sink:").unwrap();
    let (source, rest) = config.split_at(sink);
    let rest = rest.replacen(m.database.url(), &server.url_as(&role, "pw", m.database.name()), 1);
    m.faucet.set_config(&format!("{source}{rest}"));
    let said = m.faucet.run("doctor").expect_code(1).stdout;
    assert!(said.contains("this role lacks DELETE, TRUNCATE"), "{said}");
    assert!(said.contains("this role may not make it"), "{said}");
    // What the hints say is enough.
    m.client().execute(&format!(
        "GRANT DELETE, TRUNCATE ON orders_mirror TO \"{role}\"; GRANT CREATE ON SCHEMA public TO \"{role}\""
    ));
    m.faucet.run("doctor").expect_code(0);
    m.faucet.run("mirror").expect_code(0);
    m.settles();
    m.client().execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn a_doctor_makes_no_sqlite_file() {
    let m = Mirrored::sqlite(fresh_database(), 5, "", "  continuous: false\n");
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    let file = m.faucet.dir().join("mirror.db");
    m.faucet.set_config(&config.replace("write_mode: upsert", "create_table: false\n      write_mode: upsert"));
    let missing = m.faucet.run("doctor").expect_code(1).stdout;
    assert!(missing.contains("has no table \"orders_mirror\""), "{missing}");
    assert!(!file.exists());
    m.faucet.set_config(&config);
    let will = m.faucet.run("doctor").expect_code(0).stdout;
    assert!(will.contains("does not exist yet; the first run makes it") && !file.exists(), "{will}");
    m.faucet.run("mirror").expect_code(0);
    let there = m.faucet.run("doctor").expect_code(0).stdout;
    assert!(there.contains("table \"orders_mirror\" is there"), "{there}");
}
