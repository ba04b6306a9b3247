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

/// Each with what the server would refuse, or the copy would lack.
#[test]
fn a_replica_identity_that_tells_no_rows_apart_is_named() {
    let ddl = "CREATE TABLE gone (id int PRIMARY KEY, x int NOT NULL DEFAULT 1); CREATE UNIQUE INDEX ux ON gone (x);
               ALTER TABLE gone REPLICA IDENTITY USING INDEX ux; DROP INDEX ux;
               CREATE TABLE keyless (x int NOT NULL); CREATE UNIQUE INDEX uy ON keyless (x);
               ALTER TABLE keyless REPLICA IDENTITY USING INDEX uy; DROP INDEX uy;
               CREATE TABLE late (id int PRIMARY KEY DEFERRABLE);
               CREATE TABLE nothing (id int PRIMARY KEY); ALTER TABLE nothing REPLICA IDENTITY NOTHING";
    let fixture = Fixture::new(ddl);
    let found = examine(&fixture.config, None);
    let bad: Vec<&Finding> =
        found.iter().filter(|f| f.grade != Grade::Fine && f.subject.starts_with("table")).collect();
    assert_eq!(bad.len(), 4, "{found:?}");
    for (table, words) in [
        ("gone", "index that is gone"),
        ("keyless", "index that is gone"),
        ("late", "no replica"),
        ("nothing", "no replica"),
    ] {
        let finding = bad.iter().find(|f| f.subject.contains(table)).unwrap_or_else(|| panic!("no {table} in {bad:?}"));
        assert!(finding.what.contains(words), "{finding:?}");
        // It is true: the server refuses; and what the hint says mends it.
        let refused = fixture.client().try_execute(&format!("INSERT INTO {table} VALUES (1); DELETE FROM {table}"));
        assert!(refused.is_err_and(|why| why.contains("replica identity")), "{table}");
    }
    fixture.sql(
        "ALTER TABLE gone REPLICA IDENTITY DEFAULT; ALTER TABLE nothing REPLICA IDENTITY DEFAULT;
                 ALTER TABLE keyless REPLICA IDENTITY FULL; ALTER TABLE late REPLICA IDENTITY FULL;
                 DELETE FROM gone; DELETE FROM keyless; DELETE FROM late; DELETE FROM nothing",
    );
    let mended = examine(&fixture.config, None);
    assert!(mended.iter().all(|f| f.grade == Grade::Fine || !f.subject.starts_with("table")), "{mended:?}");
}

#[test]
fn kinds_of_change_that_are_left_out_come_with_what_follows() {
    let fixture = Fixture::publishing(DDL, "FOR TABLE t WITH (publish = 'insert, truncate')");
    let warnings = graded(&examine(&fixture.config, None), Grade::Warning);
    let what = "leaves out: update, delete. At the destination changed rows keep their old values, deleted rows stay";
    assert!(has(&warnings, what), "{warnings:?}");
}

#[test]
fn rows_that_the_role_does_not_see_are_told_before_they_are_missed() {
    let ddl = "CREATE TABLE t (id int PRIMARY KEY, tenant text); ALTER TABLE t ENABLE ROW LEVEL SECURITY;
               CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child () INHERITS (parent)";
    let fixture = Fixture::publishing(ddl, "FOR TABLE t, parent");
    let server = shared_postgres();
    let role = format!("seer_{}", fixture.database.name());
    server.create_role(&role, "pw", "REPLICATION");
    fixture.sql(&format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"));
    let config = with(&fixture.config, "connection_url", json!(server.url_as(&role, "pw", fixture.database.name())));
    let found = examine(&config, None);
    assert!(has(&graded(&found, Grade::Failure), "row security hides rows"), "{found:?}");
    assert!(has(&graded(&found, Grade::Warning), "public.child inherit from it"), "{found:?}");
    server.connect("postgres").execute(&format!("ALTER ROLE {role} BYPASSRLS"));
    assert_eq!(graded(&examine(&config, None), Grade::Failure), [""; 0]);
    fixture.sql(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

/// The server reads its log with the catalog of then: a publication that is made anew doesn't help.
#[test]
fn a_publication_that_is_younger_than_the_slots_position_is_told_before_and_while_it_is_read() {
    let fixture = Fixture::new(DDL);
    let bookmark = fixture.capture();
    fixture.sql("DROP PUBLICATION pub");
    let gone = examine(&fixture.config, Some(&bookmark));
    let gone = gone.iter().find(|f| f.what.contains("does not exist")).unwrap();
    assert!(gone.hint.as_ref().is_some_and(|hint| hint.contains("mirror drop")), "{gone:?}");
    fixture.sql("INSERT INTO t VALUES (1); CREATE PUBLICATION pub FOR TABLE t; INSERT INTO t VALUES (2)");
    let error = match fixture.try_open(Some(bookmark.clone())) {
        Ok(mut stream) => loop {
            match stream.try_next() {
                Ok(batch) => assert!(batch.is_some_and(|batch| batch.rows() == 0), "rows came, without those before"),
                Err(error) => break error,
            }
        },
        Err(error) => error,
    };
    assert_eq!(error.code().id, "postgres.publication_gone", "{error:?}");
    assert!(error.hint_text().is_some_and(|hint| hint.contains("mirror drop")), "{error:?}");
    let version: u32 = fixture.client().one("SELECT current_setting('server_version_num')").parse().unwrap();
    if (150_000..180_000).contains(&version) {
        let found = examine(&fixture.config, Some(&bookmark));
        assert!(has(&graded(&found, Grade::Failure), "did not exist: it was dropped"), "{found:?}");
    }
    // One that is there from the start is no reason.
    fixture.sql(&format!("SELECT pg_drop_replication_slot('{}')", fixture.slot()));
    let bookmark = fixture.capture();
    fixture.sql("INSERT INTO t VALUES (3)");
    assert_eq!(graded(&examine(&fixture.config, Some(&bookmark)), Grade::Failure), [""; 0]);
    assert_eq!(fixture.resume(&bookmark).changes(), ["c t id=3"], "looking took nothing");
}
