//! Errors a person can act on.
//!
//! Every failure carries a [`Code`]: a stable identifier with who is to blame, whether trying again can help, and a
//! page of advice that `faucet explain CODE` prints. Codes are constants that live beside the code that raises them.
//! No error text ever contains a cell value or a secret.

use std::error::Error as StdError;
use std::fmt;

/// Shorthand for results in this workspace.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Which party has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The configuration, or how the command was called.
    Config,
    /// The system rows are read from.
    Source,
    /// The system rows are written to.
    Sink,
    /// The store that holds bookmarks.
    State,
    /// A plugin, or the grants and limits it runs under.
    Plugin,
    /// The machine: files, memory, network of this host.
    Environment,
    /// faucet itself.
    Bug,
}

/// Whether the same operation can succeed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Trying again gives the same answer.
    Never,
    /// The fault is likely to pass: try again with growing delays.
    Backoff,
    /// Somebody has to change something outside faucet first; a retry after that works without a new configuration.
    Operator,
}

/// A kind of failure, documented once.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// Stable identifier such as `postgres.slot_missing`: `component.what`.
    pub id: &'static str,
    /// Who has to act.
    pub blame: Blame,
    /// Whether trying again can help.
    pub retry: Retry,
    /// One sentence: what this kind of failure is.
    pub title: &'static str,
    /// A few sentences for `faucet explain`: why it happens and what to do.
    pub help: &'static str,
}

/// A failure: its code, what happened in this case, where, and what to do.
///
/// ```
/// use faucet_core::error::{Blame, Code, Error, Retry};
/// static MISSING: Code = Code {
///     id: "doc.missing", blame: Blame::Source, retry: Retry::Operator,
///     title: "the table does not exist", help: "Create the table, or correct its name.",
/// };
/// let error = Error::new(&MISSING, "table \"public\".\"orders\" does not exist")
///     .context("opening source 'postgres'")
///     .hint("check `query`");
/// assert_eq!(error.to_string(), "table \"public\".\"orders\" does not exist");
/// assert_eq!(error.code().id, "doc.missing");
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    code: &'static Code,
    summary: String,
    context: Vec<String>,
    hint: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of kind `code`; `summary` is one sentence without a full stop that names the thing at fault.
    pub fn new(code: &'static Code, summary: impl Into<String>) -> Self {
        Self(Box::new(Inner { code, summary: summary.into(), context: Vec::new(), hint: None, source: None }))
    }

    /// Adds what was being done, innermost first ("opening source 'postgres'").
    #[must_use]
    pub fn context(mut self, what: impl Into<String>) -> Self {
        self.0.context.push(what.into());
        self
    }

    /// Says what to do about it. A later hint replaces an earlier one.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Keeps the error that caused this one. Only for causes whose text holds no cell value and no secret.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The documented kind of this failure.
    pub fn code(&self) -> &'static Code {
        self.0.code
    }

    /// Whether trying again can help.
    pub fn retry(&self) -> Retry {
        self.0.code.retry
    }

    /// What was being done, innermost first.
    pub fn contexts(&self) -> &[String] {
        &self.0.context
    }

    /// What to do about it, if the raiser knew.
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.summary)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.0.code.id, self.0.summary)?;
        for what in &self.0.context {
            write!(f, "; while {what}")?;
        }
        if let Some(cause) = &self.0.source {
            write!(f, "; caused by: {cause}")?;
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|e| e as &(dyn StdError + 'static))
    }
}

/// A configuration reached a connector without passing the check first.
pub static UNCHECKED_CONFIG: Code = Code {
    id: "config.invalid",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the configuration can't be used as it is",
    help: "`faucet validate FILE` lists every problem with its line and what would fix it.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&UNCHECKED_CONFIG];

/// How bad a [`Problem`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The configuration can't run.
    Error,
    /// It runs, but likely not as meant.
    Warning,
}

/// One thing wrong with a configuration, found without any I/O.
///
/// `path` is dotted from the start of the part that was checked (`config.key[0]`); whoever checks the whole document
/// prefixes it and looks up line and column.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// Whether it stops the run.
    pub severity: Severity,
    /// Dotted path to the offending key or value; empty for the whole part.
    pub path: String,
    /// What is wrong, one sentence.
    pub message: String,
    /// What would fix it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem that stops the run.
    pub fn error(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, path: path.into(), message: message.into(), hint: None }
    }

    /// A problem worth a word that doesn't stop the run.
    pub fn warning(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, path: path.into(), message: message.into(), hint: None }
    }

    /// Adds what would fix it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same problem seen from one level up: `prefix` is put before its path.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        self.path = match (prefix, self.path.as_str()) {
            ("", _) => self.path,
            (_, "") => prefix.to_owned(),
            (_, rest) if rest.starts_with('[') => format!("{prefix}{rest}"),
            (_, rest) => format!("{prefix}.{rest}"),
        };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_join_with_dots_and_brackets() {
        assert_eq!(Problem::error("key", "x").under("config").path, "config.key");
        assert_eq!(Problem::error("[0].type", "x").under("transforms").path, "transforms[0].type");
        assert_eq!(Problem::error("", "x").under("sink").path, "sink");
        assert_eq!(Problem::error("sink", "x").under("").path, "sink");
    }
}
