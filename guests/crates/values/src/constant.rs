//! Constants of a configuration.

use faucet_sdk::Kind;
use faucet_sdk::serde_json::Value as Json;

/// The text of a constant, to be read as some kind with [`parse`](crate::parse): text is written without its quotes.
pub fn constant_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The kind of a constant that names none, by how it is written.
pub fn constant_kind(value: &Json) -> Kind {
    match value {
        Json::Null | Json::String(_) => Kind::Text,
        Json::Bool(_) => Kind::Boolean,
        Json::Number(number) if number.is_i64() => Kind::Int64,
        Json::Number(number) if number.is_u64() => Kind::Uint64,
        Json::Number(_) => Kind::Float64,
        Json::Array(_) | Json::Object(_) => Kind::Json,
    }
}
