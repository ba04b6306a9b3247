//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use faucet_sdk::serde_json::{Value, json};
use faucet_sdk::testing::{config_schema, open, run, run_cases};
use flatten::Flatten;

#[test]
fn golden_cases() {
    run_cases::<Flatten>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({ "columns": [] }), "columns", "names no column"),
        (
            json!({ "columns": ["__op"] }),
            "columns[0]",
            "is __op, which marks what a change is and always stays as it is",
        ),
        (json!({ "max_depth": 0 }), "max_depth", "must be from 1 to 64"),
        (json!({ "max_depth": 65 }), "max_depth", "must be from 1 to 64"),
        (json!({ "kinds": "json" }), "kinds", "unknown variant `json`, expected `infer` or `text`"),
    ];
    for (config, path, message) in cases {
        let error = open::<Flatten>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
}

/// The values of the columns that one page of documents becomes.
fn flat(documents: &[&str], config: &Value) -> Vec<Value> {
    let page = json!({ "table": "t", "columns": [{ "name": "d", "kind": "json", "values": documents }] });
    let out = run::<Flatten>(config, &page).unwrap();
    out["pages"][0]["columns"].as_array().unwrap().iter().map(|c| json!([c["name"], c["kind"], c["values"]])).collect()
}

#[test]
fn what_no_kind_holds_stays_json() {
    let documents = [r#"{"half": "\ud800", "huge": 1e99999, "sign": -0}"#];
    let want = [json!(["d_half", "json", ["\"\\ud800\""]]), json!(["d_huge", "json", ["1e99999"]])];
    assert_eq!(flat(&documents, &json!({}))[..2], want);
    let want = [json!(["d_half", "text", ["\"\\ud800\""]]), json!(["d_huge", "text", ["1e99999"]])];
    assert_eq!(flat(&documents, &json!({ "kinds": "text" }))[..2], want);
}

#[test]
fn deep_documents_cost_no_stack() {
    let deep = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    let columns = flat(&[&deep], &json!({ "max_depth": 64 }));
    assert_eq!((columns.len(), &columns[0][1]), (1, &json!("json")));
}
#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<Flatten>()["additionalProperties"], json!(false));
    assert!(open::<Flatten>(&json!({ "nope": 1 })).unwrap_err().to_string().contains("unknown field `nope`"));
}
