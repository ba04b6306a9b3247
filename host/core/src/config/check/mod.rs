//! Checks a tree of values against a JSON Schema (draft 2020-12) and says what is wrong in words.
//!
//! Every part of a configuration is described by a JSON Schema: the document by `schemars`, native connectors by
//! `schemars`, plugins by whatever their author wrote. One walk over schema and values finds all problems at once and
//! words them for a person: which keys are allowed, which value was meant, which form of a choice comes closest.
//!
//! Honoured: `$ref` (inside the schema), `type`, `enum`, `const`, `properties`, `patternProperties`,
//! `additionalProperties`, `unevaluatedProperties`, `propertyNames`, `required`, `dependentRequired`, `minProperties`,
//! `maxProperties`, `items`, `prefixItems`, `contains`, `minItems`, `maxItems`, `uniqueItems`, `minimum`, `maximum`,
//! `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`, `minLength`, `maxLength`, `pattern`, `allOf`, `anyOf`,
//! `oneOf`, `not`, `if`/`then`/`else`, and as `format` the integer widths, [`Span`](super::Span) and
//! [`ByteSize`](super::ByteSize). Other keywords are annotations here. `x-not-yet` is ours: keys that will exist, with
//! a word on why they don't.
//!
//! A schema may be hostile (a plugin's): recursion and effort are bounded, and an unusable schema is a problem, not a
//! panic.

mod choice;
mod coerce;
mod list;
mod mapping;
mod reference;
mod scalar;
mod words;

use std::cell::Cell;

use serde_json::{Map, Value};

pub(super) use coerce::coerce;
use reference::Root;

use super::interpolate::Origins;
use super::locate::Spot;
use crate::error::Problem;

/// The deepest recursion through schema and value.
const DEEPEST: u32 = 128;

/// The most steps one check takes. Real schemas need a few thousand.
const MOST_STEPS: u32 = 500_000;

/// A problem, and which part of its entry to point at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong, with its path.
    pub problem: Problem,
    /// Whether the key or the value is at fault.
    pub spot: Spot,
}

/// Checks `value` against `schema` and returns everything that is wrong, in the order of the schema's walk. Paths start
/// at `value`.
pub fn check(value: &Value, schema: &Value) -> Vec<Problem> {
    check_at(value, schema, "", &Origins::default()).into_iter().map(|fault| fault.problem).collect()
}

/// Like [`check`], for a `value` that stands at `base` in a document and may hold interpolated scalars, whose text is
/// then kept out of messages.
pub fn check_at(value: &Value, schema: &Value, base: &str, origins: &Origins) -> Vec<Fault> {
    let steps = Cell::new(0);
    let mut checker = Checker::new(Root::new(schema), origins, &steps);
    checker.value(value, schema, base);
    let mut faults = checker.faults;
    if steps.get() > MOST_STEPS {
        faults = vec![value_fault(Problem::error(base, "the schema of this part is too complex to be checked"))];
    }
    let mut seen = std::collections::HashSet::new();
    faults.retain(|fault| seen.insert((fault.problem.path.clone(), fault.problem.message.clone())));
    faults
}

fn value_fault(problem: Problem) -> Fault {
    Fault { problem, spot: Spot::Value }
}

fn key_fault(problem: Problem) -> Fault {
    Fault { problem, spot: Spot::Key }
}

/// One walk. Trials for `anyOf` and the like are walks of their own whose faults may be thrown away.
struct Checker<'a> {
    root: Root<'a>,
    origins: &'a Origins,
    steps: &'a Cell<u32>,
    depth: u32,
    faults: Vec<Fault>,
}

impl<'a> Checker<'a> {
    fn new(root: Root<'a>, origins: &'a Origins, steps: &'a Cell<u32>) -> Self {
        Self { root, origins, steps, depth: 0, faults: Vec::new() }
    }

    /// The faults of `value` under `schema`, kept apart.
    fn trial(&self, value: &Value, schema: &'a Value, at: &str) -> Vec<Fault> {
        let mut trial = Self { depth: self.depth, ..Self::new(self.root, self.origins, self.steps) };
        trial.value(value, schema, at);
        trial.faults
    }

    /// Checks `value`, which stands at `at`, against `schema`.
    fn value(&mut self, value: &Value, schema: &'a Value, at: &str) {
        self.steps.set(self.steps.get().saturating_add(1));
        if self.steps.get() > MOST_STEPS {
            return;
        }
        if self.depth >= DEEPEST {
            self.broken(at, "it refers to itself without end");
            return;
        }
        self.depth += 1;
        match schema {
            Value::Bool(true) => {}
            Value::Bool(false) => self.faults.push(value_fault(Problem::error(at, "nothing is allowed here"))),
            Value::Object(schema) => self.keywords(value, schema, at),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                self.broken(at, "a schema is a mapping, true or false");
            }
        }
        self.depth -= 1;
    }

    fn keywords(&mut self, value: &Value, schema: &'a Map<String, Value>, at: &str) {
        if let Some(reference) = schema.get("$ref") {
            match reference.as_str().and_then(|r| self.root.resolve(r)) {
                Some(target) => self.value(value, target, at),
                None => self.broken(at, &format!("it refers to {reference}, which it does not hold")),
            }
        }
        if !self.right_type(value, schema, at) || !self.right_constant(value, schema, at) {
            return;
        }
        match value {
            Value::Object(entries) => self.mapping(entries, schema, at),
            Value::Array(items) => self.list(items, schema, at),
            Value::String(text) => self.text(text, schema, at),
            Value::Number(number) => self.number(number, schema, at),
            Value::Null | Value::Bool(_) => {}
        }
        self.choices(value, schema, at);
    }

    /// Reports that the schema itself is at fault.
    fn broken(&mut self, at: &str, why: &str) {
        self.faults.push(value_fault(Problem::error(at, format!("the schema of this part can't be used: {why}"))));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
