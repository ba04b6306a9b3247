//! Makes components that no SDK would: of another world or version, or from hand-written core modules.

use std::path::Path;
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve, WorldId};

/// The package in `wit/` as one text, its version replaced.
pub fn package(version: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    let mut text = format!("package faucet:connector@{version};\n");
    for file in ["types.wit", "host.wit", "transform.wit"] {
        let part = std::fs::read_to_string(folder.join(file)).unwrap();
        text.push_str(part.strip_prefix("package faucet:connector@0.1.0;\n").unwrap());
    }
    text
}

fn world(wit: &str, name: &str) -> (Resolve, WorldId) {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("forged.wit", wit).unwrap();
    let world = resolve.select_world(&[package], Some(name)).unwrap();
    (resolve, world)
}

/// A component of this world whose functions all trap.
pub fn dummy(wit: &str, name: &str) -> Vec<u8> {
    let (resolve, world) = world(wit, name);
    let module = dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    encode(module, &resolve, world)
}

/// A component of the world `transform` from a core module in text form.
pub fn from_module(text: &str) -> Vec<u8> {
    let (resolve, world) = world(&package("0.1.0"), "transform");
    encode(wat::parse_str(text).unwrap(), &resolve, world)
}

fn encode(mut module: Vec<u8>, resolve: &Resolve, world: WorldId) -> Vec<u8> {
    embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}

/// A core module with the exports of a transform. `describe` runs `body`; `extra` are more parts of the module.
pub fn module(extra: &str, body: &str) -> String {
    let eleven = "i32 ".repeat(11);
    format!(
        r#"(module
            {extra}
            (func (export "faucet:connector/transforms@0.1.0#describe") (result i32) {body})
            (func (export "faucet:connector/transforms@0.1.0#open") (param i32 i32) (result i32) unreachable)
            (func (export "faucet:connector/transforms@0.1.0#[method]transform.apply") (param {eleven}) (result i32)
                unreachable)
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) unreachable))"#
    )
}
