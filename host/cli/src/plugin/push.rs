//! `faucet plugin push`: a component into a registry.

use faucet_registry::{Client, Credentials, Metadata, Options, Reference};
use faucet_wasm::Plugin;
use serde_json::json;

use super::subject;
use crate::args::{Global, Output, PluginPushArgs};
use crate::display::Failure;
use crate::session;

/// Pushes it and prints the reference that pins it.
pub fn execute(global: &Global, args: &PluginPushArgs) -> Result<(), Failure> {
    let reference: Reference = args.reference.parse()?;
    let plugin = subject::load(&args.component)?;
    let bytes = std::fs::read(&args.component)
        .map_err(|error| Failure::Usage(format!("{}: {error}", args.component.display())))?;
    let client = client(args.plain_http)?;
    let digest = session::block_on(client.push(bytes.into(), &reference, &metadata(&plugin)))??;
    let pinned = reference.pinned(digest);
    match global.output {
        Output::Json => println!("{}", json!({ "reference": pinned.to_string(), "sha256": plugin.digest() })),
        Output::Text => println!("{pinned}"),
    }
    Ok(())
}

/// A client with what this user is logged in with.
pub fn client(plain_http: bool) -> Result<Client, Failure> {
    let options = Options { plain_http, ..Options::default() };
    Ok(Client::new(options, Credentials::of_this_user()?)?)
}

fn metadata(plugin: &Plugin) -> Metadata {
    let about = plugin.describe();
    let world = plugin.world();
    Metadata {
        title: Some(about.name.clone()),
        version: Some(about.version.clone()),
        description: Some(about.summary.clone()).filter(|summary| !summary.is_empty()),
        imports: world.imports,
        exports: world.exports,
    }
}
