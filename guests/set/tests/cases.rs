//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use faucet_sdk::serde_json::json;
use faucet_sdk::testing::{config_schema, open, run_cases};
use set::Set;

#[test]
fn golden_cases() {
    run_cases::<Set>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({}), "", "missing field `columns`"),
        (json!({ "columns": {} }), "columns", "names no column"),
        (
            json!({ "columns": { "__op": { "value": "c" } } }),
            "columns.__op",
            "is __op, which marks what a change is and always stays as it is",
        ),
        (json!({ "columns": { "a": {} } }), "columns.a", "needs one of `value`, `copy` and `table`"),
        (
            json!({ "columns": { "a": { "value": 1, "copy": "b" } } }),
            "columns.a",
            "needs one of `value`, `copy` and `table`",
        ),
        (json!({ "columns": { "a": { "copy": "b", "kind": "text" } } }), "columns.a.kind", "needs a `value`"),
        (
            json!({ "columns": { "a": { "copy": "b", "key": true } } }),
            "columns.a.key",
            "needs a `value`, or `table`: those are the same in every row",
        ),
        (json!({ "columns": { "a": { "value": null, "key": true } } }), "columns.a.key", "can't be null"),
        (json!({ "columns": { "a": { "value": 1.5, "kind": "int64" } } }), "columns.a.value", "is no int64"),
        (
            json!({ "columns": { "a": { "copy": "__op" } } }),
            "columns.a.copy",
            "is __op, which marks what a change is and always stays as it is",
        ),
    ];
    for (config, path, message) in cases {
        let error = open::<Set>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<Set>()["additionalProperties"], json!(false));
    assert!(open::<Set>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
