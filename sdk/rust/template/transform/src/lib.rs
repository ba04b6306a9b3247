//! Hides the values of text columns. Nulls stay null, and what a row does not have stays away.

use faucet_sdk::{Error, Kind, Output, Page, Result, Transform, config, transform};
use sha2::{Digest, Sha256};

/// What to hide, and how. These comments are the reference that users read.
#[config]
pub struct Config {
    /// Names of text columns.
    columns: Vec<String>,
    /// How: `hash` (SHA-256, equal values stay equal) or `redact` (`***`).
    #[serde(default)]
    method: Method,
}

/// How a value is hidden.
#[config]
#[derive(Default, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// SHA-256 in hexadecimal.
    Hash,
    /// `***`.
    #[default]
    Redact,
}

/// The transform with its configuration.
pub struct Mask(Config);

#[transform]
impl Transform for Mask {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        if config.columns.is_empty() {
            return Err(Error::config("columns", "names no column"));
        }
        Ok(Self(config))
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let mut out = page.pass();
        for name in &self.0.columns {
            let column = page.column(name)?;
            if column.kind() != Kind::Text {
                return Err(Error::new(format!("column '{name}' is no text")));
            }
            if page.is_key(name) && self.0.method == Method::Redact {
                return Err(Error::new(format!("column '{name}' is part of the key: use method hash")));
            }
            out.set(column.map_text(|value, to| self.0.method.write(value, to))?)?;
        }
        Ok(out.into())
    }
}

impl Method {
    fn write(self, value: &str, to: &mut String) {
        match self {
            Self::Redact => to.push_str("***"),
            Self::Hash => Sha256::digest(value).iter().for_each(|byte| to.push_str(&format!("{byte:02x}"))),
        }
    }
}
