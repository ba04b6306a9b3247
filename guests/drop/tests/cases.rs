//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use drop::Drop;
use faucet_sdk::serde_json::json;
use faucet_sdk::testing::{config_schema, open, run_cases};

#[test]
fn golden_cases() {
    run_cases::<Drop>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({}), "", "missing field `columns`"),
        (json!({ "columns": [] }), "columns", "names no column"),
        (json!({ "columns": ["a", "a"] }), "columns[1]", "names column 'a' twice"),
        (
            json!({ "columns": ["__op"] }),
            "columns[0]",
            "is __op, which marks what a change is and always stays as it is",
        ),
        (
            json!({ "columns": ["a"], "on_missing": "no" }),
            "on_missing",
            "unknown variant `no`, expected `error` or `ignore`",
        ),
    ];
    for (config, path, message) in cases {
        let error = open::<Drop>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<Drop>()["additionalProperties"], json!(false));
    assert!(open::<Drop>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
