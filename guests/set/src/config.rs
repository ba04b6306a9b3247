//! The configuration.

use faucet_sdk::serde::de::{Deserialize, Deserializer};
use faucet_sdk::serde_json::Value as Json;
use faucet_sdk::{Error, Kind, Result, config, kind_name};
use faucet_values::config::KindName;
use faucet_values::{Ordered, Reading, constant_kind, constant_text, parse, protect_op};

/// What to set columns to.
#[config]
pub struct Config {
    /// What each column is set to, by its name. One that the table lacks is added at the end.
    pub columns: Ordered<Source>,
}

/// What a column is set to: one of value, copy and table.
#[config]
pub struct Source {
    /// A constant: text, a number, a truth value, JSON or null.
    #[serde(default, deserialize_with = "even_null")]
    pub value: Option<Json>,
    /// The kind of the constant. Default: text, int64, float64, boolean or json, by how it is written; text for null.
    #[serde(default)]
    pub kind: Option<KindName>,
    /// The column to copy.
    #[serde(default)]
    pub copy: Option<String>,
    /// The table the row belongs to.
    #[serde(default)]
    pub table: Option<Part>,
    /// Make the column a part of the key, after the others; for a constant or the table. Default: false.
    #[serde(default)]
    pub key: bool,
}

/// A part of a table's name.
#[config]
#[derive(Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The name.
    Name,
    /// The schema or database, or null where the source has none.
    Schema,
    /// Both with a point between them.
    Full,
}

/// Null is a value here, which `Option` alone would take for none.
fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// What a column is set to, checked.
#[derive(Debug)]
pub(crate) enum Setting {
    /// The text of a constant, or none for null.
    Constant {
        text: Option<String>,
        kind: Kind,
        is_key: bool,
    },
    Copy(String),
    Table {
        part: Part,
        is_key: bool,
    },
}

impl Config {
    pub(crate) fn settings(self) -> Result<Vec<(String, Setting)>> {
        if self.columns.0.is_empty() {
            return Err(Error::config("columns", "names no column"));
        }
        let setting = |(name, source): (String, Source)| {
            let path = format!("columns.{name}");
            protect_op(&name, &path)?;
            Ok((name, source.setting(&path)?))
        };
        self.columns.0.into_iter().map(setting).collect()
    }
}

impl Source {
    fn setting(self, path: &str) -> Result<Setting> {
        let is_key = self.key;
        let foreign = |key: &str, needs: &str| Err(Error::config(format!("{path}.{key}"), format!("needs {needs}")));
        if self.kind.is_some() && self.value.is_none() {
            return foreign("kind", "a `value`");
        }
        match (self.value, self.copy, self.table) {
            (Some(value), None, None) => constant(&value, self.kind, is_key, path),
            (None, Some(_), None) if is_key => foreign("key", "a `value`, or `table`: those are the same in every row"),
            (None, Some(column), None) => protect_op(&column, &format!("{path}.copy")).map(|()| Setting::Copy(column)),
            (None, None, Some(part)) => Ok(Setting::Table { part, is_key }),
            _ => Err(Error::config(path, "needs one of `value`, `copy` and `table`")),
        }
    }
}

fn constant(value: &Json, kind: Option<KindName>, is_key: bool, path: &str) -> Result<Setting> {
    let kind = kind.map_or_else(|| constant_kind(value), Kind::from);
    if value.is_null() {
        return match is_key {
            true => Err(Error::config(format!("{path}.key"), "can't be null")),
            false => Ok(Setting::Constant { text: None, kind, is_key }),
        };
    }
    let text = constant_text(value);
    if parse(&text, kind, &Reading::default()).is_none() {
        return Err(Error::config(format!("{path}.value"), format!("is no {}", kind_name(kind))));
    }
    Ok(Setting::Constant { text: Some(text), kind, is_key })
}
