//! Puts beside a component what it imports of its SDK: the HTTP client, which languages that can't speak `wasi:http`
//! themselves share.

use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions, plug};

use crate::display::Failure;

/// The interface of `sdk/http`.
pub const HTTP: &str = "faucet:http/client@0.1.0";

/// The component that exports it (`guests/crates/http-client`).
static CLIENT: &[u8] = include_bytes!(env!("HTTP_CLIENT"));

/// The component itself, or one that is made of it and of the HTTP client if it imports that.
pub fn with_http(component: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let failed = |error: String| Failure::Usage(format!("the HTTP client can't be put beside the plugin: {error}"));
    let mut graph = CompositionGraph::new();
    let mut package = |name: &str, bytes: &[u8]| {
        Package::from_bytes(name, None, bytes, graph.types_mut()).map_err(|error| failed(format!("{error:#}")))
    };
    let plugin = package("plugin", &component)?;
    let client = package("client", CLIENT)?;
    if !graph.types()[plugin.ty()].imports.contains_key(HTTP) {
        return Ok(component);
    }
    let mut register = |package| graph.register_package(package).map_err(|error| failed(error.to_string()));
    let (plugin, client) = (register(plugin)?, register(client)?);
    plug(&mut graph, vec![client], plugin).map_err(|error| failed(error.to_string()))?;
    graph.encode(EncodeOptions::default()).map_err(|error| failed(error.to_string()))
}
