//! Every error a new user makes first: what is wrong, where, and what to do.

use faucet_tests::mirror::Mirrored;
use faucet_tests::{Database, Faucet, Finished, Postgres, PostgresOptions, fresh_database, shared_postgres};

/// The error as printed, with what differs from run to run replaced.
fn shown(finished: &Finished, replaced: &[(&str, &str)]) -> String {
    let mut text = finished.stderr.clone();
    for (from, to) in replaced {
        text = text.replace(from, to);
    }
    assert!(!text.contains("panicked"), "{text}");
    // Log lines start with the time, and the summary ends with the duration.
    let timeless = |line: &str| match (line.split_once("  INFO "), line.split_once(" KiB in ")) {
        (Some((_, said)), _) => format!("INFO {said}\n"),
        (None, Some((counts, _))) => format!("{counts} KiB in ..\n"),
        (None, None) => format!("{line}\n"),
    };
    let text: String = text.lines().map(timeless).collect();
    format!("exit code {}\n{text}", finished.code().unwrap())
}

/// Runs `mirror` once with one text in a working configuration replaced, and expects it to fail.
fn broken(m: &Mirrored, from: &str, to: &str) -> String {
    let config = std::fs::read_to_string(m.faucet.config()).unwrap();
    assert!(config.contains(from), "the configuration has no {from}");
    m.faucet.set_config(&config.replacen(from, to, 1));
    let finished = m.faucet.run("mirror");
    assert_ne!(finished.code(), Some(0), "it was expected to fail");
    m.faucet.set_config(&config);
    let (port, dir) = (shared_postgres().port().to_string(), m.faucet.dir().display().to_string());
    shown(&finished, &[(m.database.name(), "DB"), (&port, "PORT"), (&dir, "DIR")])
}

fn mirrored() -> Mirrored {
    Mirrored::postgres(fresh_database(), 3, "  continuous: false\nexecution: { retry: { max_attempts: 1 } }\n")
}

#[test]
fn wrong_urls() {
    let m = mirrored();
    let url = m.database.url().to_owned();
    insta::assert_snapshot!("url_not_one", broken(&m, &url, "postgers://localhost/shop"));
    let refused = url.replace(&shared_postgres().port().to_string(), "1");
    insta::assert_snapshot!("url_refused", broken(&m, &url, &refused));
    let nowhere = url.replace("127.0.0.1", "no-such-host.invalid").replace("localhost", "no-such-host.invalid");
    insta::assert_snapshot!("url_unknown_host", broken(&m, &url, &nowhere));
}

#[test]
fn wrong_password_and_wrong_database() {
    let m = mirrored();
    let url = m.database.url().to_owned();
    let (before, after) = url.rsplit_once('@').unwrap();
    let user = before.rsplit_once(':').unwrap().0;
    let wrong = format!("{user}:not-the-password@{after}");
    let text = broken(&m, &url, &wrong);
    assert!(!text.contains("not-the-password"), "a password was printed:\n{text}");
    insta::assert_snapshot!("wrong_password", text);
    let elsewhere = url.replace(&format!("/{}", m.database.name()), "/no_such_database");
    insta::assert_snapshot!("no_such_database", broken(&m, &url, &elsewhere));
}

#[test]
fn no_logical_wal_level() {
    let server = Postgres::start(PostgresOptions { wal_level: "replica", ..PostgresOptions::default() });
    let m = Mirrored::postgres(Database::create_on(&server), 3, "  continuous: false\n");
    let finished = m.faucet.run("mirror").expect_code(1);
    let port = server.port().to_string();
    insta::assert_snapshot!("wal_level", shown(&finished, &[(m.database.name(), "DB"), (&port, "PORT")]));
}

#[test]
fn what_is_missing_at_the_servers() {
    let m = mirrored();
    let publication = format!("publication_name: {}_pub", m.database.name());
    insta::assert_snapshot!("no_publication", broken(&m, &publication, "publication_name: nope"));
    insta::assert_snapshot!("no_source_table", broken(&m, "SELECT * FROM orders", "SELECT * FROM ordres"));
    insta::assert_snapshot!("no_destination_table", broken(&m, "table_name: orders_mirror", "table_name: nope"));
    m.client().execute("ALTER TABLE orders_mirror DROP CONSTRAINT orders_mirror_pkey");
    insta::assert_snapshot!("no_primary_key", broken(&m, "version: 1", "version: 1"));
}

#[test]
fn what_is_wrong_in_the_file() {
    let m = mirrored();
    insta::assert_snapshot!("unknown_key", broken(&m, "slot_name:", "slotname:"));
    insta::assert_snapshot!("no_such_type", broken(&m, "type: postgres-cdc", "type: postgres_cdc"));
    insta::assert_snapshot!(
        "memory_state",
        broken(&m, "{ type: file, config: { path: ./state } }", "{ type: memory }")
    );
    insta::assert_snapshot!("no_variable", broken(&m, "name: m", "name: ${env:NO_SUCH_VARIABLE}"));
}

#[test]
fn plugins_that_are_not_there_or_not_the_ones() {
    let m = mirrored();
    let unwrap = "    - type: cdc_unwrap\n";
    let plugin = |entry: &str| format!("version: 1\nplugins:\n  mine: {entry}\n");
    let with_step = |m: &Mirrored, entry: &str| {
        let config = std::fs::read_to_string(m.faucet.config()).unwrap();
        m.faucet.set_config(&config.replacen(unwrap, &format!("{unwrap}    - type: mine\n"), 1));
        let text = broken(m, "version: 1\n", &plugin(entry));
        m.faucet.set_config(&config);
        text
    };
    insta::assert_snapshot!("no_plugin_file", with_step(&m, "{ path: ./mine.wasm }"));
    std::fs::write(m.faucet.dir().join("mine.wasm"), b"not a component").unwrap();
    insta::assert_snapshot!("not_a_component", with_step(&m, "{ path: ./mine.wasm }"));
    let zeros = "0".repeat(64);
    insta::assert_snapshot!("wrong_sha256", with_step(&m, &format!("{{ path: ./mine.wasm, sha256: \"{zeros}\" }}")));
}

#[test]
fn a_configuration_that_is_not_there() {
    let finished = Faucet::new("").run_with(&["validate", "nope.yaml"]).expect_code(2);
    insta::assert_snapshot!("no_configuration", shown(&finished, &[]));
}
