//! Types, constants, text and numbers.

use std::cmp::Ordering;

use regex::RegexBuilder;
use serde_json::{Map, Number, Value};

use super::super::{ByteSize, Span, suggest};
use super::{Checker, value_fault, words};
use crate::error::Problem;

/// The largest compiled `pattern`, in bytes.
const LARGEST_PATTERN: usize = 1 << 18;

/// A keyword that bounds a number, what messages call it, and how the number has to compare.
type Bound = (&'static str, &'static str, fn(Ordering) -> bool);

const BOUNDS: [Bound; 4] = [
    ("minimum", "at least", Ordering::is_ge),
    ("exclusiveMinimum", "more than", Ordering::is_gt),
    ("maximum", "at most", Ordering::is_le),
    ("exclusiveMaximum", "less than", Ordering::is_lt),
];

impl<'a> Checker<'a> {
    /// How a message names `value`: never by its text when it came from outside or is a secret.
    fn named(&self, value: &Value, schema: &Map<String, Value>, at: &str) -> String {
        match self.origins.written(at) {
            Some(written) => format!("the value of {written}"),
            None if words::is_secret(schema) && !value.is_null() => "a value that is not shown".to_owned(),
            None => words::shown(value),
        }
    }

    fn refuse(&mut self, at: &str, message: String, hint: Option<String>) {
        self.faults.push(value_fault(Problem { hint, ..Problem::error(at, message) }));
    }

    /// Checks `type`. False when nothing else about the value is worth saying.
    pub(super) fn right_type(&mut self, value: &Value, schema: &'a Map<String, Value>, at: &str) -> bool {
        let allowed = types(schema);
        if allowed.is_empty() || allowed.iter().any(|name| is_type(value, name)) {
            return true;
        }
        let names: Vec<&str> = allowed.iter().map(|name| words::type_name(name)).filter(|n| *n != "nothing").collect();
        let found = self.named(value, schema, at);
        let hint = type_hint(value, &allowed, self.origins.written(at).is_some());
        self.refuse(at, format!("expected {}, found {found}", words::alternatives(&names)), hint);
        false
    }

    /// Checks `const` and `enum`. False when nothing else about the value is worth saying.
    pub(super) fn right_constant(&mut self, value: &Value, schema: &'a Map<String, Value>, at: &str) -> bool {
        let allowed: Vec<&Value> = match (schema.get("const"), schema.get("enum").and_then(Value::as_array)) {
            (Some(constant), _) => vec![constant],
            (None, Some(list)) => list.iter().collect(),
            (None, None) => return true,
        };
        self.one_of(value, &allowed, schema, at)
    }

    /// Refuses a `value` that isn't one of `allowed`.
    pub(super) fn one_of(&mut self, value: &Value, allowed: &[&Value], schema: &Map<String, Value>, at: &str) -> bool {
        if allowed.contains(&value) {
            return true;
        }
        let found = self.named(value, schema, at);
        if let [only] = allowed {
            self.refuse(at, format!("must be {}, found {found}", words::constant(only)), None);
            return false;
        }
        let list: Vec<String> = allowed.iter().map(|constant| words::constant(constant)).collect();
        let texts = allowed.iter().filter_map(|constant| constant.as_str());
        let close =
            value.as_str().filter(|_| self.origins.written(at).is_none()).and_then(|v| suggest::closest(v, texts));
        let hint = close.map(|name| format!("did you mean \"{name}\"?"));
        self.refuse(at, format!("{found} is not one of {}", list.join(", ")), hint);
        false
    }

    pub(super) fn text(&mut self, text: &str, schema: &'a Map<String, Value>, at: &str) {
        let format = schema.get("format").and_then(Value::as_str);
        let wrong = match format {
            Some(Span::FORMAT) => text.parse::<Span>().err(),
            Some(ByteSize::FORMAT) => text.parse::<ByteSize>().err(),
            _ => None,
        };
        if let Some(message) = wrong {
            let message = match self.origins.written(at) {
                Some(written) => message.replace(&format!("\"{text}\""), &format!("the value of {written}")),
                None => message,
            };
            self.refuse(at, message, None);
        }
        self.text_length(text, schema, at);
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            self.pattern(text, pattern, schema, at);
        }
    }

    fn text_length(&mut self, text: &str, schema: &'a Map<String, Value>, at: &str) {
        let length = text.chars().count() as u64;
        match schema.get("minLength").and_then(Value::as_u64) {
            Some(least) if length < least && length == 0 => self.refuse(at, "must not be empty".to_owned(), None),
            Some(least) if length < least => {
                self.refuse(at, format!("must have at least {least} characters, has {length}"), None);
            }
            _ => {}
        }
        if let Some(most) = schema.get("maxLength").and_then(Value::as_u64).filter(|most| length > *most) {
            self.refuse(at, format!("must have at most {most} characters, has {length}"), None);
        }
    }

    fn pattern(&mut self, text: &str, pattern: &str, schema: &'a Map<String, Value>, at: &str) {
        match RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).build() {
            Ok(regex) if regex.is_match(text) => {}
            Ok(_) => {
                let found = self.named(&Value::from(text), schema, at);
                let described = schema.get("x-pattern-hint").and_then(Value::as_str).map(str::to_owned);
                self.refuse(at, format!("{found} does not match the pattern {pattern}"), described);
            }
            Err(_) => self.broken(at, &format!("the pattern {pattern} is not a regular expression")),
        }
    }

    pub(super) fn number(&mut self, number: &Number, schema: &'a Map<String, Value>, at: &str) {
        if let Some((least, most)) = schema.get("format").and_then(Value::as_str).and_then(width) {
            let inside = number.as_i128().is_some_and(|n| (least..=most).contains(&n));
            if number.as_i128().is_some() && !inside {
                self.refuse(at, format!("must be between {least} and {most}, found {number}"), None);
                return;
            }
        }
        for (keyword, words, holds) in BOUNDS {
            let Some(Value::Number(bound)) = schema.get(keyword) else { continue };
            if compare(number, bound).is_some_and(|ordering| !holds(ordering)) {
                let found = self.named(&Value::Number(number.clone()), schema, at);
                self.refuse(at, format!("must be {words} {bound}, found {found}"), None);
            }
        }
        if let Some(Value::Number(step)) = schema.get("multipleOf")
            && !is_multiple(number, step)
        {
            self.refuse(at, format!("must be a multiple of {step}, found {number}"), None);
        }
        if schema.get("format").and_then(Value::as_str) == Some(Span::FORMAT)
            && let Err(message) = Span::from_seconds(number.as_f64().unwrap_or(f64::NAN))
            && number.as_f64().is_some_and(|seconds| seconds >= 0.0)
        {
            self.refuse(at, message, None);
        }
    }
}

/// The types a schema allows; none means all.
pub(super) fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name.as_str()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether `value` is of the schema type `name`. A number with a fraction part, even `.0`, is no integer: native
/// connectors couldn't read it as one.
pub(super) fn is_type(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => name == "number" || (name == "integer" && !number.is_f64()),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

/// What would turn `value` into one of the `allowed` types.
fn type_hint(value: &Value, allowed: &[&str], from_outside: bool) -> Option<String> {
    let wants = |name: &str| allowed.contains(&name);
    match value {
        Value::Null if wants("object") => Some("remove the key, or write {} for an empty block".to_owned()),
        Value::Null => Some("give it a value, or remove the key".to_owned()),
        Value::String(text) if wants("boolean") && !from_outside => match text.to_ascii_lowercase().as_str() {
            "yes" | "on" | "y" | "true" => Some("write true".to_owned()),
            "no" | "off" | "n" | "false" => Some("write false".to_owned()),
            _ => None,
        },
        Value::String(text) if (wants("integer") || wants("number")) && !from_outside => {
            text.parse::<f64>().is_ok().then(|| "remove the quotes".to_owned())
        }
        Value::String(_) | Value::Number(_) if wants("array") => Some("write a list: [value]".to_owned()),
        Value::Number(_) | Value::Bool(_) if wants("string") => Some(format!("put it in quotes: \"{value}\"")),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The range of the integer formats that schemars writes.
fn width(format: &str) -> Option<(i128, i128)> {
    Some(match format {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int64" | "int" => (i64::MIN.into(), i64::MAX.into()),
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "uint64" | "uint" => (0, u64::MAX.into()),
        _ => return None,
    })
}

/// Exact for integers, by floating point otherwise.
fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn is_multiple(number: &Number, step: &Number) -> bool {
    match (number.as_i128(), step.as_i128()) {
        (Some(_), Some(0)) => true,
        (Some(n), Some(step)) => n % step == 0,
        _ => match (number.as_f64(), step.as_f64()) {
            (Some(n), Some(step)) if step > 0.0 => {
                let times = n / step;
                (times - times.round()).abs() < 1e-9
            }
            _ => true,
        },
    }
}
