//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use faucet_sdk::serde_json::{Value, json};
use faucet_sdk::testing::{config_schema, open, run, run_cases};
use mask::Mask;

#[test]
fn golden_cases() {
    run_cases::<Mask>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

fn problems(config: Value) -> Vec<(String, String)> {
    open::<Mask>(&config).unwrap_err().problems().to_vec()
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({}), "", "missing field `columns`"),
        (json!({ "columns": [] }), "columns", "names no column"),
        (json!({ "columns": {} }), "columns", "names no column"),
        (json!({ "columns": ["a", "a"] }), "columns", "names column 'a' twice"),
        (
            json!({ "columns": 3 }),
            "columns",
            "invalid type: integer `3`, expected a list of column names, or an object from column name to its settings",
        ),
        (
            json!({ "columns": { "email": { "method": "blur" } } }),
            "columns.email.method",
            "unknown variant `blur`, expected one of `hash`, `redact`, `partial`",
        ),
        (
            json!({ "columns": { "email": { "method": "hash", "text": "x" } } }),
            "columns.email.text",
            "belongs to method redact, and this column has hash",
        ),
    ];
    for (config, path, message) in cases {
        assert_eq!(problems(config.clone()), [(path.to_owned(), message.to_owned())], "{config}");
    }
    let unknown = problems(json!({ "columns": ["a"], "metod": "hash" }));
    assert!(unknown[0].1.starts_with("unknown field `metod`, expected one of"), "{unknown:?}");
}

#[test]
fn no_error_shows_a_value_or_the_salt() {
    let page = json!({ "table": "t", "columns": [{ "name": "n", "kind": "int64", "values": [987_654_321] }] });
    let config = json!({ "columns": ["n"], "method": "hash", "salt": "pepper" });
    let error = run::<Mask>(&config, &page).unwrap_err().to_string();
    assert_eq!(error, "column 'n' is int64: only text can be masked; cast it to text before");
}

#[test]
fn the_schema_refuses_unknown_keys_and_names_the_methods() {
    let schema = config_schema::<Mask>();
    assert_eq!(schema["additionalProperties"], json!(false));
    assert!(schema.to_string().contains("hash") && schema.to_string().contains("partial"), "{schema}");
}
