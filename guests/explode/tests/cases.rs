//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use explode::Explode;
use faucet_sdk::serde_json::json;
use faucet_sdk::testing::{config_schema, open, run_cases};

#[test]
fn golden_cases() {
    run_cases::<Explode>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({}), "", "missing field `column`"),
        (json!({ "column": "__op" }), "column", "is __op, which marks what a change is and always stays as it is"),
        (
            json!({ "column": "a", "into": "__op" }),
            "into",
            "is __op, which marks what a change is and always stays as it is",
        ),
        (json!({ "column": "a", "index": "" }), "index", "is empty"),
        (json!({ "column": "a", "index": "a" }), "index", "is the name of the column for the elements, too"),
        (
            json!({ "column": "a", "on_error": "null" }),
            "on_error",
            "unknown variant `null`, expected `fail` or `reject`",
        ),
    ];
    for (config, path, message) in cases {
        let error = open::<Explode>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<Explode>()["additionalProperties"], json!(false));
    assert!(open::<Explode>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
