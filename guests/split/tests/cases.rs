//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use faucet_sdk::serde_json::json;
use faucet_sdk::testing::{config_schema, open, run_cases};
use split::Split;

#[test]
fn golden_cases() {
    run_cases::<Split>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({ "separator": ",", "list": "x" }), "", "missing field `column`"),
        (json!({ "column": "a", "separator": "", "list": "x" }), "separator", "is empty"),
        (json!({ "column": "a", "separator": "," }), "", "needs either `into` or `list`"),
        (json!({ "column": "a", "separator": ",", "into": ["x"], "list": "y" }), "", "needs either `into` or `list`"),
        (json!({ "column": "a", "separator": ",", "into": [] }), "into", "names no column"),
        (json!({ "column": "a", "separator": ",", "into": ["x", "x"] }), "into[1]", "names column 'x' twice"),
        (
            json!({ "column": "__op", "separator": ",", "list": "x" }),
            "column",
            "is __op, which marks what a change is and always stays as it is",
        ),
    ];
    for (config, path, message) in cases {
        let error = open::<Split>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<Split>()["additionalProperties"], json!(false));
    assert!(open::<Split>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
