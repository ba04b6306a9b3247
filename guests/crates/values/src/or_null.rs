//! Choices that are named `null`, which YAML reads as nothing unless it is quoted.

use faucet_sdk::schemars::{JsonSchema, Schema, SchemaGenerator};
use faucet_sdk::serde::de::{Deserialize, Deserializer};
use std::borrow::Cow;

/// A choice one of whose names is `null`.
pub trait NamedNull {
    /// The choice of that name.
    const NULL: Self;
}

/// A choice that can be written as `null` with and without quotes.
#[derive(Debug, Clone, Copy, Default)]
pub struct OrNull<T>(pub T);

impl<'de, T: Deserialize<'de> + NamedNull> Deserialize<'de> for OrNull<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::deserialize(deserializer)?.unwrap_or(T::NULL)))
    }
}

impl<T: JsonSchema> JsonSchema for OrNull<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        <Option<T>>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <Option<T>>::json_schema(generator)
    }
}
