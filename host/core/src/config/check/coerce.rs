//! Interpolated text where a number or a bool is wanted.
//!
//! `port: ${env:PORT}` is text once it is filled in, because the environment only holds text. Where the schema takes no
//! text, the text is read as the number or bool it takes. Only scalars that are one `${...}` and nothing else are
//! converted, and only here: `"5432"` written in quotes stays text. The same walk finds the texts that a schema marks as
//! secret (`writeOnly`, or the format `password`).

use serde_json::{Map, Number, Value};

use super::super::interpolate::Origins;
use super::super::path;
use super::reference::Root;
use super::scalar::types;
use super::words;

/// The most alternatives that are followed for one value.
const MOST: usize = 64;

/// Converts the interpolated scalars of `value`, which stands at `base`, to what `schema` wants, and returns the texts
/// that are secret.
pub fn coerce(value: &mut Value, schema: &Value, base: &str, origins: &Origins) -> Vec<String> {
    let mut coercion = Coercion { root: Root::new(schema), origins, secrets: Vec::new() };
    coercion.walk(value, &[schema], base, false);
    coercion.secrets
}

struct Coercion<'a> {
    root: Root<'a>,
    origins: &'a Origins,
    secrets: Vec<String>,
}

impl<'a> Coercion<'a> {
    /// `secret` says that what holds this value is secret as a whole.
    fn walk(&mut self, value: &mut Value, schemas: &[&'a Value], at: &str, secret: bool) {
        let mut all = Vec::new();
        schemas.iter().for_each(|schema| self.expand(schema, &mut all));
        let secret = secret || all.iter().any(|schema| words::is_secret(schema));
        match value {
            Value::Object(entries) => {
                for (name, entry) in entries.iter_mut() {
                    let inner: Vec<&Value> = all.iter().filter_map(|schema| entry_schema(schema, name)).collect();
                    if !inner.is_empty() {
                        self.walk(entry, &inner, &path::key(at, name), secret);
                    }
                }
            }
            Value::Array(items) => {
                let inner: Vec<&Value> = all.iter().filter_map(|schema| schema.get("items")).collect();
                for (nth, item) in items.iter_mut().enumerate().filter(|_| !inner.is_empty()) {
                    self.walk(item, &inner, &path::item(at, nth), secret);
                }
            }
            Value::String(text) => {
                if secret {
                    self.secrets.push(text.clone());
                }
                if self.origins.is_whole(at)
                    && let Some(converted) = convert(text, &all)
                {
                    *value = converted;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// All the schemas that say something about the same value.
    fn expand(&self, schema: &'a Value, all: &mut Vec<&'a Map<String, Value>>) {
        let Some(object) = schema.as_object().filter(|_| all.len() < MOST) else { return };
        all.push(object);
        if let Some(target) = object.get("$ref").and_then(Value::as_str).and_then(|r| self.root.resolve(r)) {
            self.expand(target, all);
        }
        let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|k| object.get(k)?.as_array()).flatten();
        let single = ["then", "else"].into_iter().filter_map(|k| object.get(k));
        lists.chain(single).for_each(|part| self.expand(part, all));
    }
}

fn entry_schema<'a>(schema: &&'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let named = schema.get("properties").and_then(|properties| properties.get(name));
    named.or_else(|| schema.get("additionalProperties"))
}

fn convert(text: &str, schemas: &[&Map<String, Value>]) -> Option<Value> {
    let wanted: Vec<&str> = schemas.iter().flat_map(|schema| types(schema)).collect();
    if wanted.is_empty() || wanted.contains(&"string") {
        return None;
    }
    let text = text.trim();
    let integer = || text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from)).ok();
    let decimal = || text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number);
    wanted.iter().find_map(|name| match *name {
        "integer" => integer(),
        "number" => integer().or_else(decimal),
        "boolean" => text.parse::<bool>().map(Value::Bool).ok(),
        _ => None,
    })
}
