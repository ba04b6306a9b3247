#![allow(clippy::unwrap_used)]

use super::*;
use faucet_sdk::http::Response;
use faucet_sdk::serde_json::{Value, from_value, json};
use faucet_sdk::testing::page_from_json;
use std::collections::VecDeque;

/// Refuses bodies that hold a word, answers in turn before that, and remembers what was sent.
#[derive(Debug, Default)]
struct Script {
    statuses: VecDeque<u16>,
    refuse: Option<(&'static str, u16)>,
    sent: Vec<Call>,
}

impl Transport for Script {
    fn send(&mut self, call: &Call, _: Duration) -> Result<Response> {
        self.sent.push(call.clone());
        let body = String::from_utf8(call.body.clone().unwrap()).unwrap();
        let refused = self.refuse.filter(|(word, _)| body.contains(word)).map(|(_, status)| status);
        let status = self.statuses.pop_front().or(refused).unwrap_or(200);
        Ok(Response { status, headers: Vec::new(), body: Vec::new() })
    }
}

fn session(config: Value, script: Script) -> Session<Script> {
    let mut whole = json!({ "url": "https://h/{table}", "retry": { "initial_ms": 0, "max_retries": 2 } });
    whole.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
    let config: Config = from_value(whole).unwrap();
    crate::check(&config).unwrap();
    Session::new(config, "p", script)
}

/// Writes a page with one column.
fn write(session: &mut Session<Script>, table: &str, values: &[&str]) -> Result<Vec<Rejected>> {
    let columns = json!([{ "name": "v", "kind": "text", "values": values }]);
    let page = page_from_json(&json!({ "table": table, "key": [], "columns": columns })).unwrap();
    session.write(faucet_sdk::testing::view(&page))
}

fn bodies(session: &Session<Script>) -> Vec<String> {
    let sent = &session.client.transport().sent;
    sent.iter().map(|call| String::from_utf8(call.body.clone().unwrap()).unwrap().replace("\"v\":", "")).collect()
}

#[test]
fn rows_wait_for_a_full_request_or_a_commit() {
    let mut session = session(json!({ "batch_size": 2 }), Script::default());
    write(&mut session, "t", &["a"]).unwrap();
    assert_eq!(bodies(&session), [""; 0]);
    write(&mut session, "t", &["b", "c"]).unwrap();
    assert_eq!(bodies(&session), [r#"[{"a"},{"b"}]"#]);
    session.commit().unwrap();
    session.commit().unwrap();
    assert_eq!(bodies(&session), [r#"[{"a"},{"b"}]"#, r#"[{"c"}]"#]);
    assert_eq!(session.client.transport().sent[0].url, "https://h/t");
}

#[test]
fn each_table_has_its_own_requests() {
    let mut session = session(json!({ "format": "lines" }), Script::default());
    write(&mut session, "t", &["a"]).unwrap();
    write(&mut session, "u/v", &["b"]).unwrap();
    session.commit().unwrap();
    let urls: Vec<&str> = session.client.transport().sent.iter().map(|call| call.url.as_str()).collect();
    assert_eq!(
        (urls, bodies(&session)),
        (vec!["https://h/t", "https://h/u%2Fv"], vec!["{\"a\"}\n".into(), "{\"b\"}\n".into()])
    );
}

#[test]
fn requests_are_small_and_may_hold_one_row() {
    let mut bytes = session(json!({ "batch_bytes": 10 }), Script::default());
    write(&mut bytes, "t", &["a", "b", "longer than ten bytes"]).unwrap();
    bytes.commit().unwrap();
    assert_eq!(bodies(&bytes).len(), 2, "{:?}", bodies(&bytes));
    let mut rows = session(json!({ "format": "row" }), Script::default());
    write(&mut rows, "t", &["a", "b"]).unwrap();
    assert_eq!(bodies(&rows), [r#"{"a"}"#, r#"{"b"}"#]);
}

#[test]
fn a_request_is_sent_again_with_the_same_key() {
    let script = Script { statuses: [503, 429, 201].into(), ..Script::default() };
    let mut session = session(json!({ "idempotency_header": "Idempotency-Key" }), script);
    write(&mut session, "t", &["a"]).unwrap();
    session.commit().unwrap();
    let sent = &session.client.transport().sent;
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|call| call == &sent[0]));
    let key = sent[0].headers.iter().find(|(name, _)| name == "idempotency-key").map(|(_, value)| value.clone());
    assert_eq!(key.as_deref().map(str::len), Some(64));
    write(&mut session, "u", &["a"]).unwrap();
    session.commit().unwrap();
    let sent = &session.client.transport().sent;
    assert_ne!(sent[3].headers.iter().find(|(name, _)| name == "idempotency-key").map(|(_, value)| value.clone()), key);
}

#[test]
fn what_is_never_taken_is_an_error() {
    let script = Script { statuses: [500, 500, 500].into(), ..Script::default() };
    let mut down = session(json!({}), script);
    write(&mut down, "t", &["a"]).unwrap();
    assert!(down.commit().unwrap_err().is_unavailable());
    let mut refused = session(json!({}), Script { refuse: Some(("bad", 422)), ..Script::default() });
    write(&mut refused, "t", &["fine", "bad"]).unwrap();
    let error = refused.commit().unwrap_err().to_string();
    assert!(error.contains("422") && !error.contains("bad"), "{error}");
}

#[test]
fn refused_rows_are_found_in_halves() {
    let script = Script { refuse: Some(("bad", 422)), ..Script::default() };
    let mut session = session(json!({ "on_refused": "split", "batch_size": 4 }), script);
    let rows = ["a", "b", "bad c", "d", "e", "bad f", "g"];
    let rejected: Vec<usize> = write(&mut session, "t", &rows).unwrap().into_iter().map(|row| row.row).collect();
    assert_eq!(rejected, [2, 5]);
    let taken: Vec<String> = bodies(&session).into_iter().filter(|body| !body.contains("bad")).collect();
    assert_eq!(taken, [r#"[{"a"},{"b"}]"#, r#"[{"d"}]"#, r#"[{"e"}]"#, r#"[{"g"}]"#]);
    session.commit().unwrap();
    let script = Script { refuse: Some(("bad", 404)), ..Script::default() };
    let mut wrong = super::tests::session(json!({ "on_refused": "split" }), script);
    assert!(write(&mut wrong, "t", &["bad"]).is_err(), "that is no row's fault");
}

#[test]
fn a_wrong_configuration_says_where() {
    let cases = [
        (json!({ "url": "h" }), "url"),
        (json!({ "url": "https://{table}/x" }), "url"),
        (json!({ "url": "https://h/${secret:a}" }), "url"),
        (json!({ "url": "https://h", "batch_size": 0 }), "batch_size"),
        (json!({ "url": "https://h", "idempotency_header": "" }), "idempotency_header"),
        (json!({ "url": "https://h", "auth": { "type": "basic", "username": "a:b", "secret": "c" } }), "auth.username"),
    ];
    for (config, path) in cases {
        let error = crate::check(&from_value(config.clone()).unwrap()).unwrap_err();
        assert_eq!(error.problems()[0].0, path, "{config}");
    }
}
