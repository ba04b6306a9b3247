//! The keys of a JSON Schema as a Markdown table.

use std::fmt::Write as _;

use serde_json::Value;

use super::page::escaped;

/// One row: a key, by its dotted path.
struct Key {
    path: String,
    kind: String,
    default: String,
    text: String,
}

/// A table of all keys, nested ones by dotted path; a sentence if there are none.
pub fn table(schema: &Value) -> String {
    let mut keys = Vec::new();
    collect(schema, schema, "", &mut keys);
    if keys.is_empty() {
        return "It takes no keys.\n".to_owned();
    }
    let mut text = "| Key | Value | Default | Meaning |\n|---|---|---|---|\n".to_owned();
    for key in keys {
        let meaning = escaped(&key.text).replace('\n', " ").replace('|', "\\|");
        let _ = writeln!(text, "| `{}` | {} | {} | {meaning} |", key.path, key.kind, key.default);
    }
    text
}

fn collect(root: &Value, schema: &Value, prefix: &str, keys: &mut Vec<Key>) {
    let required = |name: &str| schema["required"].as_array().is_some_and(|r| r.iter().any(|k| k == name));
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{name}");
        let target = resolve(root, property);
        let text = property["description"].as_str().or_else(|| target["description"].as_str()).unwrap_or_default();
        keys.push(Key {
            kind: kind(root, property),
            default: default(property, required(name)),
            text: with_choices(target, text),
            path: path.clone(),
        });
        // A type that holds itself would go on for ever; no key nests deeper than this.
        if path.matches('.').count() < 4 {
            collect(root, target, &format!("{path}."), keys);
            let values = resolve(root, &target["additionalProperties"]);
            collect(root, values, &format!("{path}.NAME."), keys);
        }
    }
}

/// Follows a reference, and looks through "or null".
fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
        return resolve(root, &root["$defs"][name]);
    }
    let alternatives = schema["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    match alternatives {
        [one, null] if null["type"] == "null" => resolve(root, one),
        _ => schema,
    }
}

/// What a value looks like.
fn kind(root: &Value, schema: &Value) -> String {
    let schema = resolve(root, schema);
    if let Some(choices) = choices(schema) {
        return choices.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(" or ");
    }
    if let Some(alternatives) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        let mut kinds: Vec<String> = alternatives.iter().map(|a| kind(root, a)).collect();
        kinds.dedup();
        return kinds.join(" or ");
    }
    let names = match &schema["type"] {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).filter(|n| *n != "null").collect(),
        _ => Vec::new(),
    };
    let word = |name: &str| match name {
        "string" => "text".to_owned(),
        "boolean" => "`true` or `false`".to_owned(),
        "integer" => "whole number".to_owned(),
        "array" => format!("list of {}", kind(root, &schema["items"])),
        "object" => "keys".to_owned(),
        other => other.to_owned(),
    };
    match names.as_slice() {
        [] => "anything".to_owned(),
        names => names.iter().map(|n| word(n)).collect::<Vec<_>>().join(" or "),
    }
}

/// The values of a closed choice.
fn choices(schema: &Value) -> Option<Vec<&str>> {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(Value::as_str).collect();
    }
    let values = schema["oneOf"].as_array()?;
    let each = values.iter().map(|v| match v["enum"].as_array() {
        Some(group) => group.iter().map(Value::as_str).collect::<Option<Vec<_>>>(),
        None => v["const"].as_str().map(|c| vec![c]),
    });
    each.collect::<Option<Vec<_>>>().map(|groups| groups.concat())
}

/// The description, and after it what each choice means.
fn with_choices(schema: &Value, text: &str) -> String {
    let described = schema["oneOf"].as_array().into_iter().flatten();
    let meanings = described.filter_map(|c| Some((c["const"].as_str()?, c["description"].as_str()?)));
    meanings.fold(text.to_owned(), |text, (value, meaning)| format!("{text} `{value}`: {meaning}"))
}

fn default(property: &Value, required: bool) -> String {
    match &property["default"] {
        _ if required => "required".to_owned(),
        Value::Null => String::new(),
        Value::Object(object) if object.is_empty() => String::new(),
        // Its parts have rows of their own.
        Value::Object(_) => String::new(),
        Value::Array(list) if list.is_empty() => "`[]`".to_owned(),
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_optional_and_chosen_values_are_spelled_out() {
        let schema = json!({
            "properties": {
                "path": {"type": "string", "description": "The file."},
                "mode": {"$ref": "#/$defs/Mode", "description": "How.", "default": "append"},
                "tls": {"anyOf": [{"$ref": "#/$defs/Tls"}, {"type": "null"}]},
                "key": {"type": "array", "items": {"type": "string"}, "default": []},
                "size": {"type": ["integer", "null"]},
            },
            "required": ["path"],
            "$defs": {
                "Mode": {"oneOf": [{"const": "append", "description": "Adds."}, {"const": "upsert"}]},
                "Tls": {"type": "object", "description": "TLS.", "properties": {"ca": {"type": "string"}}},
            },
        });
        let expected = "| Key | Value | Default | Meaning |\n|---|---|---|---|\n\
            | `path` | text | required | The file. |\n\
            | `mode` | `append` or `upsert` | `append` | How. `append`: Adds. |\n\
            | `tls` | keys |  | TLS. |\n\
            | `tls.ca` | text |  |  |\n\
            | `key` | list of text | `[]` |  |\n\
            | `size` | whole number |  |  |\n";
        assert_eq!(table(&schema), expected);
        assert_eq!(table(&json!({"type": "object"})), "It takes no keys.\n");
    }
}
