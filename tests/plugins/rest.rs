//! The source `rest`, as it comes with the binary, against a server that answers by a script.

use faucet_tests::{Faucet, HttpReply, HttpRequest, HttpServer};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A pipeline from `rest` at a server into `out.jsonl`. `source` is added to its configuration.
fn config(server: &HttpServer, source: Value) -> Value {
    let mut whole = json!({ "url": server.url("/rows"), "retry": { "initial_ms": 20, "max_retries": 3 } });
    whole.as_object_mut().unwrap().extend(source.as_object().unwrap().clone());
    json!({
        "version": 1,
        "name": "api",
        "plugins": { "rest": {
            "secrets": { "key": "a-secret/value" },
            "grants": {
                "http": [format!("127.0.0.1:{}", server.port()), "127.0.0.0/8"], "secrets": ["key"], "clock": true,
            },
        }},
        "execution": { "retry": { "max_attempts": 1 } },
        "pipeline": {
            "source": { "type": "rest", "config": whole },
            "sink": { "type": "jsonl", "config": { "path": "out.jsonl" } },
            "state": { "type": "file", "config": { "path": "./state" } },
        },
    })
}

fn faucet(server: &HttpServer, source: Value) -> Faucet {
    Faucet::new(&config(server, source).to_string())
}

/// The ids of the rows that were written.
fn ids(faucet: &Faucet) -> Vec<i64> {
    let text = std::fs::read_to_string(faucet.dir().join("out.jsonl")).unwrap_or_default();
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_i64().unwrap();
    text.lines().map(id).collect()
}

fn rows(ids: impl IntoIterator<Item = i64>) -> HttpReply {
    HttpReply::json(200, &ids.into_iter().map(|id| json!({ "id": id })).collect())
}

/// The server gives `fault` to its first requests, and then one row. What it was asked meanwhile is the same each time.
#[track_caller]
fn recovers(faults: usize, fault: impl Fn() -> HttpReply + Send + Sync + 'static) -> Duration {
    let server = HttpServer::start(move |before, _| if before < faults { fault() } else { rows([1]) });
    let faucet = faucet(&server, json!({}));
    let start = Instant::now();
    faucet.run("run").expect_code(0);
    assert_eq!(ids(&faucet), [1]);
    let requests = server.requests();
    assert_eq!(requests.len(), faults + 1);
    assert!(requests.iter().all(|request| request.path == "/rows"));
    start.elapsed()
}

/// The run fails, and says this; nothing of an answer or a secret.
#[track_caller]
fn fails(server: &HttpServer, source: Value, words: &str) {
    let finished = faucet(server, source).run("run");
    let said = format!("{}{}", finished.stdout, finished.stderr);
    // Long messages are wrapped.
    let plain = said.replace(['│', '\n'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(finished.code() != Some(0) && plain.contains(words), "{said}");
    assert!(!said.contains("a-secret/value") && !said.contains("content"), "{said}");
}

#[test]
fn a_server_that_fails_twice_is_asked_again() {
    recovers(2, || HttpReply::status(500));
}

#[test]
fn a_server_that_asks_to_come_back_is_given_the_time() {
    let took = recovers(1, || HttpReply::status(429).header("retry-after", "2"));
    assert!(took >= Duration::from_secs(2), "{took:?}");
}

#[test]
fn an_answer_that_is_cut_off_is_asked_for_again() {
    recovers(1, || rows(0..100).cut(50));
    recovers(1, HttpReply::hangup);
}

#[test]
fn an_answer_that_drips_ends_with_the_call() {
    let slow = Duration::from_millis(500);
    let server = HttpServer::start(move |before, _| if before == 0 { rows(0..10).drip(slow) } else { rows([1]) });
    let mut config = config(&server, json!({}));
    config["plugins"]["rest"]["limits"] = json!({ "deadline_ms": 2000 });
    config["execution"]["retry"] = json!({ "max_attempts": 3, "initial_backoff": "100ms" });
    let faucet = Faucet::new(&config.to_string());
    faucet.run("run").expect_code(0);
    assert_eq!(ids(&faucet), [1]);
}

#[test]
fn an_answer_that_is_no_json_says_what_it_is() {
    let server = HttpServer::start(|_, _| HttpReply::text(200, "text/html", "<html>content"));
    fails(&server, json!({}), "no JSON (line 1, column 1); the server says that it is text/html");
}

#[test]
fn cursors_in_a_circle_are_an_error() {
    let next = |request: &HttpRequest| if request.parameter("after") == "b" { "a" } else { "b" };
    let server = HttpServer::start(move |_, request| {
        HttpReply::json(200, &json!({ "data": [{ "id": 1 }], "next": next(request) }))
    });
    let pagination = json!({ "type": "Cursor", "next_token_path": "$.next", "param_name": "after" });
    fails(&server, json!({ "records_path": "$.data", "pagination": pagination }), "its pages go in a circle");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_secret_does_not_follow_a_redirect_to_another_host() {
    let other = HttpServer::start(|_, _| rows([1]));
    let target = other.url("/rows");
    let server = HttpServer::start(move |_, _| HttpReply::status(302).header("location", &target));
    let mut config = config(&server, json!({ "auth": { "type": "bearer", "secret": "key" } }));
    let grants = [server.port(), other.port()].map(|port| format!("127.0.0.1:{port}"));
    config["plugins"]["rest"]["grants"]["http"] = json!([grants[0], grants[1], "127.0.0.0/8"]);
    let finished = Faucet::new(&config.to_string()).run("run");
    assert!(finished.code() != Some(0) && finished.stderr.contains("another host"), "{}", finished.stderr);
    assert_eq!(server.requests()[0].header("authorization"), "Bearer a-secret/value");
    assert_eq!(other.requests(), []);
}

#[test]
fn a_token_that_the_server_took_back_is_replaced() {
    let server = HttpServer::start(|before, request| match (request.path.as_str(), before) {
        ("/token", _) => HttpReply::json(200, &json!({ "access_token": format!("t{before}"), "expires_in": 3600 })),
        // The first token is good for one page.
        (_, 1) => rows([1]),
        (_, 2) => HttpReply::status(401),
        (_, _) if request.parameter("page") == "2" && request.header("authorization") == "Bearer t3" => rows([2]),
        (_, _) => rows([]),
    });
    let auth = json!({ "type": "oauth2", "token_url": server.url("/token"), "client_id": "app", "secret": "key" });
    let faucet = faucet(&server, json!({ "auth": auth, "pagination": { "type": "PageNumber" } }));
    faucet.run("run").expect_code(0);
    assert_eq!(ids(&faucet), [1, 2]);
    let requests = server.requests();
    assert_eq!(requests[0].body, b"grant_type=client_credentials");
    assert_eq!(requests[0].header("authorization"), "Basic YXBwOmEtc2VjcmV0L3ZhbHVl");
}

#[test]
fn what_a_server_refuses_is_said_without_its_answer() {
    let server = HttpServer::start(|_, _| HttpReply::text(404, "text/plain", "content"));
    fails(&server, json!({ "auth": { "type": "bearer", "secret": "key" } }), "answered 404");
    assert_eq!(server.requests().len(), 1, "it would not change");
}

/// Records that the server has, as (id, time); a request says the least time.
fn since(records: &'static [(i64, &'static str)]) -> HttpServer {
    HttpServer::start(move |before, request| {
        let since = request.parameter("since").replace("%3A", ":");
        let known = if before < 2 { 3 } else { records.len() };
        let fresh = records[..known].iter().filter(|(_, at)| *at >= since.as_str());
        HttpReply::json(200, &fresh.map(|(id, at)| json!({ "id": id, "at": at })).collect())
    })
}

#[test]
fn a_second_run_reads_what_is_new_and_no_tie_is_skipped() {
    let server = since(&[
        (1, "2024-06-01T00:00:00Z"),
        (2, "2024-06-01T00:00:07Z"),
        (3, "2024-06-01T00:00:07Z"),
        (4, "2024-06-01T00:00:07Z"),
        (5, "2024-06-01T00:00:08Z"),
    ]);
    let faucet = faucet(
        &server,
        json!({
            "replication_method": { "type": "Incremental" }, "replication_key": "at",
            "replication_bind": { "into": "query", "name": "since" },
        }),
    );
    for wanted in [&[1, 2, 3][..], &[1, 2, 3], &[1, 2, 3, 4, 5]] {
        faucet.run("run").expect_code(0);
        assert_eq!(ids(&faucet), wanted);
    }
    let asked: Vec<String> = server.requests().iter().map(|r| r.parameter("since").to_owned()).collect();
    assert_eq!(asked, ["", "2024-06-01T00%3A00%3A07Z", "2024-06-01T00%3A00%3A07Z"]);
}

#[test]
fn a_run_that_breaks_off_is_read_again_and_loses_nothing() {
    // The greatest time is on the first page; the second page fails in the first run.
    let server = HttpServer::start(|before, request| match (request.parameter("after"), before) {
        ("", _) => HttpReply::json(200, &json!({ "data": [{ "id": 5, "at": 5 }], "next": "x" })),
        (_, 1) => HttpReply::status(404),
        (_, _) => HttpReply::json(200, &json!({ "data": [{ "id": 3, "at": 3 }] })),
    });
    let faucet = faucet(
        &server,
        json!({
            "records_path": "$.data", "replication_method": { "type": "Incremental" }, "replication_key": "at",
            "pagination": { "type": "Cursor", "next_token_path": "$.next", "param_name": "after" },
        }),
    );
    assert_ne!(faucet.run("run").code(), Some(0));
    faucet.run("run").expect_code(0);
    assert!(ids(&faucet).contains(&3) && ids(&faucet).contains(&5), "{:?}", ids(&faucet));
}

#[test]
fn values_arrive_as_they_were_written() {
    let text = r#"[{"id":9223372036854775807,"big":12345678901234567890,"long":0.12345678901234567891,"doc":{"a":[1.50]},"none":null}]"#;
    let server = HttpServer::start(move |_, _| HttpReply::text(200, "application/json", text));
    let faucet = faucet(&server, json!({}));
    faucet.run("run").expect_code(0);
    let written = std::fs::read_to_string(faucet.dir().join("out.jsonl")).unwrap();
    assert_eq!(written.trim_end(), text.trim_matches(['[', ']']));
}
