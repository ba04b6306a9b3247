//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use faucet_sdk::serde_json::json;
use faucet_sdk::testing::{config_schema, open, run_cases};
use keys_case::KeysCase;

#[test]
fn golden_cases() {
    run_cases::<KeysCase>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({}), "", "missing field `case`"),
        (
            json!({ "case": "title" }),
            "case",
            "unknown variant `title`, expected one of `snake`, `camel`, `pascal`, `kebab`, `upper`, `lower`",
        ),
    ];
    for (config, path, message) in cases {
        let error = open::<KeysCase>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<KeysCase>()["additionalProperties"], json!(false));
    assert!(open::<KeysCase>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
