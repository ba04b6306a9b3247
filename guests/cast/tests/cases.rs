//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use cast::Cast;
use faucet_sdk::serde_json::json;
use faucet_sdk::testing::{config_schema, open, run, run_cases};

#[test]
fn golden_cases() {
    run_cases::<Cast>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({}), "", "missing field `columns`"),
        (json!({ "columns": {} }), "columns", "names no column"),
        (
            json!({ "columns": { "__op": "text" } }),
            "columns.__op",
            "is __op, which marks what a change is and always stays as it is",
        ),
        (
            json!({ "columns": { "a": "text" }, "zone": "Europe/Berlin" }),
            "zone",
            "is neither UTC nor an offset like +02:00",
        ),
        (
            json!({ "columns": { "a": "text" }, "on_error": "skip" }),
            "on_error",
            "unknown variant `skip`, expected one of `fail`, `null`, `reject`",
        ),
        (
            json!({ "columns": { "a": "text" }, "epoch": "days" }),
            "epoch",
            "unknown variant `days`, expected one of `seconds`, `milliseconds`, `microseconds`",
        ),
    ];
    for (config, path, message) in cases {
        let error = open::<Cast>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}

#[test]
fn a_kind_that_is_none_names_all() {
    let error = open::<Cast>(&json!({ "columns": { "a": "integer" } })).unwrap_err();
    assert_eq!(error.problems()[0].0, "columns.a");
    assert!(error.to_string().contains("unknown variant `integer`, expected one of `boolean`, `int64`"), "{error}");
}

#[test]
fn no_message_shows_a_value() {
    for value in ["4711x", "secret", "99999999999999999999"] {
        let page = json!({ "table": "t", "columns": [{ "name": "a", "kind": "text", "values": [value] }] });
        for kind in ["int64", "boolean", "decimal", "date", "timestamptz", "interval", "uuid", "bytes", "json"] {
            for on_error in ["fail", "reject"] {
                let shown = match run::<Cast>(&json!({ "columns": { "a": kind }, "on_error": on_error }), &page) {
                    Ok(out) => out["rejected"].to_string(),
                    Err(error) => error.to_string(),
                };
                assert!(!shown.contains(value), "{shown}");
            }
        }
    }
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<Cast>()["additionalProperties"], json!(false));
    assert!(open::<Cast>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
