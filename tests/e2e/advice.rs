//! Advice that holds: each error is made to happen, its hint is followed, and the copy is equal then.

use faucet_tests::fresh_database;
use faucet_tests::mirror::Mirrored;

const ONE_SHOT: &str = "  continuous: false\n";

/// The code and the hint that a run ends with.
fn refused(m: &Mirrored) -> (String, String) {
    let ended = m.faucet.run_with(&["--output", "json", "mirror", "config.yaml"]);
    assert_ne!(ended.code(), Some(0), "the run was to fail:\n{}", ended.stderr);
    let mut lines = ended.stderr.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let error = lines.rfind(|line| line["error"].is_string());
    let error = error.unwrap_or_else(|| panic!("no error in:\n{}", ended.stderr));
    (error["error"].as_str().unwrap().to_owned(), error["hint"].as_str().unwrap_or_default().to_owned())
}

fn slot(m: &Mirrored) -> String {
    format!("{}_slot", m.database.name())
}

/// What leaves a copy that no stream can mend, and the code that says so.
const UNREPAIRABLE: &[(&str, &str)] = &[
    ("postgres.slot_missing", "SELECT pg_drop_replication_slot('{slot}')"),
    ("postgres.slot_ahead", "SELECT pg_replication_slot_advance('{slot}', pg_current_wal_lsn())"),
    (
        "postgres.publication_gone",
        "DROP PUBLICATION {pub}; UPDATE orders SET qty = 1 WHERE id = 2; CREATE PUBLICATION {pub} FOR TABLE orders",
    ),
];

#[test]
fn what_no_stream_can_mend_is_mended_by_mirroring_anew() {
    for (code, trouble) in UNREPAIRABLE {
        let m = Mirrored::postgres(fresh_database(), 30, ONE_SHOT);
        m.faucet.run("mirror").expect_code(0);
        m.client().execute("DELETE FROM orders WHERE id % 3 = 0; UPDATE orders SET qty = 77 WHERE id = 1");
        let publication = format!("{}_pub", m.database.name());
        for statement in trouble.replace("{slot}", &slot(&m)).replace("{pub}", &publication).split("; ") {
            m.client().execute(statement);
        }
        let (found, hint) = refused(&m);
        assert!(found == *code || found.starts_with("mirror."), "{code}: {found}");
        assert!(hint.contains("faucet mirror drop") && hint.contains("faucet mirror --replace"), "{code}: {hint}");
        anew(&m);
    }
}

/// The state, whole or in part, is damaged or gone.
#[test]
fn state_that_is_damaged_says_how_to_begin_anew() {
    for (file, content) in [("cdc", None), ("__replication__", Some("{}")), ("cdc", Some("garbage"))] {
        let m = Mirrored::postgres(fresh_database(), 30, ONE_SHOT);
        m.faucet.run("mirror").expect_code(0);
        m.client().execute("DELETE FROM orders WHERE id % 3 = 0");
        let state = std::fs::read_dir(m.faucet.dir().join("state")).unwrap().flatten().map(|entry| entry.path());
        let path = state.filter(|path| path.to_string_lossy().contains(file)).last().expect("the state is there");
        match content {
            Some(content) => std::fs::write(&path, content).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let (code, hint) = refused(&m);
        assert!(hint.contains("faucet mirror drop"), "{file} {content:?}: {code}: {hint}");
        anew(&m);
    }
}

/// `faucet mirror drop`, then `faucet mirror --replace`.
fn anew(m: &Mirrored) {
    m.faucet.run_with(&["mirror", "drop", "--yes", "config.yaml"]).expect_code(0);
    m.faucet.run_with(&["mirror", "--replace", "config.yaml"]).expect_code(0);
    m.settles();
    m.client().execute("UPDATE orders SET qty = 99 WHERE id = 4");
    m.faucet.run("mirror").expect_code(0);
    m.settles();
}

/// A table can have one primary key, and this one has another.
#[test]
fn a_destination_with_another_primary_key_gets_the_index_that_it_lacks() {
    let m = Mirrored::postgres(fresh_database(), 10, ONE_SHOT);
    m.client().execute("ALTER TABLE orders_mirror DROP CONSTRAINT orders_mirror_pkey; ALTER TABLE orders_mirror ADD n serial PRIMARY KEY");
    let (code, hint) = refused(&m);
    assert_eq!(code, "postgres.no_unique_key");
    let statement = hint.strip_prefix("run: ").expect("the hint is a statement");
    m.client().execute(statement);
    m.faucet.run("mirror").expect_code(0);
    m.settles();
}

/// A change that the log has without the old key stays without it, whatever the replica identity is now.
#[test]
fn a_key_that_the_log_does_not_have_is_no_matter_of_the_replica_identity_alone() {
    let m = Mirrored::postgres(fresh_database(), 10, ONE_SHOT);
    m.client().execute(
        "ALTER TABLE orders_mirror DROP CONSTRAINT orders_mirror_pkey; CREATE UNIQUE INDEX ON orders_mirror (name)",
    );
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    let by_name = config
        .replace("- type: cdc_unwrap", "- type: cdc_unwrap\n      config: { key: [name] }")
        .replace("key: [id]", "key: [name]");
    m.faucet.set_config(&by_name);
    m.faucet.run("mirror").expect_code(0);
    m.client().execute("DELETE FROM orders WHERE id = 3");
    let (code, hint) = refused(&m);
    assert_eq!(code, "cdc.key_not_in_old_image");
    assert!(hint.contains("faucet mirror drop"), "{hint}");
    m.client().execute("ALTER TABLE orders REPLICA IDENTITY FULL");
    assert_eq!(refused(&m).0, code, "the log has the change as it was written");
    anew(&m);
    m.client().execute("DELETE FROM orders WHERE id = 5");
    m.faucet.run("mirror").expect_code(0);
    m.settles();
}

/// A slot of that name that is not this mirror's is not dropped with it.
#[test]
fn dropping_a_mirror_leaves_the_slots_of_others_alone() {
    let m = Mirrored::postgres(fresh_database(), 5, ONE_SHOT);
    let (name, elsewhere) = (slot(&m), fresh_database());
    for (client, make, code) in [
        (m.client(), "pg_create_physical_replication_slot", "postgres.slot_plugin"),
        (elsewhere.client(), "pg_create_logical_replication_slot", "postgres.slot_wrong_database"),
    ] {
        let plugin = if make.contains("logical") { ", 'pgoutput'" } else { "" };
        client.execute(&format!("SELECT {make}('{name}'{plugin})"));
        let kept = m.faucet.run_with(&["mirror", "drop", "--yes", "config.yaml"]);
        assert!(kept.stderr.contains(code), "{}", kept.stderr);
        client.execute(&format!("SELECT pg_drop_replication_slot('{name}')"));
    }
}
