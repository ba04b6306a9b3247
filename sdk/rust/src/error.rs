//! Why a component could not open or could not do what it was asked.

use crate::bindings::faucet::connector::types as wire;
use std::fmt;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure, in words a person can act on.
///
/// Never put a cell value or a secret into a message: it ends up in logs.
///
/// ```
/// use faucet_sdk::{Error, Result};
/// fn width(n: usize) -> Result<usize> {
///     if n == 0 { Err(Error::config("width", "must be at least 1")) } else { Ok(n) }
/// }
/// assert_eq!(width(0).unwrap_err().to_string(), "width: must be at least 1");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Error(Cause);

#[derive(Debug, Clone, PartialEq)]
enum Cause {
    Config(Vec<(String, String)>),
    Unavailable(String),
    Unsupported(String),
    Failed(String),
}

impl Error {
    /// It can't be done, and trying again would not help; `message` is one sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Cause::Failed(message.into()))
    }

    /// The other end can't answer now: the host tries again later.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self(Cause::Unavailable(message.into()))
    }

    /// The component does not offer this.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self(Cause::Unsupported(message.into()))
    }

    /// Whether trying again later may help.
    pub fn is_unavailable(&self) -> bool {
        matches!(self.0, Cause::Unavailable(_))
    }

    /// The configuration can't be used. `path` is dotted from its start (`columns.email.method`), empty for all of it.
    pub fn config(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self(Cause::Config(vec![(path.into(), message.into())]))
    }

    /// Adds another thing wrong with the configuration, so that a user can mend all of them at once.
    #[must_use]
    pub fn and_config(mut self, path: impl Into<String>, message: impl Into<String>) -> Self {
        let next = (path.into(), message.into());
        match &mut self.0 {
            Cause::Config(problems) => problems.push(next),
            Cause::Failed(_) | Cause::Unavailable(_) | Cause::Unsupported(_) => self.0 = Cause::Config(vec![next]),
        }
        self
    }

    /// Everything wrong with the configuration as (path, message); empty if the failure is of another sort.
    pub fn problems(&self) -> &[(String, String)] {
        match &self.0 {
            Cause::Config(problems) => problems,
            Cause::Failed(_) | Cause::Unavailable(_) | Cause::Unsupported(_) => &[],
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems = match &self.0 {
            Cause::Failed(message) | Cause::Unavailable(message) | Cause::Unsupported(message) => {
                return f.write_str(message);
            }
            Cause::Config(problems) => problems,
        };
        for (at, (path, message)) in problems.iter().enumerate() {
            let gap = if at == 0 { "" } else { "; " };
            match path.as_str() {
                "" => write!(f, "{gap}{message}")?,
                path => write!(f, "{gap}{path}: {message}")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl From<&str> for Error {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<Error> for wire::Error {
    fn from(error: Error) -> Self {
        match error.0 {
            Cause::Failed(message) => Self::Failed(message),
            Cause::Unavailable(message) => Self::Unavailable(message),
            Cause::Unsupported(message) => Self::Unsupported(message),
            Cause::Config(problems) => Self::InvalidConfig(
                problems.into_iter().map(|(path, message)| wire::Problem { path, message }).collect(),
            ),
        }
    }
}
