//! `examine`: what is wrong at the source is found before it hurts, and nothing is changed by looking.

use super::Fixture;
use faucet_core::ports::{Bookmark, Finding, Grade};
use faucet_tests::{runtime, shared_postgres};
use serde_json::{Value, json};

const DDL: &str = "CREATE TABLE t (id int PRIMARY KEY)";

fn examine(config: &Value, bookmark: Option<&Bookmark>) -> Vec<Finding> {
    let mut capture = super::connector().capture(config).unwrap();
    let bookmark = bookmark.cloned();
    runtime::wait(async move { capture.examine(bookmark.as_ref()).await }).unwrap()
}

fn with(config: &Value, key: &str, value: Value) -> Value {
    let mut config = config.clone();
    config[key] = value;
    config
}

/// The findings of this grade as `subject: what`.
fn graded(findings: &[Finding], grade: Grade) -> Vec<String> {
    findings.iter().filter(|f| f.grade == grade).map(|f| format!("{}: {}", f.subject, f.what)).collect()
}

fn has(lines: &[String], part: &str) -> bool {
    lines.iter().any(|line| line.contains(part))
}

#[test]
fn a_source_in_order_has_no_failure_and_is_left_alone() {
    let fixture = Fixture::new(DDL);
    let before = examine(&fixture.config, None);
    assert_eq!(graded(&before, Grade::Failure), [""; 0]);
    assert!(has(&graded(&before, Grade::Fine), "does not exist yet"), "{before:?}");
    let slots = "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()";
    assert_eq!(fixture.client().one(slots), "0");
    let bookmark = fixture.capture();
    let after = examine(&fixture.config, Some(&bookmark));
    assert_eq!(graded(&after, Grade::Failure), [""; 0]);
    let fine = graded(&after, Grade::Fine);
    for part in [
        "wal_level: logical",
        "may replicate",
        "is in it",
        "is not being read now",
        "restart_lsn",
        "replica identity is the primary key",
    ] {
        assert!(has(&fine, part), "no {part} in {fine:?}");
    }
    let mut stream = fixture.open();
    assert!(has(&graded(&examine(&fixture.config, None), Grade::Fine), "is being read, by server process"));
    stream.close();
}

#[test]
fn tables_and_publications_that_will_hurt_are_named() {
    let ddl = "CREATE TABLE bare (x int); CREATE TABLE part (id int PRIMARY KEY, a int, b int)";
    let fixture = Fixture::publishing(ddl, "FOR TABLE bare, part (id, a) WHERE (id > 10) WITH (publish = 'insert')");
    let found = examine(&fixture.config, None);
    let covered = "covers only rows of \"public\".\"part\" WHERE (id > 10) and columns (id, a) of \"public\".\"part\"";
    assert!(has(&graded(&found, Grade::Fine), covered), "{found:?}");
    let warnings = graded(&found, Grade::Warning);
    for part in ["table \"public\".\"bare\": has no replica identity", "leaves out: update, delete, truncate"] {
        assert!(has(&warnings, part), "no {part} in {warnings:?}");
    }
}

#[test]
fn what_keeps_a_stream_from_working_is_a_failure_with_a_remedy() {
    let fixture = Fixture::new(DDL);
    let bookmark = fixture.capture();
    let failures = |config: &Value, bookmark: Option<&Bookmark>| {
        let found = examine(config, bookmark);
        assert!(found.iter().all(|f| f.grade != Grade::Failure || f.hint.is_some()), "{found:?}");
        graded(&found, Grade::Failure)
    };
    let no_publication = with(&fixture.config, "publication_name", json!("nope"));
    assert!(has(&failures(&no_publication, None), "publication \"nope\" does not exist"));
    let no_slot = with(&fixture.config, "slot_name", json!("nope"));
    assert!(has(&failures(&no_slot, Some(&bookmark)), "replication slot \"nope\" does not exist"));
    let elsewhere = Bookmark(json!({"lsn": "0/1", "system": "1", "timeline": 1}));
    let failed = failures(&fixture.config, Some(&elsewhere));
    assert!(has(&failed, "replication connection: the bookmark is one of server 1"), "{failed:?}");
}

#[test]
fn a_role_that_may_not_replicate_or_read_is_told() {
    let fixture = Fixture::new(DDL);
    let server = shared_postgres();
    server.create_role("doctor_plain", "pw", "");
    let url = server.url_as("doctor_plain", "pw", fixture.database.name());
    let config = with(&fixture.config, "connection_url", json!(url));
    let failures = graded(&examine(&config, None), Grade::Failure);
    for part in ["role: \"doctor_plain\" may not replicate", "replication connection", "may not read it"] {
        assert!(has(&failures, part), "no {part} in {failures:?}");
    }
}

#[test]
fn failover_needs_a_server_that_has_it() {
    let fixture = Fixture::new(DDL).with(json!({"failover": true}));
    let version: u32 = fixture.client().one("SELECT current_setting('server_version_num')").parse().unwrap();
    let captured = super::try_capture(&fixture.config);
    if version < 170_000 {
        let error = captured.unwrap_err();
        assert_eq!(error.code().id, "postgres.version_unsupported");
        assert!(error.to_string().contains("needs PostgreSQL 17"), "{error}");
    } else {
        captured.unwrap();
        let sql = "SELECT failover FROM pg_replication_slots WHERE database = current_database()";
        assert_eq!(fixture.client().one(sql), "t");
    }
}
