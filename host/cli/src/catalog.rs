//! Everything a configuration can name: native connectors, state stores, transforms, and what loads plugins.

use faucet_connectors::registry;
use faucet_core::config::Catalog;
use faucet_core::error::Result;
use std::sync::Arc;

use crate::plugins::{Bundled, Loader};

/// The catalog of this build.
///
/// # Errors
/// When the WebAssembly engine can't start.
pub fn bundled() -> Result<Catalog> {
    let loader = Loader::new()?;
    let mut transforms = faucet_core::pipeline::native_transforms();
    transforms.extend(Bundled::all(&loader));
    Ok(Catalog {
        sources: registry::sources().into_iter().map(Arc::from).collect(),
        transforms,
        sinks: registry::sinks().into_iter().map(Arc::from).collect(),
        stores: faucet_core::state::stores(),
        plugins: Some(Arc::new(loader)),
    })
}
