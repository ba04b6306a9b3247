//! The first-party components that the binary carries, as `build.rs` built them from `guests/`.

use async_trait::async_trait;
use faucet_core::config::Part;
use faucet_core::error::{Error, Problem, Result};
use faucet_core::model::Page;
use faucet_core::ports::{
    AnySink, AnySource, AnyTransform, Capture, Sink, SinkCapabilities, SinkContext, Source, SourceCapabilities,
    SourceContext, Split, Transform,
};
use faucet_registry::Digest;
use faucet_wasm::{Grants, Origin, PluginSpec};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

use crate::plugin::project::Kind;
use crate::plugins::{self, Loader};

/// Kind, name and bytes of each.
static GUESTS: &[(Kind, &str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// The bytes of the component with this name.
pub fn bytes(name: &str) -> Option<&'static [u8]> {
    GUESTS.iter().find(|(_, known, _)| *known == name).map(|(_, _, bytes)| *bytes)
}

/// The SHA-256 of the component with this name, in lower-case hex.
pub fn digest(name: &str) -> Option<String> {
    bytes(name).map(|bytes| Digest::of(bytes).hex())
}

/// The components, each behind the port of its kind.
pub fn parts(loader: &Loader) -> impl Iterator<Item = Part> {
    GUESTS.iter().map(|&(kind, name, bytes)| {
        let bundled = Arc::new(Bundled { name, bytes, loader: loader.clone(), part: OnceLock::new() });
        match kind {
            Kind::Source => Part::Source(bundled),
            Kind::Transform => Part::Transform(bundled),
            Kind::Sink => Part::Sink(bundled),
        }
    })
}

/// What a component that comes with faucet may do where a configuration says nothing about it: speak to whom its own
/// configuration names, as a native connector would.
fn grants() -> Grants {
    let http = ["*", "0.0.0.0/0", "::/0"].map(str::to_owned).to_vec();
    Grants { http, clock: true, random: true, ..Grants::default() }
}

/// A component inside the binary; compiled or taken from the cache when it is first needed.
struct Bundled {
    name: &'static str,
    bytes: &'static [u8],
    loader: Loader,
    part: OnceLock<Result<Part, String>>,
}

impl Bundled {
    fn load(&self) -> Result<Part> {
        let plain = PluginSpec::new(self.name, Origin::Bundled(self.bytes));
        let spec = PluginSpec { grants: grants(), ceiling: plugins::ceiling()?, ..plain };
        Ok(self.loader.component(&spec)?.into())
    }

    fn part(&self) -> Option<&Part> {
        match self.part.get_or_init(|| self.load().map_err(|e| format!("{e:?}"))) {
            Ok(part) => Some(part),
            Err(error) => {
                tracing::warn!(component = self.name, error, "a component that comes with faucet can't be loaded");
                None
            }
        }
    }

    fn summary(&self) -> String {
        self.part().map(Part::summary).unwrap_or_default()
    }

    fn schema(&self) -> Value {
        self.part().map_or_else(|| json!({"type": "object"}), Part::schema)
    }

    /// The part as one of the ports; or the error of loading it.
    fn port<T>(&self, of: impl Fn(&Part) -> Option<T>) -> Result<T> {
        let found = match self.part() {
            Some(part) => of(part),
            // Loading it again gives the error itself.
            None => of(&self.load()?),
        };
        Ok(found.expect("its manifest says what kind it is, and a test compares"))
    }

    fn transform(&self) -> Result<Arc<dyn AnyTransform>> {
        self.port(|part| if let Part::Transform(transform) = part { Some(Arc::clone(transform)) } else { None })
    }

    fn source(&self) -> Result<Arc<dyn AnySource>> {
        self.port(|part| if let Part::Source(source) = part { Some(Arc::clone(source)) } else { None })
    }

    fn sink(&self) -> Result<Arc<dyn AnySink>> {
        self.port(|part| if let Part::Sink(sink) = part { Some(Arc::clone(sink)) } else { None })
    }
}

fn unloaded(error: &Error) -> Vec<Problem> {
    vec![Problem::error("", error.to_string())]
}

#[async_trait]
impl AnyTransform for Bundled {
    fn name(&self) -> &str {
        self.name
    }

    fn summary(&self) -> String {
        self.summary()
    }

    fn schema(&self) -> Value {
        self.schema()
    }

    fn takes_changes(&self) -> bool {
        false
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        self.transform().map_or_else(|error| unloaded(&error), |transform| transform.validate(config))
    }

    async fn open(&self, config: &Value) -> Result<Box<dyn Transform>> {
        self.transform()?.open(config).await
    }
}

#[async_trait]
impl AnySource for Bundled {
    fn name(&self) -> &str {
        self.name
    }

    fn summary(&self) -> String {
        self.summary()
    }

    fn schema(&self) -> Value {
        self.schema()
    }

    fn capabilities(&self, config: &Value) -> Result<SourceCapabilities, Vec<Problem>> {
        self.source().map_err(|error| unloaded(&error))?.capabilities(config)
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        self.source().map_or_else(|error| unloaded(&error), |source| source.validate(config))
    }

    async fn open(&self, config: &Value, context: SourceContext) -> Result<Box<dyn Source>> {
        self.source()?.open(config, context).await
    }

    fn capture(&self, config: &Value) -> Option<Box<dyn Capture>> {
        self.source().ok()?.capture(config)
    }

    fn split(&self, config: &Value, pipeline: &str) -> Option<Box<dyn Split>> {
        self.source().ok()?.split(config, pipeline)
    }
}

#[async_trait]
impl AnySink for Bundled {
    fn name(&self) -> &str {
        self.name
    }

    fn summary(&self) -> String {
        self.summary()
    }

    fn schema(&self) -> Value {
        self.schema()
    }

    fn capabilities(&self, config: &Value) -> Result<SinkCapabilities, Vec<Problem>> {
        self.sink().map_err(|error| unloaded(&error))?.capabilities(config)
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        self.sink().map_or_else(|error| unloaded(&error), |sink| sink.validate(config))
    }

    async fn open(&self, config: &Value, context: SinkContext) -> Result<Box<dyn Sink>> {
        self.sink()?.open(config, context).await
    }

    async fn explain(&self, config: &Value, context: SinkContext, page: Page) -> Result<Option<Vec<String>>> {
        self.sink()?.explain(config, context, page).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a manifest says of a component decides behind which port it stands.
    #[test]
    fn every_component_is_what_its_manifest_says() {
        let loader = Loader::new().expect("the engine starts");
        for (kind, name, bytes) in GUESTS {
            let plugin = loader.component(&PluginSpec::new(*name, Origin::Bundled(bytes))).expect("it loads");
            assert_eq!(plugin.role().name(), kind.name(), "{name}");
        }
        assert!(GUESTS.len() > 10, "the binary carries its components");
    }
}
