//! Lists.

use serde_json::{Map, Value};

use super::super::path;
use super::{Checker, value_fault, words};
use crate::error::Problem;

impl<'a> Checker<'a> {
    pub(super) fn list(&mut self, items: &[Value], schema: &'a Map<String, Value>, at: &str) {
        self.list_length(items.len() as u64, schema, at);
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.unique(items, at);
        }
        let fixed = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (nth, item) in items.iter().enumerate() {
            if let Some(schema) = fixed.get(nth).or_else(|| schema.get("items")) {
                self.value(item, schema, &path::item(at, nth));
            }
        }
        if let Some(wanted) = schema.get("contains")
            && !items.iter().enumerate().any(|(nth, item)| self.trial(item, wanted, &path::item(at, nth)).is_empty())
        {
            self.faults.push(value_fault(Problem::error(at, "the list lacks an element that has to be in it")));
        }
    }

    fn list_length(&mut self, length: u64, schema: &'a Map<String, Value>, at: &str) {
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        let message = match (bound("minItems"), bound("maxItems")) {
            (Some(least), _) if length == 0 && least > 0 => "the list must not be empty".to_owned(),
            (Some(least), _) if length < least => format!("the list must have at least {least} elements, has {length}"),
            (_, Some(most)) if length > most => format!("the list must have at most {most} elements, has {length}"),
            _ => return,
        };
        self.faults.push(value_fault(Problem::error(at, message)));
    }

    fn unique(&mut self, items: &[Value], at: &str) {
        let mut seen = std::collections::HashMap::new();
        for (nth, item) in items.iter().enumerate() {
            let Some(first) = seen.insert(item.to_string(), nth) else { continue };
            let here = path::item(at, nth);
            let found = match self.origins.written(&here) {
                Some(written) => format!("the value of {written}"),
                None => words::shown(item),
            };
            let problem = Problem::error(here, format!("{found} is in the list twice: it is also element {first}"));
            self.faults.push(value_fault(problem));
        }
    }
}
