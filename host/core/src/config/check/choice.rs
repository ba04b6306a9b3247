//! Schemas made of schemas: `allOf`, `anyOf`, `oneOf`, `not`, `if`.
//!
//! A value that fits no branch is explained by the branch that was meant: the one its `type` key names, else the only
//! one of its kind, else the one it comes closest to.

use serde_json::{Map, Value};

use super::super::{path, suggest};
use super::scalar::{is_type, types};
use super::{Checker, Fault, key_fault, value_fault, words};
use crate::error::Problem;

impl<'a> Checker<'a> {
    pub(super) fn choices(&mut self, value: &Value, schema: &'a Map<String, Value>, at: &str) {
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.value(value, part, at);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
                self.branches(value, branches, keyword == "oneOf", schema, at);
            }
        }
        if let Some(unwanted) = schema.get("not")
            && self.trial(value, unwanted, at).is_empty()
        {
            self.faults.push(value_fault(Problem::error(at, "has a form that is not allowed")));
        }
        if let Some(condition) = schema.get("if") {
            let holds = self.trial(value, condition, at).is_empty();
            if let Some(then) = schema.get(if holds { "then" } else { "else" }) {
                self.value(value, then, at);
            }
        }
    }

    fn branches(&mut self, value: &Value, branches: &'a [Value], one: bool, schema: &'a Map<String, Value>, at: &str) {
        let mut attempts: Vec<Vec<Fault>> = branches.iter().map(|branch| self.trial(value, branch, at)).collect();
        match attempts.iter().filter(|faults| faults.is_empty()).count() {
            0 => {}
            1 => return,
            _ if !one => return,
            _ => {
                self.faults.push(value_fault(Problem::error(at, "fits several forms of which only one is allowed")));
                return;
            }
        }
        if let Some(constants) = self.all_constants(branches) {
            self.one_of(value, &constants, schema, at);
        } else if let Some((tag, names)) = self.tag(branches) {
            self.tagged(value, tag, &names, &mut attempts, at);
        } else {
            self.closest(value, branches, attempts, at);
        }
    }

    fn all_constants(&self, branches: &'a [Value]) -> Option<Vec<&'a Value>> {
        let lists: Option<Vec<_>> = branches.iter().map(|branch| self.root.constants(branch)).collect();
        lists.map(|lists| lists.into_iter().flatten().collect())
    }

    /// The key whose constant tells the branches apart, with each branch's constants for it.
    fn tag(&self, branches: &'a [Value]) -> Option<(&'a str, Vec<Vec<&'a Value>>)> {
        let first = self.root.follow(branches.first()?).get("properties")?.as_object()?;
        first.keys().find_map(|key| {
            let names: Option<Vec<_>> = branches
                .iter()
                .map(|branch| self.root.constants(self.root.follow(branch).get("properties")?.get(key)?))
                .collect();
            names.map(|names| (key.as_str(), names))
        })
    }

    fn tagged(&mut self, value: &Value, tag: &str, names: &[Vec<&Value>], attempts: &mut [Vec<Fault>], at: &str) {
        let Some(entries) = value.as_object() else {
            let problem = Problem::error(at, format!("expected a mapping, found {}", self.shown_at(value, at)));
            self.faults.push(value_fault(problem.hint(format!("its key \"{tag}\" says which form it has"))));
            return;
        };
        let all: Vec<&Value> = names.iter().flatten().copied().collect();
        let list: Vec<String> = all.iter().map(|name| words::constant(name)).collect();
        let Some(given) = entries.get(tag) else {
            let problem = Problem::error(at, format!("the key \"{tag}\" is missing"));
            self.faults.push(key_fault(problem.hint(format!("{tag} is one of {}", list.join(", ")))));
            return;
        };
        match names.iter().position(|names| names.contains(&given)) {
            Some(meant) => self.faults.append(&mut attempts[meant]),
            None => {
                self.one_of(given, &all, &Map::new(), &path::key(at, tag));
            }
        }
    }

    /// Reports the faults of the branch that `value` comes closest to.
    fn closest(&mut self, value: &Value, branches: &'a [Value], attempts: Vec<Vec<Fault>>, at: &str) {
        let mut fitting: Vec<(usize, Vec<Fault>)> =
            attempts.into_iter().enumerate().filter(|(nth, _)| self.could_be(value, &branches[*nth])).collect();
        if fitting.is_empty() {
            let wanted: Vec<&str> = self.wanted(branches);
            let found = self.shown_at(value, at);
            let message = match wanted.as_slice() {
                [] => format!("{found} has none of the allowed forms"),
                wanted => format!("expected {}, found {found}", words::alternatives(wanted)),
            };
            self.faults.push(value_fault(Problem::error(at, message)));
            return;
        }
        if let (Some(entries), Some(keys)) = (value.as_object(), self.keyed(branches)) {
            let meant = fitting.iter().position(|(nth, _)| keys[*nth].is_some_and(|key| entries.contains_key(key)));
            match meant {
                Some(meant) => self.faults.append(&mut fitting[meant].1),
                None => self.unkeyed(entries, keys, at),
            }
            return;
        }
        let nearest = (0..fitting.len()).min_by_key(|nth| fitting[*nth].1.len()).unwrap_or(0);
        self.faults.append(&mut fitting[nearest].1);
    }

    /// For branches such as `{ basic: ... }` and `{ token: ... }`, whose only key says which is meant: that key of
    /// each, `None` for branches that aren't mappings.
    fn keyed(&self, branches: &'a [Value]) -> Option<Vec<Option<&'a str>>> {
        let key = |branch: &'a Value| match single_key(branch) {
            Some(key) => Some(Some(key)),
            None if branch.get("type").is_some_and(|kind| kind != "object") => Some(None),
            None => branch.get("const").map(|_| None),
        };
        branches.iter().map(|branch| key(self.root.follow(branch))).collect()
    }

    fn unkeyed(&mut self, entries: &Map<String, Value>, keys: Vec<Option<&str>>, at: &str) {
        let keys: Vec<&str> = keys.into_iter().flatten().collect();
        let problem = match entries.keys().next() {
            Some(given) => Problem::error(path::key(at, given), format!("unknown key \"{given}\""))
                .hint(suggest::hint(given, &keys, "give one of the keys")),
            None => Problem::error(at, format!("give one of the keys {}", keys.join(", "))),
        };
        self.faults.push(key_fault(problem));
    }

    fn shown_at(&self, value: &Value, at: &str) -> String {
        match self.origins.written(at) {
            Some(written) => format!("the value of {written}"),
            None => words::shown(value),
        }
    }

    /// Whether `value` is of a type that `branch` takes.
    fn could_be(&self, value: &Value, branch: &'a Value) -> bool {
        let Some(branch) = self.root.follow(branch).as_object() else { return false };
        let allowed = types(branch);
        allowed.is_empty() || allowed.iter().any(|name| is_type(value, name))
    }

    /// What the branches take, in words, without `null`.
    fn wanted(&self, branches: &'a [Value]) -> Vec<&'a str> {
        let mut names = Vec::new();
        for branch in branches.iter().filter_map(|branch| self.root.follow(branch).as_object()) {
            for name in types(branch).into_iter().map(words::type_name).filter(|name| *name != "nothing") {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}

/// The only key a branch has, when it has one.
fn single_key(branch: &Value) -> Option<&str> {
    match branch.get("required")?.as_array()?.as_slice() {
        [only] => only.as_str(),
        _ => None,
    }
}
