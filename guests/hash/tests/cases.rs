//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use faucet_sdk::serde_json::json;
use faucet_sdk::testing::{config_schema, open, run, run_cases};
use hash::Hash;

#[test]
fn golden_cases() {
    run_cases::<Hash>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({ "into": "x" }), "", "missing field `columns`"),
        (json!({ "columns": ["a"] }), "", "missing field `into`"),
        (json!({ "columns": [], "into": "x" }), "columns", "names no column"),
        (
            json!({ "columns": ["__op"], "into": "x" }),
            "columns[0]",
            "is __op, which marks what a change is and always stays as it is",
        ),
        (
            json!({ "columns": ["a"], "into": "__op" }),
            "into",
            "is __op, which marks what a change is and always stays as it is",
        ),
        (
            json!({ "columns": ["a"], "into": "x", "method": "md5" }),
            "method",
            "unknown variant `md5`, expected `sha256` or `sha512`",
        ),
    ];
    for (config, path, message) in cases {
        let error = open::<Hash>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}

#[test]
fn no_error_shows_the_salt() {
    let page = json!({ "table": "t", "columns": [{ "name": "a", "kind": "text", "values": ["x"] }] });
    let error = run::<Hash>(&json!({ "columns": ["b"], "into": "h", "salt": "pepper" }), &page).unwrap_err();
    assert_eq!(error.to_string(), "table 't' has no column 'b' (it has a)");
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<Hash>()["additionalProperties"], json!(false));
    assert!(open::<Hash>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
