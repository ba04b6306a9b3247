//! A component behind the port [`Transform`].

use super::bind::faucet::connector::types as wire;
use super::decode::{Decoder, Lie};
use super::guest::Exported;
use super::{Ended, Guest, encode};
use crate::engine::Runtime;
use crate::fault::{Call, NEEDS_ROWS};
use crate::plugin::Shared;
use async_trait::async_trait;
use faucet_core::error::{Error, Result};
use faucet_core::model::Page;
use faucet_core::ports::{Output, Transform};
use std::sync::Arc;
use tracing::warn;
use wasmtime::component::ResourceAny;

/// A plugin with a configuration. It owns one instance; when that breaks, the next call makes a fresh one.
pub(crate) struct GuestTransform {
    plugin: Arc<Shared>,
    config: String,
    live: Option<(Guest, ResourceAny)>,
    decoder: Decoder,
}

/// Why a page was not transformed.
enum Failure {
    /// The guest said so. Its instance is sound.
    Refused(Error),
    /// The guest broke. Another try on a fresh instance may do.
    Broke(Error),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(error) | Failure::Broke(error) => error,
        }
    }
}

impl GuestTransform {
    /// Opens the plugin with a configuration, JSON as text.
    pub(crate) fn open(plugin: Arc<Shared>, config: String) -> Result<Self> {
        let mut transform = Self { plugin, config, live: None, decoder: Decoder::default() };
        transform.live = Some(transform.fresh()?);
        Ok(transform)
    }

    /// An instance that served nobody yet, opened.
    fn fresh(&self) -> Result<(Guest, ResourceAny)> {
        let plugin = &self.plugin;
        let mut guest = plugin.next(&Call::Open)?;
        let transform = open(&mut guest, &plugin.runtime, &self.config);
        transform.map_err(|ended| plugin.ended(&guest, ended, &Call::Open)).map(|transform| (guest, transform))
    }

    /// One try at a page. An instance that broke is dropped.
    fn attempt(&mut self, page: &Page) -> Result<Output, Failure> {
        let (mut guest, transform) = match self.live.take() {
            Some(live) => live,
            None => self.fresh().map_err(Failure::Broke)?,
        };
        let plugin = &self.plugin;
        let call = || Call::Apply { table: page.schema().table.to_string(), rows: page.rows() };
        match apply(&mut guest, &plugin.runtime, transform, page) {
            Ok(answer) => match self.decoder.output(page, answer, plugin.limits()) {
                Ok(output) => {
                    self.live = Some((guest, transform));
                    Ok(output)
                }
                Err(Lie::Broken(what)) => Err(Failure::Broke(plugin.lied(&guest, &what, &call()))),
                Err(Lie::TooLarge) => Err(Failure::Broke(plugin.overflowed(&guest, &call()))),
            },
            Err(ended @ Ended::Broken(_)) => Err(Failure::Broke(plugin.ended(&guest, ended, &call()))),
            Err(ended) => {
                let error = plugin.ended(&guest, ended, &call());
                self.live = Some((guest, transform));
                Err(Failure::Refused(error))
            }
        }
    }
}

/// Makes a transform of a configuration.
pub(crate) fn open(guest: &mut Guest, runtime: &Runtime, config: &str) -> Result<ResourceAny, Ended> {
    guest.call(runtime, config.len(), |functions, store| match functions {
        Exported::Transform(transforms) => transforms.call_open(store, config),
        Exported::Source(_) | Exported::Sink(_) => unreachable!("only a transform is opened as one"),
    })
}

fn apply(guest: &mut Guest, runtime: &Runtime, transform: ResourceAny, page: &Page) -> Result<wire::Output, Ended> {
    let lent = encode::lend(page);
    let (columns, key) = (encode::columns(page, &lent), encode::key(page));
    let sent = encode::page(page, &columns, &key);
    guest.call(runtime, encode::size(&lent), |functions, store| match functions {
        Exported::Transform(transforms) => transforms.transform().call_apply(store, transform, sent),
        Exported::Source(_) | Exported::Sink(_) => unreachable!("only a transform is applied"),
    })
}

#[async_trait]
impl Transform for GuestTransform {
    fn name(&self) -> &str {
        &self.plugin.subject.name
    }

    fn takes_changes(&self) -> bool {
        false
    }

    async fn apply(&mut self, page: Page) -> Result<Output> {
        if page.change().is_some() {
            let what = format!("{} was given change events, and takes rows", self.plugin.subject);
            return Err(Error::new(&NEEDS_ROWS, what).hint("put `{ type: cdc_unwrap }` before it"));
        }
        match self.attempt(&page) {
            Ok(output) => Ok(output),
            Err(Failure::Refused(error)) => Err(error),
            Err(Failure::Broke(error)) => {
                warn!("{error}; trying the page once more on a fresh instance");
                Ok(self.attempt(&page)?)
            }
        }
    }
}
