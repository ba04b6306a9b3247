//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use faucet_sdk::serde_json::json;
use faucet_sdk::testing::{config_schema, open, run, run_cases};
use json_encode::JsonEncode;

#[test]
fn golden_cases() {
    run_cases::<JsonEncode>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({}), "", "missing field `into`"),
        (json!({ "into": "x", "columns": [] }), "columns", "names no column"),
        (json!({ "into": "__op" }), "into", "is __op, which marks what a change is and always stays as it is"),
        (json!({ "into": "x", "kind": "bytes" }), "kind", "unknown variant `bytes`, expected `json` or `text`"),
        (
            json!({ "into": "x", "on_absent": "no" }),
            "on_absent",
            "unknown variant `no`, expected one of `reject`, `leave`, `omit`",
        ),
    ];
    for (config, path, message) in cases {
        let error = open::<JsonEncode>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}

#[test]
fn what_it_writes_is_json() {
    let page = json!({ "table": "t", "columns": [
        { "name": "\u{1}\"\\", "kind": "text", "values": ["\u{0}\u{1f}\"\\/\u{7f}é\u{2028}"] },
        { "name": "b", "kind": "bytes", "values": ["22005c"] },
        { "name": "d", "kind": "decimal", "values": ["+.50"] },
    ]});
    let out = run::<JsonEncode>(&json!({ "into": "x" }), &page).unwrap();
    let text = out["pages"][0]["columns"][3]["values"][0].as_str().unwrap();
    let read: faucet_sdk::serde_json::Value = faucet_sdk::serde_json::from_str(text).unwrap();
    assert_eq!(read, json!({ "\u{1}\"\\": "\u{0}\u{1f}\"\\/\u{7f}é\u{2028}", "b": "\\x22005c", "d": 0.5 }));
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<JsonEncode>()["additionalProperties"], json!(false));
    assert!(open::<JsonEncode>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
