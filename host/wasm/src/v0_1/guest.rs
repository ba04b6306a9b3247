//! One instance of a component, and its three calls.

use super::bind::exports::faucet::connector::transforms as exported;
use super::bind::faucet::connector::types as wire;
use super::bind::{Transform as Bindings, TransformPre};
use super::encode;
use crate::capability::Surroundings;
use crate::engine::Runtime;
use crate::limits::Limits;
use crate::plugin::Description;
use faucet_core::error::Problem;
use faucet_core::model::Page;
use wasmtime::Store;
use wasmtime::component::{Component, InstancePre, ResourceAny};

/// A component that is ready to be instantiated.
#[derive(Clone)]
pub(crate) struct Pre(TransformPre<Surroundings>);

impl Pre {
    pub(crate) fn new(pre: InstancePre<Surroundings>) -> wasmtime::Result<Self> {
        TransformPre::new(pre).map(Self)
    }

    /// Names of all that a component exports.
    pub(crate) fn exports(component: &Component, engine: &wasmtime::Engine) -> Vec<String> {
        component.component_type().exports(engine).map(|(name, _)| name.to_owned()).collect()
    }
}

/// How a call ended when it did not end well.
pub(crate) enum Ended {
    /// In an orderly manner: the guest says that its configuration is wrong.
    InvalidConfig(Vec<Problem>),
    /// In an orderly manner: the guest says why it can't do it.
    Failed(String),
    /// Without an answer, or with one that can't be read. The instance is of no more use.
    Broken(wasmtime::Error),
}

impl From<wire::Error> for Ended {
    fn from(error: wire::Error) -> Self {
        match error {
            wire::Error::Failed(message) => Self::Failed(message),
            wire::Error::InvalidConfig(problems) => {
                Self::InvalidConfig(problems.into_iter().map(|p| Problem::error(p.path, p.message)).collect())
            }
        }
    }
}

/// An instance of a component.
pub(crate) struct Guest {
    store: Store<Surroundings>,
    bindings: Bindings,
    limits: Limits,
}

impl Guest {
    /// Instantiates. Fails with the surroundings, which know what the guest wrote and was refused.
    pub(crate) fn new(
        runtime: &Runtime,
        pre: &Pre,
        plugin: &str,
        limits: &Limits,
    ) -> Result<Self, (Box<Surroundings>, wasmtime::Error)> {
        let mut store = runtime.store(plugin, limits);
        match runtime.run(&mut store, limits, 0, |store| pre.0.instantiate(store)) {
            Ok(bindings) => Ok(Self { store, bindings, limits: *limits }),
            Err(error) => Err((Box::new(store.into_data()), error)),
        }
    }

    pub(crate) fn surroundings(&self) -> &Surroundings {
        self.store.data()
    }

    pub(crate) fn describe(&mut self, runtime: &Runtime) -> wasmtime::Result<Description> {
        let (bindings, limits) = (&self.bindings, &self.limits);
        let transforms = bindings.faucet_connector_transforms();
        let said = runtime.run(&mut self.store, limits, 0, |store| transforms.call_describe(store))?;
        Ok(said.into())
    }

    pub(crate) fn open(&mut self, runtime: &Runtime, config: &str) -> Result<ResourceAny, Ended> {
        let (bindings, limits) = (&self.bindings, &self.limits);
        let transforms = bindings.faucet_connector_transforms();
        let opened = runtime.run(&mut self.store, limits, config.len(), |store| transforms.call_open(store, config));
        Ok(opened.map_err(Ended::Broken)??)
    }

    pub(crate) fn apply(
        &mut self,
        runtime: &Runtime,
        transform: ResourceAny,
        page: &Page,
    ) -> Result<wire::Output, Ended> {
        let lent = encode::lend(page);
        let (columns, key) = (encode::columns(page, &lent), encode::key(page));
        let sent = encode::page(page, &columns, &key);
        let (bindings, limits) = (&self.bindings, &self.limits);
        let transforms = bindings.faucet_connector_transforms().transform();
        let applied = runtime
            .run(&mut self.store, limits, encode::size(&lent), |store| transforms.call_apply(store, transform, sent));
        Ok(applied.map_err(Ended::Broken)??)
    }
}

impl From<exported::Description> for Description {
    fn from(said: exported::Description) -> Self {
        Self {
            name: said.name,
            version: said.version,
            summary: said.summary,
            config_schema: serde_json::Value::String(said.config_schema),
            deterministic: said.deterministic,
        }
    }
}
