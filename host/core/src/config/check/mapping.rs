//! Mappings: which keys may be there, which have to, and what they hold.

use regex::Regex;
use serde_json::{Map, Value};

use super::super::{path, suggest};
use super::{Checker, key_fault, value_fault, words};
use crate::error::Problem;

impl<'a> Checker<'a> {
    pub(super) fn mapping(&mut self, entries: &Map<String, Value>, schema: &'a Map<String, Value>, at: &str) {
        self.required(entries, schema, at);
        self.size(entries.len() as u64, schema, at);
        let properties = schema.get("properties").and_then(Value::as_object);
        let patterns = self.patterns(schema, at);
        for (name, entry) in entries {
            let here = path::key(at, name);
            let mut known = false;
            if let Some(schema) = properties.and_then(|p| p.get(name)) {
                known = true;
                self.value(entry, schema, &here);
            }
            for (_, schema) in patterns.iter().filter(|(pattern, _)| pattern.is_match(name)) {
                known = true;
                self.value(entry, schema, &here);
            }
            if !known {
                self.other(name, entry, schema, at);
            }
            if let Some(names) = schema.get("propertyNames")
                && let Some(fault) = self.trial(&Value::from(name.as_str()), names, &here).into_iter().next()
            {
                self.faults.push(key_fault(fault.problem));
            }
        }
    }

    fn required(&mut self, entries: &Map<String, Value>, schema: &'a Map<String, Value>, at: &str) {
        let missing = |names: &'a Value| names.as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut wanted: Vec<(&str, Option<&str>)> = Vec::new();
        if let Some(names) = schema.get("required") {
            wanted.extend(missing(names).map(|name| (name, None)));
        }
        if let Some(Value::Object(dependent)) = schema.get("dependentRequired") {
            for (present, names) in dependent.iter().filter(|(present, _)| entries.contains_key(*present)) {
                wanted.extend(missing(names).map(|name| (name, Some(present.as_str()))));
            }
        }
        let known = keys(schema);
        // A misspelt key is one problem: it is reported where it stands, with the right spelling.
        let misspelt = |name: &str| {
            let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
            let slip =
                |given: &str| !known.contains(&given) && suggest::closest(given, known.iter().copied()) == Some(name);
            closed && entries.keys().any(|given| slip(given))
        };
        for (name, because) in wanted.into_iter().filter(|(name, _)| !entries.contains_key(*name) && !misspelt(name)) {
            let message = match because {
                Some(present) => format!("the key \"{name}\" is missing: \"{present}\" needs it"),
                None => format!("the key \"{name}\" is missing"),
            };
            let described = schema.get("properties").and_then(|p| p.get(name)).and_then(|p| self.described(p));
            let hint = described.map(|sentence| format!("{name}: {sentence}"));
            self.faults.push(key_fault(Problem { hint, ..Problem::error(at, message) }));
        }
    }

    /// What a property is for: its own description, else that of what it refers to.
    fn described(&self, property: &'a Value) -> Option<String> {
        words::first_sentence(property).or_else(|| words::first_sentence(self.root.follow(property)))
    }

    fn size(&mut self, size: u64, schema: &'a Map<String, Value>, at: &str) {
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        let message = match (bound("minProperties"), bound("maxProperties")) {
            (Some(least), _) if size < least => format!("must have at least {least} keys, has {size}"),
            (_, Some(most)) if size > most => format!("must have at most {most} keys, has {size}"),
            _ => return,
        };
        self.faults.push(value_fault(Problem::error(at, message)));
    }

    fn patterns(&mut self, schema: &'a Map<String, Value>, at: &str) -> Vec<(Regex, &'a Value)> {
        let Some(Value::Object(patterns)) = schema.get("patternProperties") else { return Vec::new() };
        let mut compiled = Vec::with_capacity(patterns.len());
        for (pattern, schema) in patterns {
            match Regex::new(pattern) {
                Ok(regex) => compiled.push((regex, schema)),
                Err(_) => self.broken(at, &format!("the pattern {pattern} is not a regular expression")),
            }
        }
        compiled
    }

    /// Checks an entry that the schema doesn't name.
    fn other(&mut self, name: &str, entry: &Value, schema: &'a Map<String, Value>, at: &str) {
        match (schema.get("additionalProperties"), schema.get("unevaluatedProperties")) {
            (Some(Value::Bool(false)), _) => {
                let known = keys(schema);
                self.unknown(name, &known, schema, at);
            }
            (Some(other), _) => self.value(entry, other, &path::key(at, name)),
            (None, Some(Value::Bool(false))) => {
                let mut known = Vec::new();
                self.all_keys(schema, &mut known, 0);
                if !known.contains(&name) {
                    self.unknown(name, &known, schema, at);
                }
            }
            (None, _) => {}
        }
    }

    fn unknown(&mut self, name: &str, known: &[&str], schema: &'a Map<String, Value>, at: &str) {
        let here = path::key(at, name);
        let later = schema.get("x-not-yet").and_then(|later| later.get(name)).and_then(Value::as_str);
        let problem = match later {
            Some(why) => Problem::error(here, format!("\"{name}\" is not available in this version")).hint(why),
            None => {
                Problem::error(here, format!("unknown key \"{name}\"")).hint(suggest::hint(name, known, "allowed keys"))
            }
        };
        self.faults.push(key_fault(problem));
    }

    /// The keys named anywhere in `schema` for the same mapping.
    fn all_keys(&self, schema: &'a Map<String, Value>, known: &mut Vec<&'a str>, depth: u32) {
        if depth > 8 {
            return;
        }
        known.extend(keys(schema));
        if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|r| self.root.resolve(r)) {
            target.as_object().into_iter().for_each(|target| self.all_keys(target, known, depth + 1));
        }
        let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|k| schema.get(k)?.as_array()).flatten();
        let single = ["if", "then", "else"].into_iter().filter_map(|k| schema.get(k));
        for part in lists.chain(single).filter_map(Value::as_object) {
            self.all_keys(part, known, depth + 1);
        }
    }
}

/// The keys `schema` names itself.
fn keys(schema: &Map<String, Value>) -> Vec<&str> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}
