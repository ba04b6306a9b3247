//! A component from a core module, for languages whose tools make one: what `wasm-tools component embed` and `component
//! new` do, in this process.

use std::path::Path;

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{PackageId, Resolve, SourceMap};

use crate::display::Failure;
use crate::plugin::kit;
use crate::plugin::project::Kind;

/// Wraps a core module, which imports WASI preview 1, as a component of the world of `kind`.
pub fn from_module(mut module: Vec<u8>, kind: Kind) -> Result<Vec<u8>, Failure> {
    let failed = |what: &str, error: &dyn std::fmt::Display| Failure::Usage(format!("{what}: {error:#}"));
    let mut resolve = Resolve::default();
    let package = push_package(&mut resolve).map_err(|error| failed("the WIT package", &error))?;
    let world = resolve.select_world(&[package], Some(kind.name())).map_err(|error| failed("the world", &error))?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .map_err(|error| failed("the module can't take the world's types", &error))?;
    let encode = || {
        ComponentEncoder::default()
            .module(&module)?
            .adapter(WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER)?
            .validate(true)
            .encode()
    };
    encode().map_err(|error| failed("the module is no plugin", &error))
}

fn push_package(resolve: &mut Resolve) -> Result<PackageId, String> {
    let mut files = SourceMap::default();
    for (name, text) in kit::wit().filter(|(name, _)| name.ends_with(".wit")) {
        files.push(Path::new(name), text);
    }
    let group = files.parse().map_err(|(_, error)| error.to_string())?;
    resolve.push_group(group).map_err(|error| error.to_string())
}
