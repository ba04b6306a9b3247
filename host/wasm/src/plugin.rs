//! A plugin that was loaded: what it says about itself, whether it accepts a configuration, and transforms made of it.

use crate::capability::Surroundings;
use crate::engine::Runtime;
use crate::fault::{self, BAD_OUTPUT, Call, FAILED, INVALID_CONFIG, Subject};
use crate::limits::Limits;
use crate::log::cut;
use crate::v0_1::{Ended, Guest, GuestTransform, Pre, listed};
use faucet_core::config::check::check;
use faucet_core::error::{Code, Error, Problem, Result, Severity};
use faucet_core::ports::Transform;
use serde_json::Value;
use std::sync::Arc;
use wasmtime::component::ResourceAny;

/// What a plugin says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Short name its author gave it.
    pub name: String,
    /// Version of the plugin.
    pub version: String,
    /// One sentence: what it does.
    pub summary: String,
    /// JSON Schema of its configuration.
    pub config_schema: Value,
    /// Whether the same page always gives the same output.
    pub deterministic: bool,
}

/// A plugin, compiled and ready. Clones share it.
#[derive(Clone)]
pub struct Plugin {
    shared: Arc<Shared>,
    description: Arc<Description>,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin").field("subject", &self.shared.subject).finish_non_exhaustive()
    }
}

impl Plugin {
    pub(crate) fn new(shared: Shared) -> Result<Self> {
        let description = Arc::new(shared.describe()?);
        Ok(Self { shared: Arc::new(shared), description })
    }

    /// The name it goes by in the configuration.
    pub fn name(&self) -> &str {
        &self.shared.subject.name
    }

    /// What the plugin says about itself.
    pub fn describe(&self) -> &Description {
        &self.description
    }

    /// SHA-256 of the component, in hex.
    pub fn digest(&self) -> &str {
        &self.shared.subject.digest
    }

    /// Everything wrong with a configuration: by the schema the plugin describes, and, if that finds nothing, by opening
    /// the plugin with it. Paths start at the configuration. Runs in the sandbox and touches nothing.
    pub fn check_config(&self, config: &Value) -> Vec<Problem> {
        let problems = check(config, &self.description.config_schema);
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            return problems;
        }
        match self.shared.try_open(&config.to_string()) {
            Ok(_) => problems,
            Err(Refusal::Config(problems)) => problems,
            Err(Refusal::Other(error)) => vec![Problem::error("", error.to_string())],
        }
    }

    /// A transform with this configuration, on an instance of its own.
    ///
    /// # Errors
    /// `plugin.invalid_config` if the plugin does not accept the configuration; otherwise as the plugin breaks.
    pub fn open(&self, config: Value) -> Result<Box<dyn Transform>> {
        Ok(Box::new(GuestTransform::open(self.shared.clone(), config.to_string())?))
    }
}

/// What all transforms of a plugin share.
pub(crate) struct Shared {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) subject: Subject,
    pub(crate) limits: Limits,
    pub(crate) pre: Pre,
}

/// Why a plugin did not open.
enum Refusal {
    Config(Vec<Problem>),
    Other(Error),
}

impl Shared {
    fn describe(&self) -> Result<Description> {
        let call = Call::Describe;
        let mut guest = self.instantiate(&call)?;
        let said = guest.describe(&self.runtime).map_err(|error| self.broke(guest.surroundings(), &error, &call))?;
        said.checked().map_err(|what| self.lied(&guest, &what, &call))
    }

    /// A fresh instance, opened with a configuration.
    pub(crate) fn open_guest(&self, config: &str) -> Result<(Guest, ResourceAny)> {
        self.try_open(config).map_err(|refusal| match refusal {
            Refusal::Other(error) => error,
            Refusal::Config(problems) => {
                let what = format!("{} does not accept its configuration: {}", self.subject, listed(&problems));
                Error::new(&INVALID_CONFIG, what)
            }
        })
    }

    fn try_open(&self, config: &str) -> Result<(Guest, ResourceAny), Refusal> {
        let call = Call::Open;
        let mut guest = self.instantiate(&call).map_err(Refusal::Other)?;
        match guest.open(&self.runtime, config) {
            Ok(transform) => Ok((guest, transform)),
            Err(Ended::InvalidConfig(problems)) => Err(Refusal::Config(problems)),
            Err(Ended::Failed(message)) => Err(Refusal::Other(self.said(&guest, &FAILED, &message, &call))),
            Err(Ended::Broken(error)) => Err(Refusal::Other(self.broke(guest.surroundings(), &error, &call))),
        }
    }

    fn instantiate(&self, call: &Call) -> Result<Guest> {
        let (name, limits) = (&self.subject.name, &self.limits);
        Guest::new(&self.runtime, &self.pre, name, limits)
            .map_err(|(surroundings, error)| self.broke(&surroundings, &error, call))
    }

    /// The call did not come back.
    pub(crate) fn broke(&self, surroundings: &Surroundings, error: &wasmtime::Error, call: &Call) -> Error {
        let verdict = fault::judge(error, surroundings.meter.refused(), &self.limits);
        self.raise(verdict, call, surroundings)
    }

    /// The answer is too large.
    pub(crate) fn overflowed(&self, guest: &Guest, call: &Call) -> Error {
        self.raise(fault::too_large(&self.limits), call, guest.surroundings())
    }

    /// The answer breaks the contract.
    pub(crate) fn lied(&self, guest: &Guest, what: &str, call: &Call) -> Error {
        let what = format!("broke the contract ({what})");
        fault::fault(&BAD_OUTPUT, &self.subject, &what, call, guest.surroundings().written.take())
    }

    /// The plugin itself says what is wrong.
    pub(crate) fn said(&self, guest: &Guest, code: &'static Code, message: &str, call: &Call) -> Error {
        let what = format!("says \"{}\"", cut(message));
        fault::fault(code, &self.subject, &what, call, guest.surroundings().written.take())
    }

    fn raise(&self, verdict: fault::Verdict, call: &Call, surroundings: &Surroundings) -> Error {
        let error = fault::fault(verdict.code, &self.subject, &verdict.what, call, surroundings.written.take());
        match verdict.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

impl Description {
    /// Checks what a guest said, and reads its schema.
    fn checked(mut self) -> Result<Self, String> {
        let short = !self.name.is_empty() && self.name.len() <= 64;
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
        if !short || !self.name.bytes().all(plain) {
            return Err("its name is not made of a-z, 0-9, _ and -".to_owned());
        }
        if let Value::String(text) = &self.config_schema {
            self.config_schema =
                serde_json::from_str(text).map_err(|error| format!("its config-schema is no JSON: {error}"))?;
        }
        (self.version, self.summary) = (cut(&self.version), cut(&self.summary));
        Ok(self)
    }
}
