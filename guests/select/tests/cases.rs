//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use faucet_sdk::serde_json::json;
use faucet_sdk::testing::{config_schema, open, run_cases};
use select::Select;

#[test]
fn golden_cases() {
    run_cases::<Select>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({}), "", "missing field `columns`"),
        (json!({ "columns": [] }), "columns", "names no column"),
        (json!({ "columns": ["a", "b", "a"] }), "columns[2]", "names column 'a' twice"),
        (
            json!({ "columns": ["__op"] }),
            "columns[0]",
            "is __op, which marks what a change is and always stays as it is",
        ),
        (json!({ "columns": ["a"], "order": "any" }), "order", "unknown variant `any`, expected `table` or `written`"),
    ];
    for (config, path, message) in cases {
        let error = open::<Select>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<Select>()["additionalProperties"], json!(false));
    assert!(open::<Select>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
