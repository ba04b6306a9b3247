//! Runs the golden cases natively, and checks what a user sees of a wrong configuration.
#![allow(clippy::unwrap_used)]

use faucet_sdk::serde_json::{Value, json};
use faucet_sdk::testing::{config_schema, open, run, run_cases};
use filter::Filter;

#[test]
fn golden_cases() {
    run_cases::<Filter>(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"));
}

#[test]
fn a_wrong_configuration_says_where_and_what() {
    let cases = [
        (json!({ "op": "eq", "value": 1 }), "", "missing field `field`"),
        (json!({ "field": "a", "op": "eq" }), "value", "is missing: this op compares with a value"),
        (json!({ "field": "a", "op": "is_null", "value": 1 }), "value", "is_null and not_null take no value"),
        (json!({ "field": "a", "op": "in", "value": 1 }), "value", "in and not_in need a list"),
        (json!({ "field": "a", "op": "in", "value": [] }), "value", "the list is empty"),
        (json!({ "field": "a", "op": "in", "value": [1, null] }), "value[1]", "must be a number, text or truth value"),
        (json!({ "field": "a", "op": "contains", "value": 1 }), "value", "this op needs text"),
    ];
    for (config, path, message) in cases {
        let error = open::<Filter>(&config).unwrap_err();
        assert_eq!(error.problems(), [(path.to_owned(), message.to_owned())], "{config}");
    }
    let pattern = open::<Filter>(&json!({ "field": "a", "op": "matches", "value": "(" })).unwrap_err();
    assert!(pattern.to_string().starts_with("value: is no regular expression: "), "{pattern}");
}

/// `op` with `value` on a column with one value: whether the row stays.
fn keeps(kind: &str, cell: &Value, op: &str, value: &Value) -> bool {
    let page = json!({ "table": "t", "columns": [{ "name": "x", "kind": kind, "values": [cell] }] });
    let out = run::<Filter>(&json!({ "field": "x", "op": op, "value": value }), &page).unwrap();
    !out["pages"][0]["columns"][0]["values"].as_array().unwrap().is_empty()
}

#[test]
fn every_kind_is_compared_by_its_own_order() {
    let ascending: [(&str, [Value; 3]); 12] = [
        ("int64", [json!(-5), json!(9_007_199_254_740_992_i64), json!(9_007_199_254_740_993_i64)]),
        ("uint64", [json!(0), json!(1), json!(u64::MAX)]),
        ("float64", [json!("-Infinity"), json!(0.1), json!("NaN")]),
        ("float32", [json!(-1.5), json!(0.1), json!("Infinity")]),
        ("decimal", [json!("-0.10"), json!("12345678901234567890.10"), json!("12345678901234567890.11")]),
        ("text", [json!(""), json!("Z"), json!("a")]),
        (
            "uuid",
            [
                json!("00000000-0000-0000-0000-000000000001"),
                json!("00000000-0000-0000-0000-000000000002"),
                json!("f0000000-0000-0000-0000-000000000000"),
            ],
        ),
        ("int64", [json!(i64::MIN), json!(0), json!(i64::MAX)]),
        ("decimal", [json!("-Infinity"), json!("0"), json!("NaN")]),
        ("float64", [json!(-1), json!(-0.0), json!(1e300)]),
        ("text", [json!("10"), json!("9"), json!("é")]),
        ("decimal", [json!("1"), json!("1.5"), json!("2")]),
    ];
    for (kind, values) in &ascending {
        for (i, cell) in values.iter().enumerate() {
            for (j, value) in values.iter().enumerate() {
                let wanted =
                    [("eq", i == j), ("ne", i != j), ("lt", i < j), ("le", i <= j), ("gt", i > j), ("ge", i >= j)];
                for (op, wanted) in wanted {
                    assert_eq!(keeps(kind, cell, op, value), wanted, "{kind}: {cell} {op} {value}");
                }
            }
        }
    }
}

#[test]
fn a_number_between_two_integers_compares_exactly() {
    for (cell, op, value, wanted) in [
        (json!(10), "lt", json!(10.5), true),
        (json!(11), "gt", json!(10.5), true),
        (json!(-11), "lt", json!(-10.5), true),
        (json!(10), "eq", json!(10.5), false),
        (json!(10), "eq", json!("10.00"), true),
        (json!(i64::MAX), "lt", json!("1e30"), true),
        (json!(i64::MIN), "gt", json!("-Infinity"), true),
    ] {
        assert_eq!(keeps("int64", &cell, op, &value), wanted, "{cell} {op} {value}");
    }
}

#[test]
fn the_schema_refuses_unknown_keys() {
    assert_eq!(config_schema::<Filter>()["additionalProperties"], json!(false));
}
