//! Everything a configuration can name: native connectors, state stores, transforms, and what loads plugins.

use faucet_connectors::registry;
use faucet_core::config::{Catalog, Part};
use faucet_core::error::Result;
use std::sync::Arc;

use crate::bundled;
use crate::plugins::Loader;

/// The catalog of this build.
///
/// # Errors
/// When the WebAssembly engine can't start.
pub fn bundled() -> Result<Catalog> {
    let loader = Loader::new()?;
    let mut sources: Vec<_> = registry::sources().into_iter().map(Arc::from).collect();
    let mut transforms = faucet_core::pipeline::native_transforms();
    let mut sinks: Vec<_> = registry::sinks().into_iter().map(Arc::from).collect();
    for part in bundled::parts(&loader) {
        match part {
            Part::Source(source) => sources.push(source),
            Part::Transform(transform) => transforms.push(transform),
            Part::Sink(sink) => sinks.push(sink),
        }
    }
    Ok(Catalog { sources, transforms, sinks, stores: faucet_core::state::stores(), plugins: Some(Arc::new(loader)) })
}
