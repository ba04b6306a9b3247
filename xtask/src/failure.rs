//! How a task ends when it doesn't succeed.

use std::fmt;

/// Shorthand for results of tasks.
pub type Result<T> = std::result::Result<T, Failure>;

/// Why a task failed, in words for the terminal.
#[derive(Debug)]
pub enum Failure {
    /// What the task checks or builds is wrong.
    Failed(String),
    /// The machine lacks something the task can't install itself.
    Environment(String),
}

impl Failure {
    /// A failure of the thing at hand.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// The exit code: 1 or 3, as for `faucet` itself.
    pub fn code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Environment(_) => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(message) | Self::Environment(message) => f.write_str(message),
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
