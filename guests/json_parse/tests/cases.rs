//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use faucet_sdk::serde_json::json;
use faucet_sdk::testing::{config_schema, open, run, run_cases};
use json_parse::JsonParse;

#[test]
fn golden_cases() {
    run_cases::<JsonParse>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({}), "", "missing field `column`"),
        (json!({ "column": "__op" }), "column", "is __op, which marks what a change is and always stays as it is"),
        (json!({ "column": "a", "into": "" }), "into", "is empty"),
        (json!({ "column": "a", "remove": true }), "remove", "needs `into` or `fields`: nothing would be left"),
        (
            json!({ "column": "a", "fields": { "x": "b..c" } }),
            "fields.x",
            "is no path; one looks like address.lines[0]",
        ),
        (
            json!({ "column": "a", "fields": { "__op": "b" } }),
            "fields.__op",
            "is __op, which marks what a change is and always stays as it is",
        ),
        (json!({ "column": "a", "into": "x", "fields": { "x": "b" } }), "fields.x", "has the name that `into` has"),
        (json!({ "column": "a", "fields": { "x": { "kind": "text" } } }), "fields.x", "missing field `path`"),
        (
            json!({ "column": "a", "fields": { "x": 3 } }),
            "fields.x",
            "invalid type: integer `3`, expected a path, or an object with path and kind",
        ),
    ];
    for (config, path, message) in cases {
        let error = open::<JsonParse>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}

#[test]
fn no_message_shows_a_value() {
    let page = json!({ "table": "t", "columns": [{ "name": "a", "kind": "text", "values": ["{\"x\": \"secret\""] }] });
    let error = run::<JsonParse>(&json!({ "column": "a" }), &page).unwrap_err();
    assert_eq!(error.to_string(), "table 't', row 0 of a page: column 'a' is no JSON; see on_error");
}

#[test]
fn deep_documents_cost_no_stack() {
    let deep = format!("{{\"x\": {}{}}}", "[".repeat(200_000), "]".repeat(200_000));
    let page = json!({ "table": "t", "columns": [{ "name": "a", "kind": "text", "values": [deep] }] });
    let out = run::<JsonParse>(&json!({ "column": "a", "fields": { "x": "x[0]" }, "remove": true }), &page).unwrap();
    assert_eq!(out["pages"][0]["columns"][0]["values"][0].as_str().map(str::len), Some(399_998));
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<JsonParse>()["additionalProperties"], json!(false));
    assert!(open::<JsonParse>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
