//! The JSON Schema of a whole configuration, for editors and reference pages.
//!
//! The document's own schema knows that a stage has a `type` and a `config`; here the `config` of each known type is
//! filled in, so that an editor completes the keys of the connector that is named. Types under `plugins` stay open.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::catalog::{Catalog, Kind};
use super::document::Document;

/// The schema of a configuration that may name everything in `catalog`. Draft 2020-12.
pub fn document(catalog: &Catalog) -> Value {
    let mut root = schemars::schema_for!(Document).to_value();
    let mut definitions = Definitions { all: Map::new() };
    definitions.role("source", &catalog.sources, false);
    definitions.role("transform", &catalog.transforms, true);
    definitions.role("sink", &catalog.sinks, false);
    definitions.role("state", &catalog.stores, false);
    if let Some(loader) = &catalog.plugins {
        let limits = definitions.embed("limits", loader.limits_schema());
        set(&mut root, "/$defs/Plugin/properties/limits", limits);
    }
    for (pointer, role) in [
        ("/$defs/Pipeline/properties/source", "source"),
        ("/$defs/Pipeline/properties/transforms", "transform"),
        ("/$defs/Pipeline/properties/sink", "sink"),
        ("/$defs/DeadLetterQueue/properties/sink", "sink"),
        ("/$defs/Pipeline/properties/state", "state"),
        ("/properties/state", "state"),
        ("/$defs/Snapshot/properties/source", "source"),
    ] {
        if let Some(part) = root.pointer_mut(pointer) {
            rewrite(part, &|reference| (reference == "#/$defs/ConnectorSpec").then(|| format!("#/$defs/{role}")));
        }
    }
    if let Some(own) = root.get_mut("$defs").and_then(Value::as_object_mut) {
        own.remove("ConnectorSpec");
        own.append(&mut definitions.all);
    }
    root
}

/// The schemas that are referred to by name.
struct Definitions {
    all: Map<String, Value>,
}

impl Definitions {
    /// Defines `{ type, config }` for one role. `open` also takes types that aren't known here.
    fn role<K: Kind + ?Sized>(&mut self, role: &str, kinds: &[Arc<K>], open: bool) {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.label()).collect();
        let mut kind_schema = json!({ "type": "string", "enum": names });
        if open {
            kind_schema = json!({ "anyOf": [kind_schema, { "type": "string", "minLength": 1 }] });
        }
        let branches: Vec<Value> = kinds.iter().map(|kind| self.branch(role, kind.as_ref())).collect();
        let spec = json!({
            "description": format!("A {}: its type and its own configuration.", K::ROLE),
            "type": "object",
            "properties": { "type": kind_schema, "config": { "type": "object" } },
            "required": ["type"],
            "additionalProperties": false,
            "allOf": branches,
        });
        self.all.insert(role.to_owned(), spec);
    }

    /// `config` of a stage whose type is `kind`'s.
    fn branch<K: Kind + ?Sized>(&mut self, role: &str, kind: &K) -> Value {
        let name = kind.label();
        let schema = kind.config_schema();
        let needs_config = schema.get("required").and_then(Value::as_array).is_some_and(|keys| !keys.is_empty());
        let config = self.embed(&format!("{role}.{name}"), schema);
        let required = if needs_config { json!(["config"]) } else { json!([]) };
        json!({
            "if": { "properties": { "type": { "const": name } }, "required": ["type"] },
            "then": { "properties": { "config": config }, "required": required },
        })
    }

    /// Adds `schema` under `name`, with its own definitions beside it, and returns a reference to it.
    fn embed(&mut self, name: &str, mut schema: Value) -> Value {
        let own = schema.as_object_mut().and_then(|schema| {
            schema.remove("$schema");
            schema.remove("title");
            schema.remove("$defs")
        });
        let rename = |reference: &str| match reference.strip_prefix("#/$defs/") {
            Some(inner) => Some(format!("#/$defs/{name}.{inner}")),
            None if reference == "#" => Some(format!("#/$defs/{name}")),
            None => None,
        };
        rewrite(&mut schema, &rename);
        self.all.insert(name.to_owned(), schema);
        if let Some(Value::Object(own)) = own {
            for (inner, mut definition) in own {
                rewrite(&mut definition, &rename);
                self.all.insert(format!("{name}.{inner}"), definition);
            }
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }
}

fn set(root: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = root.pointer_mut(pointer) {
        *place = value;
    }
}

/// Replaces each `$ref` in `schema` for which `rename` has a new one.
fn rewrite(schema: &mut Value, rename: &dyn Fn(&str) -> Option<String>) {
    match schema {
        Value::Object(keywords) => {
            for (keyword, value) in keywords.iter_mut() {
                match value.as_str().filter(|_| keyword == "$ref").and_then(rename) {
                    Some(renamed) => *value = Value::String(renamed),
                    None => rewrite(value, rename),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite(item, rename)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
