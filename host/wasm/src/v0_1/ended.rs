//! How a call ended when it did not end well.

use super::bind::faucet::connector::types as wire;
use crate::fault;
use faucet_core::error::Problem;

/// How a call ended when it did not end well.
pub(crate) enum Ended {
    /// In an orderly manner: the guest says that its configuration is wrong.
    InvalidConfig(Vec<Problem>),
    /// In an orderly manner: the guest says why it can't do it now.
    Unavailable(String),
    /// In an orderly manner: the guest says that it never does this.
    Unsupported(String),
    /// In an orderly manner: the guest says why it can't do it.
    Failed(String),
    /// Without an answer, or with one that can't be read. The instance is of no more use.
    Broken(wasmtime::Error),
}

impl From<wire::Error> for Ended {
    fn from(error: wire::Error) -> Self {
        match error {
            wire::Error::Failed(message) => Self::Failed(message),
            wire::Error::Unavailable(message) => Self::Unavailable(message),
            wire::Error::Unsupported(message) => Self::Unsupported(message),
            wire::Error::InvalidConfig(problems) => {
                Self::InvalidConfig(problems.into_iter().map(|p| Problem::error(p.path, p.message)).collect())
            }
        }
    }
}

/// Problems of a configuration in one line.
pub(crate) fn listed(problems: &[Problem]) -> String {
    let one = |problem: &Problem| match problem.path.as_str() {
        "" => problem.message.clone(),
        path => format!("{path}: {}", problem.message),
    };
    fault::joined(problems.iter().map(one))
}
