//! A plugin that was loaded: what it says about itself, whether it accepts a configuration, and what is made of it.

use crate::capability::{Surroundings, World};
use crate::check::Answers;
use crate::engine::Runtime;
use crate::fault::{
    self, BAD_OUTPUT, Call, DEADLINE, ENGINE, FAILED, FOREIGN_BOOKMARK, INVALID_CONFIG, OUT_OF_MEMORY, SESSION_LOST,
    Subject, TRAP, UNAVAILABLE, UNSUPPORTED, WRONG_WORLD,
};
use crate::grant::Wants;
use crate::limits::Limits;
use crate::log::cut;
use crate::ready::Ready;
use crate::v0_1::{Ended, Guest, GuestTransform, Pre, Role, listed};
use faucet_core::config::check::check;
use faucet_core::error::{Error, Problem, Result, Severity};
use faucet_core::ports::Transform;
use serde_json::Value;
use std::sync::Arc;

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
    /// For a transform: whether the same page always gives the same output.
    pub deterministic: Option<bool>,
    /// What it needs beyond its pages.
    pub wants: Wants,
}

/// A plugin, compiled and ready. Clones share it.
#[derive(Clone)]
pub struct Plugin {
    shared: Arc<Shared>,
    description: Arc<Description>,
    warnings: Arc<[Problem]>,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin").field("subject", &self.shared.subject).finish_non_exhaustive()
    }
}

impl Plugin {
    pub(crate) fn new(shared: Shared, description: Description, warnings: Vec<Problem>) -> Self {
        Self { shared: Arc::new(shared), description: Arc::new(description), warnings: warnings.into() }
    }

    /// The name it goes by in the configuration.
    pub fn name(&self) -> &str {
        self.shared.name()
    }

    /// What it is to a pipeline.
    pub fn role(&self) -> Role {
        self.shared.role()
    }

    /// What the plugin says about itself.
    pub fn describe(&self) -> &Description {
        &self.description
    }

    /// The interface of `wit/` that makes it a plugin, without a version.
    pub fn interface(&self) -> &'static str {
        self.role().interface()
    }

    /// The version of that interface which it was built for.
    pub fn interface_version(&self) -> &str {
        &self.shared.version
    }

    /// What the component imports and exports, as its binary says.
    pub fn world(&self) -> Names {
        self.shared.pre.world(&self.shared.runtime.engine)
    }

    /// For a component that has to be a transform.
    pub(crate) fn not_a_transform(&self) -> Error {
        let what = format!("{} is a {}, and a transform is needed", self.shared.subject, self.role().name());
        Error::new(&WRONG_WORLD, what)
    }

    /// SHA-256 of the component, in hex.
    pub fn digest(&self) -> &str {
        &self.shared.subject.digest
    }

    /// What it may do beyond its pages, one line each.
    pub fn grants(&self) -> Vec<String> {
        self.shared.world.grants.lines()
    }

    /// What it asks for and is not given, or is given and does not ask for; paths start at its entry.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Everything wrong with a configuration: by the schema the plugin describes, and, if that finds nothing, by asking
    /// the plugin. Paths start at the configuration. Runs in the sandbox with nothing granted, and touches nothing.
    pub fn check_config(&self, config: &Value) -> Vec<Problem> {
        let problems = check(config, &self.description.config_schema);
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            return problems;
        }
        match self.shared.check(&config.to_string()) {
            Ok(_) => problems,
            Err(refusal) => refusal.problems(),
        }
    }

    pub(crate) fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// A transform with this configuration, on an instance of its own.
    ///
    /// # Errors
    /// `plugin.invalid_config` if the plugin does not accept the configuration; otherwise as the plugin breaks.
    ///
    /// # Panics
    /// If the plugin is no transform.
    pub fn open(&self, config: Value) -> Result<Box<dyn Transform>> {
        assert_eq!(self.role(), Role::Transform, "only a transform is opened as one");
        Ok(Box::new(GuestTransform::open(self.shared.clone(), config.to_string())?))
    }

    /// Makes an instance and puts it in store, unless there is one: the next [`Plugin::open`] of a transform takes it. A
    /// running pipeline does so by itself.
    pub fn prepare(&self) {
        self.shared.prepare();
    }
}

/// The names of what a component imports and exports, such as `wasi:clocks/wall-clock@0.2.0`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// What it imports.
    pub imports: Vec<String>,
    /// What it exports.
    pub exports: Vec<String>,
}

/// What all instances of a plugin share.
pub(crate) struct Shared {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) subject: Subject,
    pub(crate) world: World,
    /// What it said about configurations.
    pub(crate) answers: Answers,
    /// The version of the interface that it was built for.
    pub(crate) version: String,
    pub(crate) pre: Pre,
    /// The next instance of a transform.
    pub(crate) ready: Ready,
}

impl Shared {
    pub(crate) fn name(&self) -> &str {
        &self.subject.name
    }

    pub(crate) fn role(&self) -> Role {
        self.pre.role()
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.world.limits
    }

    pub(crate) fn describe(&self) -> Result<Description> {
        let call = Call::Describe;
        let mut guest = self.closed(&call)?;
        let said = guest.describe(&self.runtime).map_err(|ended| self.ended(&guest, ended, &call))?;
        said.checked().map_err(|what| self.lied(&guest, &what, &call))
    }

    /// A fresh instance with all that is granted.
    pub(crate) fn instantiate(&self, call: &Call) -> Result<Guest> {
        self.start(&self.world, call)
    }

    fn start(&self, world: &World, call: &Call) -> Result<Guest> {
        Guest::new(&self.runtime, &self.pre, world).map_err(|(surroundings, error)| match surroundings {
            Some(surroundings) if !is_of_the_system(&error) => self.broke(&world.limits, &surroundings, &error, call),
            Some(_) => self.not_started(&error).hint(RESERVED),
            None => self.not_started(&error),
        })
    }

    /// The plugin has no part in it.
    fn not_started(&self, error: &wasmtime::Error) -> Error {
        Error::new(&ENGINE, format!("{} can't be started: {error:#}", self.subject))
    }

    /// A fresh instance with nothing granted, for calls that must not touch the world.
    pub(crate) fn closed(&self, call: &Call) -> Result<Guest> {
        self.start(&self.world.closed(), call)
    }

    /// The error that the end of a call is.
    pub(crate) fn ended(&self, guest: &Guest, ended: Ended, call: &Call) -> Error {
        let surroundings = guest.surroundings();
        match ended {
            Ended::Broken(error) => self.broke(guest.limits(), surroundings, &error, call),
            // What was refused once is refused again.
            Ended::Unavailable(message) if surroundings.was_refused() => {
                let said = self.said(Ended::Failed(message), call, surroundings.written.take());
                self.with_refusal(said, surroundings)
            }
            ended => self.with_refusal(self.said(ended, call, surroundings.written.take()), surroundings),
        }
    }

    /// The instance broke in an earlier call.
    pub(crate) fn gone(&self, call: &Call) -> Error {
        fault::fault(&SESSION_LOST, &self.subject, "broke in an earlier call, and is asked again", call, String::new())
    }

    /// The plugin does not accept its configuration.
    pub(crate) fn invalid_config(&self, problems: &[Problem]) -> Error {
        let what = format!("{} does not accept its configuration: {}", self.subject, listed(problems));
        Error::new(&INVALID_CONFIG, what)
    }

    /// The plugin itself says what is wrong.
    fn said(&self, ended: Ended, call: &Call, written: String) -> Error {
        let (code, message) = match ended {
            Ended::InvalidConfig(problems) => return self.invalid_config(&problems),
            Ended::Unavailable(message) => (&UNAVAILABLE, message),
            Ended::Unsupported(message) => (&UNSUPPORTED, message),
            Ended::Failed(message) => (&FAILED, message),
            Ended::Broken(error) => (&TRAP, error.to_string()),
        };
        let error = fault::fault(code, &self.subject, &format!("says \"{}\"", cut(&message)), call, written);
        if code == &FAILED { error.hint("mend the plugin's configuration, or what reaches it") } else { error }
    }

    /// The call did not come back.
    fn broke(&self, limits: &Limits, seen: &Surroundings, error: &wasmtime::Error, call: &Call) -> Error {
        let verdict = fault::judge(error, seen.meter.refused(), limits);
        self.with_refusal(self.raise(verdict, call, seen), seen)
    }

    /// The answer is too large.
    pub(crate) fn overflowed(&self, guest: &Guest, call: &Call) -> Error {
        self.raise(fault::too_large(self.limits()), call, guest.surroundings())
    }

    /// The answer breaks the contract.
    pub(crate) fn lied(&self, guest: &Guest, what: &str, call: &Call) -> Error {
        let what = format!("broke the contract ({what})");
        fault::fault(&BAD_OUTPUT, &self.subject, &what, call, guest.surroundings().written.take())
    }

    /// The answer breaks the contract, as is seen when the call is over.
    pub(crate) fn broke_contract(&self, what: &str, call: &Call) -> Error {
        fault::fault(&BAD_OUTPUT, &self.subject, &format!("broke the contract ({what})"), call, String::new())
    }

    /// The bookmark is none of this plugin.
    pub(crate) fn foreign_bookmark(&self) -> Error {
        Error::new(&FOREIGN_BOOKMARK, format!("{} did not write the stored bookmark", self.subject))
    }

    /// What was refused in a call is most likely why it failed; or else what the plugin asks for and was not given.
    fn with_refusal(&self, error: Error, surroundings: &Surroundings) -> Error {
        let silent = error.hint_text().is_none() || error.code() == &FAILED;
        match (surroundings.refusal(), &surroundings.grants.missing) {
            (Some(refusal), _) => error.hint(refusal),
            (None, Some(missing)) if silent => error.hint(missing.clone()),
            (None, _) => error,
        }
    }

    fn raise(&self, verdict: fault::Verdict, call: &Call, surroundings: &Surroundings) -> Error {
        // Another instance may do better, unless the answer itself was wrong.
        let lost = [TRAP.id, DEADLINE.id, OUT_OF_MEMORY.id].contains(&verdict.code.id);
        let code = if lost && call.is_of_a_session() { &SESSION_LOST } else { verdict.code };
        let error = fault::fault(code, &self.subject, &verdict.what, call, surroundings.written.take());
        match verdict.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// What to do where an instance gets no memory.
const RESERVED: &str =
    "an instance reserves 4 GiB of addresses for each of its memories: raise the limit for them (`ulimit -v`)";

/// Whether the operating system refused what an instance is made of. Such an error has no type that is known here.
fn is_of_the_system(error: &wasmtime::Error) -> bool {
    error.root_cause().to_string().contains("(os error ")
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
