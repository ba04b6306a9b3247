//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use faucet_sdk::serde_json::json;
use faucet_sdk::testing::{config_schema, open, run_cases};
use rename::Rename;

#[test]
fn golden_cases() {
    run_cases::<Rename>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({}), "", "renames nothing: give `columns`, or `pattern` and `replacement`"),
        (
            json!({ "columns": { "__op": "x" } }),
            "columns.__op",
            "is __op, which marks what a change is and always stays as it is",
        ),
        (
            json!({ "columns": { "a": "__op" } }),
            "columns.a",
            "is __op, which marks what a change is and always stays as it is",
        ),
        (json!({ "columns": { "a": "" } }), "columns.a", "is empty"),
        (json!({ "columns": { "a": "x", "b": "x" } }), "columns.b", "gives the name 'x' a second time"),
        (json!({ "columns": ["a"] }), "columns", "invalid type: sequence, expected an object from column names"),
        (json!({ "pattern": "a" }), "replacement", "is missing: it says what a match becomes"),
        (json!({ "columns": { "a": "b" }, "replacement": "a" }), "replacement", "needs a `pattern`"),
    ];
    for (config, path, message) in cases {
        let error = open::<Rename>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}

#[test]
fn a_wrong_pattern_says_why() {
    let error = open::<Rename>(&json!({ "pattern": "(", "replacement": "" })).unwrap_err();
    assert!(error.to_string().starts_with("pattern: is no regular expression: "), "{error}");
}

#[test]
fn a_name_can_be_given_once() {
    let twice = r#"{ "columns": { "a": "x", "a": "y" } }"#;
    let error = faucet_sdk::serde_json::from_str::<rename::Config>(twice).unwrap_err();
    assert!(error.to_string().starts_with("names 'a' twice"), "{error}");
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<Rename>()["additionalProperties"], json!(false));
    assert!(open::<Rename>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
