//! One instance of a component, and the calls that every kind of component has.

use super::Ended;
use super::bind::exports::faucet::connector::{sinks, sources, transforms};
use super::bind::faucet::connector::types as wire;
use crate::capability::{Surroundings, World};
use crate::engine::Runtime;
use crate::grant::{Access, Wants};
use crate::limits::Limits;
use crate::plugin::{Description, Names};
use wasmtime::Store;
use wasmtime::component::{Component, InstancePre};

/// What a component is to a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Rows come from it.
    Source,
    /// Rows pass through it.
    Transform,
    /// Rows go to it.
    Sink,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Source, Self::Transform, Self::Sink];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Transform => "transform",
            Self::Sink => "sink",
        }
    }

    /// The interface that makes a component one, without its version.
    pub(crate) fn interface(self) -> &'static str {
        match self {
            Self::Source => "faucet:connector/sources",
            Self::Transform => "faucet:connector/transforms",
            Self::Sink => "faucet:connector/sinks",
        }
    }
}

/// A component that is ready to be instantiated, and where its functions are.
#[derive(Clone)]
pub(crate) struct Pre {
    instance: InstancePre<Surroundings>,
    exported: Exported<transforms::GuestIndices, sources::GuestIndices, sinks::GuestIndices>,
}

/// One of the three interfaces.
#[derive(Clone)]
pub(super) enum Exported<T, S, K> {
    Transform(T),
    Source(S),
    Sink(K),
}

impl Pre {
    pub(crate) fn new(instance: InstancePre<Surroundings>, role: Role) -> wasmtime::Result<Self> {
        let exported = match role {
            Role::Transform => Exported::Transform(transforms::GuestIndices::new(&instance)?),
            Role::Source => Exported::Source(sources::GuestIndices::new(&instance)?),
            Role::Sink => Exported::Sink(sinks::GuestIndices::new(&instance)?),
        };
        Ok(Self { instance, exported })
    }

    pub(crate) fn role(&self) -> Role {
        match self.exported {
            Exported::Transform(_) => Role::Transform,
            Exported::Source(_) => Role::Source,
            Exported::Sink(_) => Role::Sink,
        }
    }

    /// Names of all that the component imports and exports.
    pub(crate) fn world(&self, engine: &wasmtime::Engine) -> Names {
        let component = self.instance.component();
        let imports = component.component_type().imports(engine).map(|(name, _)| name.to_owned()).collect();
        Names { imports, exports: Self::exports(component, engine) }
    }

    /// Names of all that a component exports.
    pub(crate) fn exports(component: &Component, engine: &wasmtime::Engine) -> Vec<String> {
        component.component_type().exports(engine).map(|(name, _)| name.to_owned()).collect()
    }
}

/// The functions of an instance.
type Functions = Exported<transforms::Guest, sources::Guest, sinks::Guest>;

/// An instance of a component.
pub(crate) struct Guest {
    store: Store<Surroundings>,
    pub(super) functions: Functions,
    limits: Limits,
}

impl Guest {
    /// Instantiates. Fails with the surroundings, if there are any, which know what the guest wrote and was refused.
    pub(crate) fn new(
        runtime: &Runtime,
        pre: &Pre,
        world: &World,
    ) -> Result<Self, (Option<Box<Surroundings>>, wasmtime::Error)> {
        let mut store = runtime.store(world).map_err(|error| (None, error))?;
        let limits = world.limits;
        let made = runtime.run(&mut store, &limits, 0, |store| {
            let instance = pre.instance.instantiate(&mut *store)?;
            Ok(match &pre.exported {
                Exported::Transform(indices) => Exported::Transform(indices.load(store, &instance)?),
                Exported::Source(indices) => Exported::Source(indices.load(store, &instance)?),
                Exported::Sink(indices) => Exported::Sink(indices.load(store, &instance)?),
            })
        });
        match made {
            Ok(functions) => Ok(Self { store, functions, limits }),
            Err(error) => Err((Some(Box::new(store.into_data())), error)),
        }
    }

    pub(crate) fn surroundings(&self) -> &Surroundings {
        self.store.data()
    }

    /// What it may use.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Runs one call of the guest. `input` is the size of what it is given.
    pub(super) fn call<R: Send, E: Into<Ended> + Send>(
        &mut self,
        runtime: &Runtime,
        input: usize,
        call: impl FnOnce(&Functions, &mut Store<Surroundings>) -> wasmtime::Result<Result<R, E>> + Send,
    ) -> Result<R, Ended> {
        let Self { store, functions, limits } = self;
        let ended = runtime.run(store, limits, input, |store| call(functions, store));
        ended.map_err(Ended::Broken)?.map_err(Into::into)
    }

    pub(crate) fn describe(&mut self, runtime: &Runtime) -> Result<Description, Ended> {
        self.call(runtime, 0, |functions, store| {
            Ok(Ok::<_, Ended>(match functions {
                Exported::Transform(transform) => transform.call_describe(store)?.into(),
                Exported::Source(source) => source.call_describe(store)?.into(),
                Exported::Sink(sink) => sink.call_describe(store)?.into(),
            }))
        })
    }
}

macro_rules! described {
    ($interface:ident, $deterministic:expr) => {
        impl From<$interface::Description> for Description {
            fn from(said: $interface::Description) -> Self {
                let deterministic: fn(&$interface::Description) -> Option<bool> = $deterministic;
                Self {
                    deterministic: deterministic(&said),
                    name: said.name,
                    version: said.version,
                    summary: said.summary,
                    config_schema: serde_json::Value::String(said.config_schema),
                    wants: said.wants.into(),
                }
            }
        }
    };
}

described!(transforms, |said| Some(said.deterministic));
described!(sources, |_| None);
described!(sinks, |_| None);

impl From<wire::Wants> for Wants {
    fn from(wants: wire::Wants) -> Self {
        let access = |write| if write { Access::Write } else { Access::Read };
        Self {
            http: wants.http,
            dirs: wants.dirs.into_iter().map(|dir| (dir.name, access(dir.write))).collect(),
            env: wants.env,
            secrets: wants.secrets,
            clock: wants.clock,
            random: wants.random,
        }
    }
}
