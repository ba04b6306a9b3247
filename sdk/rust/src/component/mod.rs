//! Between the generated bindings and what authors implement: configuration from JSON, pages in and out.

mod sink;
mod source;
mod transform;

pub use sink::Component as Sink;
pub use source::Component as Source;
pub use transform::Component as Transform;
#[cfg(not(target_family = "wasm"))]
pub(crate) use transform::{apply, describe, open};

use crate::{Error, Result};
use serde::de::DeserializeOwned;

/// A configuration from its JSON text; what is wrong with it is said with its path.
fn config<C: DeserializeOwned>(text: &str) -> Result<C> {
    let json = &mut serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(json).map_err(|error| {
        let path = match error.path().to_string() {
            whole if whole == "." => String::new(),
            path => path,
        };
        Error::config(path, without_position(&error.into_inner().to_string()))
    })
}

/// The user did not write this JSON, so its line and column would mislead.
fn without_position(message: &str) -> String {
    message.rsplit_once(" at line ").map_or(message, |(message, _)| message).to_owned()
}

/// JSON Schema of a configuration, as text.
fn schema<C: schemars::JsonSchema>() -> String {
    schemars::schema_for!(C).as_value().to_string()
}
