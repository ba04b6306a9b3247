//! Everything wrong with a configuration, as one list with places.

use std::fmt;

use serde::Serialize;

use super::locate::Position;
use crate::error::{Error, Problem, Severity, UNCHECKED_CONFIG};

/// A problem with its place in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Located {
    /// What is wrong, and the path to it from the top of the document.
    #[serde(flatten)]
    pub problem: Problem,
    /// Where that is; `None` only when the problem belongs to no place in the text.
    #[serde(flatten)]
    pub position: Option<Position>,
}

/// All problems of one configuration, in the order of their places. Holds no secret: messages are redacted before they
/// get here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// What the configuration is called: a path, or `standard input`.
    pub file: String,
    /// The problems, sorted by line and column.
    pub problems: Vec<Located>,
}

impl Report {
    /// A report over `file`, sorted by place.
    pub fn new(file: impl Into<String>, mut problems: Vec<Located>) -> Self {
        problems.sort_by_key(|p| p.position);
        Self { file: file.into(), problems }
    }

    /// How many of the problems stop the run.
    pub fn errors(&self) -> usize {
        self.problems.iter().filter(|p| p.problem.severity == Severity::Error).count()
    }

    /// Whether any problem stops the run.
    pub fn is_fatal(&self) -> bool {
        self.errors() > 0
    }

    /// The report as one error, for callers that have a single error to return.
    pub fn into_error(self) -> Error {
        let errors = self.errors();
        let what = if errors == 1 { "1 problem".to_owned() } else { format!("{errors} problems") };
        Error::new(&UNCHECKED_CONFIG, format!("{what} in {}", self.file)).caused_by(self)
    }
}

impl std::error::Error for Report {}

/// One line for each problem, `file:line:column: severity: path: message`, and an indented line for each hint.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, Located { problem, position }) in self.problems.iter().enumerate() {
            if nth > 0 {
                writeln!(f)?;
            }
            write!(f, "{}", self.file)?;
            if let Some(Position { line, column }) = position {
                write!(f, ":{line}:{column}")?;
            }
            match problem.severity {
                Severity::Error => write!(f, ": error")?,
                Severity::Warning => write!(f, ": warning")?,
            }
            if !problem.path.is_empty() {
                write!(f, ": {}", problem.path)?;
            }
            write!(f, ": {}", problem.message)?;
            if let Some(hint) = &problem.hint {
                write!(f, "\n    {hint}")?;
            }
        }
        Ok(())
    }
}
