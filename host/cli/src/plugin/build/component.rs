//! A component from a core module, for languages whose tools make one: what `wasm-tools component embed` and `component
//! new` do, in this process.

use std::path::Path;

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{PackageId, Resolve, SourceMap};

use super::link;
use crate::display::Failure;
use crate::plugin::kit;
use crate::plugin::project::Kind;

/// Wraps a core module, which imports WASI preview 1, as a component of the world of `kind`, with all that it imports of the
/// SDK beside it.
pub fn from_module(mut module: Vec<u8>, kind: Kind) -> Result<Vec<u8>, Failure> {
    let failed = |what: &str, error: &dyn std::fmt::Display| Failure::Usage(format!("{what}: {error:#}"));
    let mut resolve = Resolve::default();
    let package = push_packages(&mut resolve, kind).map_err(|error| failed("the WIT packages", &error))?;
    let world = resolve.select_world(&[package], Some(WORLD)).map_err(|error| failed("the world", &error))?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .map_err(|error| failed("the module can't take the world's types", &error))?;
    let encode = || {
        ComponentEncoder::default()
            .module(&module)?
            .adapter(WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER)?
            .validate(true)
            .encode()
    };
    link::with_http(encode().map_err(|error| failed("the module is no plugin", &error))?)
}

/// The world of a plugin: that of its kind, and what it may import of the SDK. What it doesn't import is left out.
const WORLD: &str = "plugin";

fn push_packages(resolve: &mut Resolve, kind: Kind) -> Result<PackageId, String> {
    let world = format!(
        "package faucet:plugin; world {WORLD} {{ include faucet:connector/{}@0.1.0; import {}; }}",
        kind.name(),
        link::HTTP
    );
    let connector: Vec<_> = kit::wit().filter(|(name, _)| name.ends_with(".wit")).collect();
    push_package(resolve, &connector)?;
    push_package(resolve, &[kit::http_wit()])?;
    push_package(resolve, &[("plugin.wit", &world)])
}

fn push_package(resolve: &mut Resolve, files: &[(&str, &str)]) -> Result<PackageId, String> {
    let mut sources = SourceMap::default();
    for (name, text) in files {
        sources.push(Path::new(name), *text);
    }
    let group = sources.parse().map_err(|(_, error)| error.to_string())?;
    resolve.push_group(group).map_err(|error| error.to_string())
}
