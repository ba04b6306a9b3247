#![allow(clippy::unwrap_used)]

use super::*;
use crate::config::Config;
use faucet_sdk::serde_json::{Value, from_value, json};

/// Answers in turn, and remembers what was asked.
#[derive(Debug, Default)]
struct Script(VecDeque<Result<Response>>, Vec<Call>);

impl Transport for Script {
    fn send(&mut self, call: &Call, _: Duration) -> Result<Response> {
        self.1.push(call.clone());
        self.0.pop_front().expect("no further request")
    }
}

fn answer(status: u16, body: &str) -> Result<Response> {
    Ok(Response { status, headers: Vec::new(), body: body.as_bytes().to_vec() })
}

fn session(config: Value, bookmark: Option<&Bookmark>, answers: &[&str]) -> Session<Script> {
    let mut whole = json!({ "url": "https://h/orders" });
    whole.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
    let plan = Plan::new(from_value::<Config>(whole).unwrap()).unwrap();
    let answers = answers.iter().map(|body| answer(200, body)).collect();
    Session::new(plan, Script(answers, Vec::new()), bookmark).unwrap()
}

/// The batches until the end, as debug text.
fn drain(session: &mut Session<Script>) -> Result<Vec<String>> {
    let mut batches = Vec::new();
    while let Some(batch) = session.read(1 << 20)? {
        batches.push(format!("{batch:?}"));
    }
    Ok(batches)
}

fn urls(session: &Session<Script>) -> Vec<&str> {
    session.client.transport().1.iter().map(|call| call.url.as_str()).collect()
}

fn incremental() -> Value {
    json!({
        "replication_method": {"type": "Incremental"}, "replication_key": "at",
        "replication_bind": {"into": "query", "name": "since"},
        "pagination": {"type": "Cursor", "next_token_path": "$.next", "param_name": "c"}, "records_path": "$.d",
    })
}

#[test]
fn every_page_is_a_batch_and_a_full_read_has_no_bookmark() {
    let config = json!({"pagination": {"type": "PageNumber", "page_size": 1}});
    let mut session = session(config, None, &[r#"[{"id":1}]"#, r#"[{"id":2}]"#, "[]"]);
    let batches = drain(&mut session).unwrap();
    assert_eq!(batches.len(), 3);
    assert!(batches.iter().all(|batch| batch.contains("Commit(None)")), "{batches:?}");
    assert!(batches[0].contains("\"orders\"") && batches[0].contains("Int64"), "{}", batches[0]);
    assert_eq!(urls(&session)[2], "https://h/orders?page=3");
}

#[test]
fn an_incremental_read_has_its_bookmark_after_the_last_page() {
    let pages = [r#"{"d":[{"at":3}],"next":"x"}"#, r#"{"d":[{"at":2}],"next":null}"#];
    let mut first = session(incremental(), None, &pages);
    let batches = drain(&mut first).unwrap();
    assert!(batches[0].contains("Commit(None)") && batches[1].contains("Commit(Some("), "{batches:?}");
    assert_eq!(urls(&first), ["https://h/orders", "https://h/orders?c=x"]);
    let bookmark = first.water.unwrap().bookmark().unwrap();
    let mut second = session(incremental(), bookmark.as_ref(), &[r#"{"d":[{"at":2},{"at":3},{"at":4}]}"#]);
    let batches = drain(&mut second).unwrap();
    assert_eq!(urls(&second), ["https://h/orders?since=3"]);
    assert!(batches[0].contains("rows: 1"), "{}", batches[0]);
}

#[test]
fn an_answer_is_tried_again_after_a_pause() {
    let mut session = session(json!({"retry": {"initial_ms": 50, "max_retries": 1}}), None, &[]);
    let script = [answer(500, ""), answer(200, "[{}]")];
    session.client = Client::new(Script(script.into(), Vec::new()), None, Duration::from_secs(1));
    let pause = format!("{:?}", session.read(1).unwrap().unwrap());
    assert!(pause.contains("wait: 50ms") && pause.contains("pages: []"), "{pause}");
    assert_eq!(session.read(1).unwrap_err().to_string(), "the records have no fields");
    session.client = Client::new(Script([answer(503, ""), answer(503, "")].into(), Vec::new()), None, Duration::ZERO);
    assert!(session.read(1).is_ok());
    assert!(session.read(1).unwrap_err().is_unavailable());
}

#[test]
fn large_answers_are_several_batches() {
    let rows: Vec<String> = (0..10).map(|id| format!(r#"{{"id":{id}}}"#)).collect();
    let mut session = session(json!({}), None, &[&format!("[{}]", rows.join(","))]);
    let mut count = 0;
    while session.read(20).unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, 4, "of 3, 3, 3 and 1 rows");
}

#[test]
fn max_pages_ends_a_read_without_a_bookmark() {
    let mut config = incremental();
    config["max_pages"] = json!(1);
    let mut session = session(config, None, &[r#"{"d":[{"at":3}],"next":"x"}"#]);
    let batches = drain(&mut session).unwrap();
    assert!(batches.len() == 1 && batches[0].contains("Commit(None)"), "{batches:?}");
}

#[test]
fn windows_are_read_in_turn_and_have_their_bookmarks() {
    let mut config = incremental();
    config.as_object_mut().unwrap().remove("replication_bind");
    let yesterday = client::Moment {
        seconds: i64::try_from(client::unix_now().as_secs()).unwrap() - 90_000,
        fraction: String::new(),
        zoned: true,
    };
    config["start_replication_value"] = json!(yesterday.rfc3339());
    config["window"] = json!({
        "size": "1d", "start": {"into": "query", "name": "from"}, "end": {"into": "query", "name": "to", "format": "epoch_s"},
    });
    let record = format!(r#"{{"d":[{{"at":"{}"}}]}}"#, yesterday.rfc3339());
    let mut session = session(config, None, &[&record, r#"{"d":[]}"#]);
    let batches = drain(&mut session).unwrap();
    assert!(batches.iter().all(|batch| batch.contains("Commit(Some(")), "{batches:?}");
    let urls = urls(&session);
    assert_eq!(urls.len(), 2);
    assert!(urls[0].contains(&format!("to={}", yesterday.seconds + 86_400)), "{urls:?}");
}

#[test]
fn what_is_wrong_with_an_answer_is_said_without_its_content() {
    let cases = [
        (json!({}), "<html>secret</html>", "the answer is no JSON (line 1, column 1)"),
        (json!({"records_path": "$.data"}), r#"{"secret":1}"#, "the answer has nothing at $.data (`records_path`)"),
        (json!({"errors_path": "$.errors"}), r#"{"errors":["secret"]}"#, "the answer holds an error at `errors_path`"),
        (json!({"primary_key": ["id"]}), r#"[{"secret":1}]"#, "no record has a field 'id', which `primary_key` names"),
    ];
    for (config, body, wanted) in cases {
        let error = session(config, None, &[body]).read(1).unwrap_err().to_string();
        assert_eq!(error, wanted);
    }
    let mut fine =
        session(json!({"errors_path": "$.errors", "records_path": "$.d"}), None, &[r#"{"errors":[],"d":[]}"#]);
    assert_eq!(drain(&mut fine).unwrap().len(), 1);
}

#[test]
fn a_wrong_configuration_says_where() {
    let inc = |more: Value| {
        let mut config = json!({"replication_method": {"type": "Incremental"}, "replication_key": "at"});
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        config
    };
    let cases = [
        (json!({"url": "ftp://x"}), "url"),
        (json!({"body": {}}), "body"),
        (json!({"records_path": "data"}), "records_path"),
        (json!({"params": {"k": "${secret:a}"}}), "params"),
        (json!({"auth": {"type": "bearer", "secret": "${secret:a}"}}), "auth.secret"),
        (json!({"replication_key": "at"}), "replication_key"),
        (json!({"replication_method": {"type": "Incremental"}}), "replication_key"),
        (inc(json!({"start_replication_value": {}})), "start_replication_value"),
        (inc(json!({"replication_bind": {"into": "body", "name": "x"}})), "replication_bind"),
        (inc(json!({"path": "/{x}", "replication_bind": {"into": "path", "name": "x"}})), "start_replication_value"),
        (
            inc(
                json!({"window": {"size": "1d", "start": {"into": "query", "name": "a"}, "end": {"into": "query", "name": "b"}}}),
            ),
            "start_replication_value",
        ),
        (
            json!({"pagination": {"type": "CursorInBody", "next_token_path": "$.n", "body_cursor_field": "c"}}),
            "pagination.body_cursor_field",
        ),
        (json!({"pagination": {"type": "Offset", "limit": 0}}), "pagination.limit"),
        (json!({"schema": [{"name": "a", "kind": "text"}, {"name": "a", "kind": "text"}]}), "schema[1].name"),
        (json!({"schema": [{"name": "a", "kind": "text"}], "primary_key": ["b"]}), "primary_key"),
    ];
    for (config, path) in cases {
        let mut whole = json!({"url": "https://h/x"});
        whole.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
        let error = Plan::new(from_value(whole).unwrap()).unwrap_err();
        assert_eq!(error.problems()[0].0, path, "{config}: {error}");
    }
}
