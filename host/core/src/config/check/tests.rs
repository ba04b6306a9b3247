use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::interpolate::{Surroundings, interpolate};
use super::super::{ByteSize, Span};
use super::*;

/// Every shape that schemars writes for the configurations in this workspace.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Sample {
    /// The address. With more text.
    #[schemars(length(min = 1))]
    url: String,
    #[schemars(extend("writeOnly" = true))]
    password: Option<u32>,
    #[serde(default)]
    mode: Mode,
    auth: Option<Auth>,
    paging: Option<Paging>,
    key: Option<OneOrMany>,
    #[serde(default)]
    columns: Vec<String>,
    port: Option<u16>,
    ratio: Option<f64>,
    verbose: Option<bool>,
    wait: Option<Span>,
    memory: Option<ByteSize>,
    labels: Option<std::collections::BTreeMap<String, i32>>,
    any: Option<Value>,
}

#[derive(Debug, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// Adds.
    #[default]
    Append,
    /// Replaces by key.
    Upsert,
    Overwrite,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(dead_code)]
enum Auth {
    None,
    Basic { user: String },
    Token { value: String },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[allow(dead_code)]
enum Paging {
    Cursor { field: String },
    Offset { size: u32 },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

fn sample_schema() -> Value {
    serde_json::to_value(schemars::schema_for!(Sample)).unwrap()
}

fn lines(problems: &[Problem]) -> String {
    let line = |p: &Problem| format!("{}: {} ({})", p.path, p.message, p.hint.as_deref().unwrap_or("-"));
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Problems of a sample whose url is fine.
fn sample(mut value: Value) -> String {
    value["url"] = json!("x");
    lines(&check(&value, &sample_schema()))
}

#[test]
fn what_serde_reads_passes() {
    for value in [
        json!({}),
        json!({"mode": "upsert", "auth": "none", "key": "id", "wait": "5m", "memory": 10}),
        json!({"auth": {"basic": {"user": "u"}}, "paging": {"type": "cursor", "field": "f"}, "key": ["a"]}),
        json!({"port": 65535, "ratio": 1, "verbose": true, "wait": 1.5, "memory": "1MiB", "labels": {"a": -1}}),
        json!({"auth": null, "any": {"x": [1]}}),
    ] {
        assert_eq!(sample(value.clone()), "", "{value}");
        let mut value = value;
        value["url"] = json!("x");
        serde_json::from_value::<Sample>(value).unwrap();
    }
}

#[test]
fn what_serde_refuses_is_explained() {
    let refused = [
        json!({"prot": 1}),
        json!({"zzz": 1}),
        json!({"mode": "upser"}),
        json!({"mode": "merge"}),
        json!({"mode": 3}),
        json!({"auth": {"basic": {"usr": "u"}}}),
        json!({"auth": {"digest": {}}}),
        json!({"auth": "non"}),
        json!({"auth": 1}),
        json!({"paging": {"type": "cursr"}}),
        json!({"paging": {"type": "offset", "size": "ten"}}),
        json!({"paging": {"field": "f"}}),
        json!({"paging": []}),
        json!({"key": 5}),
        json!({"key": ["a", 5]}),
        json!({"columns": "email"}),
        json!({"columns": null}),
        json!({"port": 65536}),
        json!({"port": -1}),
        json!({"port": 1.0}),
        json!({"port": "80"}),
        json!({"ratio": "many"}),
        json!({"verbose": "yes"}),
        json!({"wait": "5 minutes"}),
        json!({"wait": -1}),
        json!({"wait": 1e12}),
        json!({"memory": "16M"}),
        json!({"memory": 1.5}),
        json!({"labels": {"a": "b"}}),
        json!({"labels": [1]}),
        json!({"password": "hunter2"}),
    ];
    for value in &refused {
        let mut value = value.clone();
        value["url"] = json!("x");
        assert!(serde_json::from_value::<Sample>(value.clone()).is_err(), "{value}");
    }
    insta::assert_snapshot!(
        refused.map(|value| format!("{value}\n  {}", sample(value.clone()).replace('\n', "\n  "))).join("\n")
    );
}

#[test]
fn all_problems_come_at_once() {
    let problems = check(&json!({"url": "", "prot": 1, "mode": "x", "columns": [1, 2]}), &sample_schema());
    let paths: Vec<_> = problems.iter().map(|p| p.path.as_str()).collect();
    assert_eq!(paths, ["url", "prot", "mode", "columns[0]", "columns[1]"]);
    assert_eq!(lines(&check(&json!({}), &sample_schema())), ": the key \"url\" is missing (url: The address)");
    assert_eq!(lines(&check(&json!(null), &sample_schema())).lines().count(), 1);
}

#[test]
fn hand_written_schemas_are_honoured() {
    let cases = [
        (json!({"items": {"type": "string"}, "minItems": 1, "uniqueItems": true}), json!(["a", "a"])),
        (json!({"minItems": 1}), json!([])),
        (json!({"maxItems": 1}), json!([1, 2])),
        (json!({"contains": {"const": 1}}), json!([2])),
        (json!({"prefixItems": [{"type": "string"}], "items": false}), json!([1, 2])),
        (json!({"minimum": 1, "maximum": 5}), json!(9)),
        (json!({"exclusiveMinimum": 0, "multipleOf": 0.5}), json!(0.3)),
        (json!({"pattern": "^[a-z]+$"}), json!("A1")),
        (json!({"minLength": 2, "maxLength": 3}), json!("abcd")),
        (json!({"propertyNames": {"maxLength": 2}}), json!({"abc": 1})),
        (json!({"patternProperties": {"^x-": true}, "additionalProperties": false}), json!({"x-a": 1, "y": 1})),
        (json!({"dependentRequired": {"cert": ["key"]}}), json!({"cert": 1})),
        (json!({"minProperties": 1}), json!({})),
        (json!({"not": {"required": ["a", "b"]}}), json!({"a": 1, "b": 1})),
        (json!({"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}}), json!({"a": 1})),
        (json!({"allOf": [{"required": ["a"]}, {"required": ["b"]}]}), json!({})),
        (json!({"oneOf": [{"minimum": 1}, {"maximum": 5}]}), json!(3)),
        (
            json!({"allOf": [{"properties": {"a": true}}], "properties": {"b": true}, "unevaluatedProperties": false}),
            json!({"a": 1, "b": 1, "c": 1}),
        ),
        (json!({"additionalProperties": false, "x-not-yet": {"tables": "one table for now"}}), json!({"tables": 1})),
        (json!(false), json!(1)),
        (json!({"$ref": "#/$defs/nowhere"}), json!(1)),
        (json!({"pattern": "("}), json!("x")),
        (json!(5), json!("x")),
    ];
    insta::assert_snapshot!(
        cases
            .map(|(schema, value)| format!(
                "{schema} {value}\n  {}",
                lines(&check(&value, &schema)).replace('\n', "\n  ")
            ))
            .join("\n")
    );
}

#[test]
fn a_hostile_schema_ends() {
    let endless = json!({"$ref": "#"});
    assert!(lines(&check(&json!(1), &endless)).contains("refers to itself without end"));
    let mut wide = json!({"type": "string"});
    for _ in 0..30 {
        wide = json!({"anyOf": [wide.clone(), {"allOf": [{"$ref": "#"}]}]});
        if wide.to_string().len() > 100_000 {
            break;
        }
    }
    assert!(!check(&json!(1), &wide).is_empty());
    // As deep as serde_json parses.
    let deep = (0..120).fold(json!(true), |schema, _| json!({"not": schema}));
    assert!(check(&json!(1), &deep).is_empty());
}

#[test]
fn texts_that_are_marked_secret_are_found() {
    let schema = json!({
        "properties": {
            "password": { "$ref": "#/$defs/Secret" },
            "old": { "type": "array", "writeOnly": true, "items": { "type": "string" } },
            "user": { "type": "string" },
        },
        "$defs": { "Secret": { "type": "string", "format": "password" } },
    });
    let mut value = json!({"password": "pw", "old": ["pw1", "pw2"], "user": "me"});
    assert_eq!(coerce(&mut value, &schema, "", &Origins::default()), ["pw", "pw1", "pw2"]);
}

struct Outside;

impl Surroundings for Outside {
    fn variable(&self, name: &str) -> Result<Option<String>, String> {
        Ok(match name {
            "PORT" => Some("8080".to_owned()),
            "FLAG" => Some("true".to_owned()),
            "WORD" => Some("sekrit-word".to_owned()),
            _ => None,
        })
    }

    fn file(&self, _: &std::path::Path) -> Result<String, String> {
        Err("no files here".to_owned())
    }
}

fn filled(mut value: Value) -> (Value, Vec<Problem>) {
    let schema = sample_schema();
    let origins = interpolate(&mut value, &Outside).origins;
    coerce(&mut value, &schema, "", &origins);
    let faults = check_at(&value, &schema, "", &origins);
    (value, faults.into_iter().map(|f| f.problem).collect())
}

#[test]
fn interpolated_text_becomes_the_wanted_type() {
    let (value, problems) = filled(json!({
        "url": "${env:PORT}", "port": "${env:PORT}", "ratio": "${env:PORT}", "verbose": "${env:FLAG}",
        "wait": "${env:PORT}", "labels": {"a": "${env:PORT}"}, "columns": ["${env:PORT}"], "any": "${env:PORT}",
    }));
    assert_eq!(lines(&problems), "");
    assert_eq!(
        value,
        json!({
            "url": "8080", "port": 8080, "ratio": 8080, "verbose": true,
            "wait": "8080", "labels": {"a": 8080}, "columns": ["8080"], "any": "8080",
        })
    );
}

#[test]
fn interpolated_text_of_the_wrong_kind_is_named_by_its_reference() {
    let (_, problems) = filled(json!({
        "url": "x", "port": "${env:WORD}", "verbose": "${env:WORD}", "mode": "${env:WORD}", "wait": "${env:WORD}",
        "ratio": "1${env:PORT}", "paging": {"type": "${env:WORD}"}, "auth": "${env:WORD}",
    }));
    let text = lines(&problems);
    assert!(!text.contains("sekrit"), "{text}");
    assert!(!text.contains("8080"), "{text}");
    assert_eq!(problems.len(), 7, "{text}");
    assert!(text.contains("port: expected a whole number, found the value of ${env:WORD}"), "{text}");
}
