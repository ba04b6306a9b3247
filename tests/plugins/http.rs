//! The sink `http`, as it comes with the binary, against a server that answers by a script.

use faucet_tests::{Faucet, HttpReply, HttpRequest, HttpServer};
use serde_json::{Value, json};

/// A pipeline from `in.jsonl` with these lines to `http` at a server. `sink` is added to its configuration.
fn faucet(server: &HttpServer, sink: Value, lines: &str) -> Faucet {
    let mut whole = json!({ "url": server.url("/in/{table}"), "retry": { "initial_ms": 20, "max_retries": 3 } });
    whole.as_object_mut().unwrap().extend(sink.as_object().unwrap().clone());
    let config = json!({
        "version": 1,
        "name": "hook",
        "plugins": { "http": {
            "secrets": { "key": "a-secret/value" },
            "grants": {
                "http": [format!("127.0.0.1:{}", server.port()), "127.0.0.0/8"], "secrets": ["key"], "clock": true,
            },
        }},
        "execution": { "retry": { "max_attempts": 3, "initial_backoff": "50ms" } },
        "pipeline": {
            "source": { "type": "jsonl", "config": { "path": "in.jsonl" } },
            "sink": { "type": "http", "config": whole },
            "dlq": { "sink": { "type": "jsonl", "config": { "path": "aside.jsonl" } } },
        },
    });
    let faucet = Faucet::new(&config.to_string());
    std::fs::write(faucet.dir().join("in.jsonl"), lines).unwrap();
    faucet
}

fn numbered(count: i64) -> String {
    (0..count).map(|id| format!("{{\"id\":{id}}}\n")).collect()
}

/// The ids in the body of a request.
fn ids(request: &HttpRequest) -> Vec<i64> {
    let rows: Vec<Value> = serde_json::from_slice(&request.body).unwrap();
    rows.iter().map(|row| row["id"].as_i64().unwrap()).collect()
}

#[test]
fn rows_arrive_in_batches() {
    let server = HttpServer::start(|_, _| HttpReply::status(202));
    let auth = json!({ "type": "api_key", "header": "X-Key", "secret": "key" });
    let faucet = faucet(&server, json!({ "batch_size": 40, "auth": auth }), &numbered(100));
    faucet.run("run").expect_code(0);
    let requests = server.requests();
    assert_eq!(requests.iter().flat_map(ids).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    assert_eq!(requests.iter().map(|request| ids(request).len()).collect::<Vec<_>>(), [40, 40, 20]);
    assert!(requests.iter().all(|r| (r.method.as_str(), r.path.as_str()) == ("POST", "/in/in")), "{requests:?}");
    assert!(requests.iter().all(|request| request.header("x-key") == "a-secret/value"));
}

#[test]
fn values_arrive_with_every_digit() {
    let server = HttpServer::start(|_, _| HttpReply::status(200));
    let line = r#"{"id":9223372036854775807,"amount":12345678901234567890.5,"doc":{"a":1.50},"none":null}"#;
    faucet(&server, json!({ "format": "lines" }), line).run("run").expect_code(0);
    assert_eq!(String::from_utf8(server.requests()[0].body.clone()).unwrap().trim_end(), line);
    assert_eq!(server.requests()[0].header("content-type"), "application/x-ndjson");
}

#[test]
fn a_request_is_sent_again_until_it_is_taken() {
    let server = HttpServer::start(|before, _| match before {
        0 => HttpReply::status(500),
        1 => HttpReply::hangup(),
        2 => HttpReply::status(429).header("retry-after", "1"),
        _ => HttpReply::status(200),
    });
    faucet(&server, json!({ "idempotency_header": "Idempotency-Key" }), &numbered(3)).run("run").expect_code(0);
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    assert!(requests.iter().all(|request| request == &requests[0]), "the same each time, and its key: {requests:?}");
    assert_eq!(requests[0].header("idempotency-key").len(), 64);
}

#[test]
fn rows_of_a_session_that_gave_up_are_sent_by_the_next() {
    let server = HttpServer::start(|before, _| HttpReply::status(if before < 3 { 503 } else { 200 }));
    let retry = json!({ "retry": { "initial_ms": 10, "max_retries": 1 } });
    faucet(&server, retry, &numbered(3)).run("run").expect_code(0);
    assert_eq!(ids(server.requests().last().unwrap()), [0, 1, 2]);
}

#[test]
fn rows_that_are_refused_are_set_aside() {
    let server = HttpServer::start(|_, request| {
        HttpReply::status(if ids(request).iter().any(|id| id % 10 == 7) { 422 } else { 200 })
    });
    let faucet = faucet(&server, json!({ "on_refused": "split", "batch_size": 16 }), &numbered(50));
    faucet.run("run").expect_code(0);
    let taken = server.requests().iter().flat_map(ids).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(taken.len(), 50, "each was sent");
    let aside = std::fs::read_to_string(faucet.dir().join("aside.jsonl")).unwrap();
    let aside: Vec<Value> = aside.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(aside.iter().map(|row| row["row"]["id"].as_i64().unwrap()).collect::<Vec<_>>(), [7, 17, 27, 37, 47]);
}

#[test]
fn what_a_server_refuses_is_said_without_the_rows() {
    let server = HttpServer::start(|_, _| HttpReply::text(422, "text/plain", "content"));
    let finished = faucet(&server, json!({}), "{\"id\":1,\"name\":\"cell\"}\n").run("run");
    assert!(finished.code() != Some(0) && finished.stderr.contains("422"), "{}", finished.stderr);
    assert!(!finished.stderr.contains("content") && !finished.stderr.contains("\"cell\""), "{}", finished.stderr);
    assert_eq!(server.requests().len(), 1);
}
