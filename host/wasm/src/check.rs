//! What a plugin says about a configuration. It is asked on an instance with nothing granted, and once for each
//! configuration: validating, planning and opening go by the same answer.

use crate::fault::{Call, Written};
use crate::log::cut;
use crate::plugin::Shared;
use crate::v0_1::{self, Ended, Role};
use faucet_core::error::{Error, Problem};
use faucet_core::ports::{SinkCapabilities, SourceCapabilities};
use std::collections::HashMap;
use std::error::Error as _;
use std::sync::{Mutex, PoisonError};

/// Configurations of a plugin whose answers are kept.
const KEPT: usize = 64;

/// Bytes of what a plugin wrote last, in a problem of its configuration.
const WORDS: usize = 1000;

/// What a plugin can do under a configuration that it accepts.
#[derive(Debug, Clone)]
pub(crate) enum Able {
    Transform,
    Source(SourceCapabilities),
    Sink(SinkCapabilities),
}

impl Able {
    /// What a source can do.
    pub(crate) fn source(self) -> SourceCapabilities {
        match self {
            Self::Source(able) => able,
            Self::Transform | Self::Sink(_) => unreachable!("only a source is asked as one"),
        }
    }

    /// What a sink can do.
    pub(crate) fn sink(self) -> SinkCapabilities {
        match self {
            Self::Sink(able) => able,
            Self::Transform | Self::Source(_) => unreachable!("only a sink is asked as one"),
        }
    }
}

/// Why a plugin can do nothing under a configuration.
pub(crate) enum Refusal {
    /// It says what is wrong with it.
    Config(Vec<Problem>),
    /// It did not get so far.
    Error(Error),
}

impl Refusal {
    /// As problems of the configuration.
    pub(crate) fn problems(self) -> Vec<Problem> {
        match self {
            Self::Config(problems) => problems,
            Self::Error(error) => vec![as_problem(&error)],
        }
    }
}

/// The error and the plugin's last words, in one line.
fn as_problem(error: &Error) -> Problem {
    let written = error.source().and_then(|cause| cause.downcast_ref::<Written>());
    let words = written.map_or_else(String::new, |Written(text)| {
        let start = text.ceil_char_boundary(text.len().saturating_sub(WORDS));
        format!("; the plugin wrote: {}", cut(&text[start..]))
    });
    let problem = Problem::error("", format!("{error}{words}"));
    match error.hint_text() {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

/// The answers of a plugin, by configuration.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<HashMap<String, Able>>);

impl Answers {
    fn get(&self, config: &str) -> Option<Able> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(config).cloned()
    }

    fn keep(&self, config: &str, able: &Able) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT {
            kept.clear();
        }
        kept.insert(config.to_owned(), able.clone());
    }
}

impl Shared {
    /// What the plugin can do under a configuration, JSON as text. Touches nothing.
    pub(crate) fn check(&self, config: &str) -> Result<Able, Refusal> {
        if let Some(able) = self.answers.get(config) {
            return Ok(able);
        }
        let call = if self.role() == Role::Transform { Call::Open } else { Call::Check };
        let mut guest = self.closed(&call).map_err(Refusal::Error)?;
        let runtime = &self.runtime;
        let said = match self.role() {
            Role::Transform => v0_1::open_transform(&mut guest, runtime, config).map(|_| Able::Transform),
            Role::Source => v0_1::check_source(&mut guest, runtime, config).map(Able::Source),
            Role::Sink => v0_1::check_sink(&mut guest, runtime, config).map(Able::Sink),
        };
        match said {
            Ok(able) => {
                self.answers.keep(config, &able);
                Ok(able)
            }
            Err(Ended::InvalidConfig(problems)) => Err(Refusal::Config(problems)),
            Err(ended) => Err(Refusal::Error(self.ended(&guest, ended, &call))),
        }
    }

    /// The error that a refusal is to whoever opens the plugin.
    pub(crate) fn refused(&self, refusal: Refusal) -> Error {
        match refusal {
            Refusal::Config(problems) => self.invalid_config(&problems),
            Refusal::Error(error) => error,
        }
    }
}
