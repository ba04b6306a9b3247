//! `cargo test` runs the transform natively over a page written as JSON.
use faucet_sdk::serde_json::json;
use faucet_sdk::testing::run;

#[test]
fn text_is_turned_and_null_stays_null() {
    let page = |names| json!({ "table": "t", "key": [], "columns": [{ "name": "name", "kind": "text", "values": names }] });
    let out = run::<uppercase::Uppercase>(&json!({ "columns": ["name"] }), &page(json!(["straße", null])));
    assert_eq!(out.expect("it runs"), json!({ "pages": [page(json!(["STRASSE", null]))], "rejected": [] }));
}
