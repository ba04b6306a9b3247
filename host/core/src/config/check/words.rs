//! The words messages use for types and values.

use serde_json::{Map, Value};

use super::super::redact::mask_forms;

/// The longest piece of a value that a message repeats, in characters.
const LONGEST: usize = 60;

/// What a schema type is called.
pub(super) fn type_name(name: &str) -> &str {
    match name {
        "string" => "text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "object" => "a mapping",
        "array" => "a list",
        "null" => "nothing",
        other => other,
    }
}

/// `a, b or c`.
pub(super) fn alternatives(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [head @ .., last] => format!("{} or {last}", head.join(", ")),
    }
}

/// A value as a message shows it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => n.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a mapping".to_owned(),
    }
}

fn quoted(text: &str) -> String {
    let text = mask_forms(text);
    let short: String = text.chars().take(LONGEST).collect();
    let more = if short.len() < text.len() { "..." } else { "" };
    format!("{}{more}", Value::from(short))
}

/// An allowed constant in a list of them: text stands bare, as it would in YAML.
pub(super) fn constant(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => text.clone(),
        other => other.to_string(),
    }
}

/// Whether `schema` marks its value as a secret.
pub(super) fn is_secret(schema: &Map<String, Value>) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
        || schema.get("format").and_then(Value::as_str) == Some("password")
}

/// The first sentence of the schema's description.
pub(super) fn first_sentence(schema: &Value) -> Option<String> {
    let description = schema.get("description")?.as_str()?;
    let paragraph = description.split("\n\n").next()?.replace('\n', " ");
    let end = paragraph.find(". ").unwrap_or(paragraph.len());
    let sentence = paragraph[..end].trim_end_matches('.').trim();
    (!sentence.is_empty()).then(|| sentence.to_owned())
}
