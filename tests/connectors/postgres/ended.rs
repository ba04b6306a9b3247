//! A session that the server ended: what it said is told, not that the connection broke.

use faucet_connectors::postgres::error::from_driver;
use faucet_connectors::postgres::{ConnectionUrl, Endpoint};
use faucet_core::error::Retry;
use faucet_core::model::{Kind, ValueRef::I64};
use faucet_tests::{eventually, fresh_database};
use serde_json::json;
use std::time::Duration;

use super::support::{TestSink, block, page};

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_sink_whose_session_was_ended_says_by_whom() {
    let db = fresh_database();
    db.client().execute("CREATE TABLE t (id int PRIMARY KEY)");
    let mut sink = TestSink::open(&db, json!({ "table_name": "t" }));
    let of_sink = "FROM pg_stat_activity WHERE application_name = 'faucet:test' AND datname = current_database()";
    assert_eq!(db.client().one(&format!("SELECT count(pg_terminate_backend(pid)) {of_sink}")), "1");
    eventually(PATIENCE, "the session to be gone", || {
        match db.client().one(&format!("SELECT count(*) {of_sink}")).as_str() {
            "0" => Ok(()),
            some => Err(some.to_owned()),
        }
    });
    let error = sink.write(&page(&[("id", Kind::I64)], &[&[I64(1)]])).unwrap_err();
    assert_eq!((error.code().id, error.retry()), ("postgres.shutting_down", Retry::Backoff));
    assert!(error.to_string().contains("administrator command"), "{error}");
    assert!(error.hint_text().is_some_and(|hint| hint.contains("pg_terminate_backend")), "{error:?}");
}

#[test]
fn the_setting_that_ended_a_session_is_named() {
    let db = fresh_database();
    let version: u32 = db.client().one("SELECT current_setting('server_version_num')").parse().unwrap();
    let mut settings = vec![
        ("idle_session_timeout", "SELECT 1"),
        ("idle_in_transaction_session_timeout", "BEGIN"),
        ("lock_timeout", "LOCK TABLE held IN SHARE MODE"),
    ];
    if version >= 170_000 {
        settings.push(("transaction_timeout", "BEGIN"));
    }
    db.client().execute("CREATE TABLE held ()");
    let holder = db.connect();
    holder.execute("BEGIN; LOCK TABLE held");
    for (setting, then) in settings {
        let error = block(async {
            let endpoint = Endpoint::new(&ConnectionUrl::new(db.url()), None).unwrap();
            let session = endpoint.connect("test").await.unwrap();
            session.batch_execute(&format!("SET {setting} = '100ms'")).await.unwrap();
            let mut asked = match then {
                lock if lock.starts_with("LOCK") => session.batch_execute(&format!("BEGIN; {lock}")).await,
                other => session.batch_execute(other).await,
            };
            let began = std::time::Instant::now();
            while asked.is_ok() {
                assert!(began.elapsed() < PATIENCE, "{setting} ends nothing");
                if session.is_closed() {
                    asked = session.batch_execute("SELECT 1").await;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            session.explain(from_driver(&asked.unwrap_err()))
        });
        assert_eq!(error.retry(), Retry::Backoff, "{setting}: {error:?}");
        assert!(error.hint_text().is_some_and(|hint| hint.contains(setting)), "{setting}: {error:?}");
    }
}
