//! `$ref` inside one schema.

use serde_json::Value;

/// The schema that references are resolved in.
#[derive(Clone, Copy)]
pub(super) struct Root<'a> {
    schema: &'a Value,
}

impl<'a> Root<'a> {
    pub(super) fn new(schema: &'a Value) -> Self {
        Self { schema }
    }

    /// What `reference` points at: `#`, a JSON Pointer such as `#/$defs/Key`, or the plain name of an `$anchor`. Never
    /// leaves the schema.
    pub(super) fn resolve(self, reference: &str) -> Option<&'a Value> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.schema.pointer(fragment);
        }
        let definitions = self.schema.get("$defs")?.as_object()?;
        definitions.values().find(|d| d.get("$anchor").and_then(Value::as_str) == Some(fragment))
    }

    /// `schema` with its chain of `$ref`s followed to the end. Keywords beside a `$ref` are lost: use it only to look
    /// at what kind of thing a schema describes.
    pub(super) fn follow(self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..16 {
            match schema.get("$ref").and_then(Value::as_str).and_then(|r| self.resolve(r)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    /// The constants `schema` allows, when constants are all it allows.
    pub(super) fn constants(self, schema: &'a Value) -> Option<Vec<&'a Value>> {
        let schema = self.follow(schema);
        if let Some(constant) = schema.get("const") {
            return Some(vec![constant]);
        }
        if let Some(list) = schema.get("enum").and_then(Value::as_array) {
            return Some(list.iter().collect());
        }
        let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
        let mut all = Vec::new();
        for branch in branches {
            // One level is enough: schemars writes a documented enum as a `oneOf` of constants.
            let branch = self.follow(branch);
            match (branch.get("const"), branch.get("enum").and_then(Value::as_array)) {
                (Some(constant), _) => all.push(constant),
                (None, Some(list)) => all.extend(list),
                (None, None) => return None,
            }
        }
        Some(all)
    }
}
