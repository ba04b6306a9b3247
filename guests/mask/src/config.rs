//! The configuration: which columns, and how to mask each.

use crate::method::{Hash, Method, Partial};
use faucet_sdk::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use faucet_sdk::serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use faucet_sdk::{Error, Result, config};
use std::borrow::Cow;
use std::fmt;

/// Which columns to mask, and how.
#[config]
pub struct Config {
    /// A list of columns, all masked the same way, or an object from column to its own settings.
    pub columns: Columns,
    /// How to mask: the method of every column that does not name its own. Default: redact.
    #[serde(default)]
    pub method: Option<MethodName>,
    /// For hash: text put before the value. Keep it secret, or short values can be guessed. Default: none.
    #[serde(default)]
    pub salt: Option<String>,
    /// For redact: what to write. Default: ***
    #[serde(default)]
    pub text: Option<String>,
    /// For partial: number of characters to keep at the start. Default: 0.
    #[serde(default)]
    pub keep_first: Option<u32>,
    /// For partial: number of characters to keep at the end. Default: 4, or 0 with keep_domain.
    #[serde(default)]
    pub keep_last: Option<u32>,
    /// For partial: keep everything from the last @ on, and mask what is before it. Default: false.
    #[serde(default)]
    pub keep_domain: Option<bool>,
    /// What to do if a table has no such column. Default: error.
    #[serde(default)]
    pub on_missing: Missing,
}

/// How to mask one column; what is left out comes from the settings beside `columns`.
#[config]
#[derive(Default)]
pub struct Rule {
    /// How to mask.
    #[serde(default)]
    pub method: Option<MethodName>,
    /// For hash: text put before the value.
    #[serde(default)]
    pub salt: Option<String>,
    /// For redact: what to write.
    #[serde(default)]
    pub text: Option<String>,
    /// For partial: number of characters to keep at the start.
    #[serde(default)]
    pub keep_first: Option<u32>,
    /// For partial: number of characters to keep at the end.
    #[serde(default)]
    pub keep_last: Option<u32>,
    /// For partial: keep everything from the last @ on.
    #[serde(default)]
    pub keep_domain: Option<bool>,
}

/// How to mask.
#[config]
#[derive(Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum MethodName {
    /// SHA-256 of salt and value, as 64 hex digits. Equal values stay equal.
    Hash,
    /// A fixed text.
    Redact,
    /// Every character but a few becomes *.
    Partial,
}

/// What to do about a column that is not there.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Fail: a column that should be hidden may have been renamed.
    #[default]
    Error,
    /// Go on without it.
    Ignore,
}

/// A list of names, or an object from name to rule; in written order.
#[derive(Debug, Clone)]
pub struct Columns(Vec<(String, Rule)>);

impl Config {
    /// The method of every column.
    pub(crate) fn resolve(self) -> Result<Vec<(String, Method)>> {
        let shared = Rule {
            method: self.method,
            salt: self.salt,
            text: self.text,
            keep_first: self.keep_first,
            keep_last: self.keep_last,
            keep_domain: self.keep_domain,
        };
        if self.columns.0.is_empty() {
            return Err(Error::config("columns", "names no column"));
        }
        let mut seen = Vec::new();
        for (name, rule) in self.columns.0 {
            if seen.iter().any(|(other, _)| *other == name) {
                return Err(Error::config("columns", format!("names column '{name}' twice")));
            }
            let method = rule.resolve(&shared, &format!("columns.{name}"))?;
            seen.push((name, method));
        }
        Ok(seen)
    }
}

impl Rule {
    fn resolve(self, shared: &Self, path: &str) -> Result<Method> {
        let method = self.method.or(shared.method).unwrap_or(MethodName::Redact);
        self.refuse_foreign(method, path)?;
        Ok(match method {
            MethodName::Hash => Method::Hash(Hash::new(self.salt.or_else(|| shared.salt.clone()).as_deref())),
            MethodName::Redact => {
                Method::Redact(self.text.or_else(|| shared.text.clone()).unwrap_or_else(|| "***".to_owned()))
            }
            MethodName::Partial => {
                let domain = self.keep_domain.or(shared.keep_domain).unwrap_or(false);
                let last = self.keep_last.or(shared.keep_last).unwrap_or(if domain { 0 } else { 4 });
                let first = self.keep_first.or(shared.keep_first).unwrap_or(0);
                Method::Partial(Partial { first: first as usize, last: last as usize, domain })
            }
        })
    }

    /// A setting of another method is a mistake: it would do nothing.
    fn refuse_foreign(&self, method: MethodName, path: &str) -> Result<()> {
        let settings = [
            ("salt", self.salt.is_some(), MethodName::Hash),
            ("text", self.text.is_some(), MethodName::Redact),
            ("keep_first", self.keep_first.is_some(), MethodName::Partial),
            ("keep_last", self.keep_last.is_some(), MethodName::Partial),
            ("keep_domain", self.keep_domain.is_some(), MethodName::Partial),
        ];
        for (name, given, owner) in settings {
            if given && owner != method {
                let message = format!("belongs to method {}, and this column has {}", owner.name(), method.name());
                return Err(Error::config(format!("{path}.{name}"), message));
            }
        }
        Ok(())
    }
}

impl MethodName {
    fn name(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::Redact => "redact",
            Self::Partial => "partial",
        }
    }
}

impl<'de> Deserialize<'de> for Columns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ColumnsVisitor)
    }
}

struct ColumnsVisitor;

impl<'de> Visitor<'de> for ColumnsVisitor {
    type Value = Columns;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of column names, or an object from column name to its settings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Columns, A::Error> {
        let mut columns = Vec::new();
        while let Some(name) = names.next_element()? {
            columns.push((name, Rule::default()));
        }
        Ok(Columns(columns))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut rules: A) -> Result<Columns, A::Error> {
        let mut columns = Vec::new();
        while let Some(rule) = rules.next_entry()? {
            columns.push(rule);
        }
        Ok(Columns(columns))
    }
}

impl JsonSchema for Columns {
    fn schema_name() -> Cow<'static, str> {
        "Columns".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rule = generator.subschema_for::<Rule>();
        json_schema!({
            "anyOf": [
                { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                { "type": "object", "additionalProperties": rule, "minProperties": 1 },
            ]
        })
    }
}
