//! The configuration.

use faucet_sdk::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use faucet_sdk::serde::de::value::MapAccessDeserializer;
use faucet_sdk::serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use faucet_sdk::{Error, Kind, Result, config};
use faucet_values::config::{KindName, OnError, OnMissing};
use faucet_values::document::Path;
use faucet_values::{OrNull, Ordered, protect_op};
use std::borrow::Cow;
use std::fmt;

/// Which text to read as JSON, and what to do with it.
#[config]
pub struct Config {
    /// The column to read: text, JSON, or a type without a kind of its own.
    pub column: String,
    /// Name of the column for the whole document. Without this and without `fields`, the document replaces the text.
    #[serde(default)]
    pub into: Option<String>,
    /// Columns to make of parts of the document: each name with the path of its part, or with path and kind.
    #[serde(default)]
    pub fields: Ordered<Field>,
    /// Leave the column that is read out of the result. Default: false.
    #[serde(default)]
    pub remove: bool,
    /// What to do with a value that is no JSON, or with a part that is not of its kind. Default: fail.
    #[serde(default)]
    pub on_error: OrNull<OnError>,
    /// What to do if a table lacks the column. Default: error.
    #[serde(default)]
    pub on_missing: OnMissing,
}

/// A part of the document.
#[derive(Debug, Clone)]
pub struct Field(Part);

/// A part of the document.
#[config]
pub struct Part {
    /// The way to the part: names with points between them, [n] for an element of a list, ["a.b"] for any other name.
    pub path: String,
    /// The kind of the column. Default: text, which is a string's text, and the JSON of all else.
    #[serde(default)]
    pub kind: Option<KindName>,
}

/// Where the whole document goes.
#[derive(Debug, PartialEq)]
pub(crate) enum Whole {
    Nowhere,
    InPlace,
    Into(String),
}

impl Config {
    pub(crate) fn whole(&self) -> Result<Whole> {
        protect_op(&self.column, "column")?;
        let whole = match &self.into {
            Some(name) => {
                protect_op(name, "into")?;
                Whole::Into(name.clone())
            }
            None if self.fields.0.is_empty() => Whole::InPlace,
            None => Whole::Nowhere,
        };
        if whole == Whole::InPlace && self.remove {
            return Err(Error::config("remove", "needs `into` or `fields`: nothing would be left"));
        }
        Ok(whole)
    }

    pub(crate) fn fields(&self) -> Result<Vec<(String, Path, Kind)>> {
        let field = |(name, Field(part)): &(String, Field)| {
            let place = format!("fields.{name}");
            protect_op(name, &place)?;
            if self.into.as_ref() == Some(name) {
                return Err(Error::config(place, "has the name that `into` has"));
            }
            let path = Path::parse(&part.path);
            let path = path.ok_or_else(|| Error::config(place, "is no path; one looks like address.lines[0]"))?;
            Ok((name.clone(), path, part.kind.map_or(Kind::Text, Kind::from)))
        };
        self.fields.0.iter().map(field).collect()
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Field;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path, or an object with path and kind")
            }

            fn visit_str<E>(self, path: &str) -> Result<Field, E> {
                Ok(Field(Part { path: path.to_owned(), kind: None }))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Field, A::Error> {
                Part::deserialize(MapAccessDeserializer::new(map)).map(Field)
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl JsonSchema for Field {
    fn schema_name() -> Cow<'static, str> {
        "Field".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let part = generator.subschema_for::<Part>();
        json_schema!({ "anyOf": [{ "type": "string" }, part] })
    }
}
