//! A component behind the port [`Transform`].

use super::decode::{Decoder, Lie};
use super::{Ended, Guest};
use crate::fault::{self, Call, FAILED, INVALID_CONFIG, NEEDS_ROWS};
use crate::plugin::Shared;
use async_trait::async_trait;
use faucet_core::error::{Error, Problem, Result};
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
        transform.live = Some(transform.plugin.clone().open_guest(&transform.config)?);
        Ok(transform)
    }

    /// One try at a page. An instance that broke is dropped.
    fn attempt(&mut self, page: &Page) -> Result<Output, Failure> {
        let (mut guest, transform) = match self.live.take() {
            Some(live) => live,
            None => self.plugin.open_guest(&self.config).map_err(Failure::Broke)?,
        };
        let plugin = &self.plugin;
        let call = || Call::Apply { table: page.schema().table.to_string(), rows: page.rows() };
        match guest.apply(&plugin.runtime, transform, page) {
            Ok(answer) => match self.decoder.output(page, answer, &plugin.limits) {
                Ok(output) => {
                    self.live = Some((guest, transform));
                    Ok(output)
                }
                Err(Lie::Broken(what)) => Err(Failure::Broke(plugin.lied(&guest, &what, &call()))),
                Err(Lie::TooLarge) => Err(Failure::Broke(plugin.overflowed(&guest, &call()))),
            },
            Err(Ended::Broken(error)) => Err(Failure::Broke(plugin.broke(guest.surroundings(), &error, &call()))),
            Err(Ended::Failed(message)) => {
                let error = plugin.said(&guest, &FAILED, &message, &call());
                self.live = Some((guest, transform));
                Err(Failure::Refused(error))
            }
            Err(Ended::InvalidConfig(problems)) => {
                let error = plugin.said(&guest, &INVALID_CONFIG, &listed(&problems), &call());
                self.live = Some((guest, transform));
                Err(Failure::Refused(error))
            }
        }
    }
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

/// Problems of a configuration in one line.
pub(crate) fn listed(problems: &[Problem]) -> String {
    let one = |problem: &Problem| match problem.path.as_str() {
        "" => problem.message.clone(),
        path => format!("{path}: {}", problem.message),
    };
    fault::joined(problems.iter().map(one))
}
