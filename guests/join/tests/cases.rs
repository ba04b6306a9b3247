//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use faucet_sdk::serde_json::json;
use faucet_sdk::testing::{config_schema, open, run_cases};
use join::Join;

#[test]
fn golden_cases() {
    run_cases::<Join>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({ "into": "x" }), "", "missing field `columns`"),
        (json!({ "columns": [], "into": "x" }), "columns", "names no column"),
        (
            json!({ "columns": ["a"], "into": "__op" }),
            "into",
            "is __op, which marks what a change is and always stays as it is",
        ),
        (
            json!({ "columns": ["a"], "into": "x", "nulls": "no" }),
            "nulls",
            "unknown variant `no`, expected one of `skip`, `empty`, `null`",
        ),
    ];
    for (config, path, message) in cases {
        let error = open::<Join>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<Join>()["additionalProperties"], json!(false));
    assert!(open::<Join>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
