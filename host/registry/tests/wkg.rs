//! What `wkg oci push` writes is read, and what faucet writes `wkg oci pull` reads: through the crate that wkg does it with.
//!
//! A test target of its own, since that crate needs a provider of cryptography that the whole process agrees on.

#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use faucet_registry::{Digest, Metadata};
use oci_client::client::{ClientConfig, ClientProtocol};
use oci_client::secrets::RegistryAuth;
use oci_wasm::{WasmClient, WasmConfig};
use support::real::{PASSWORD, Registry, USER};
use support::{anonymous, component, reference, with_password};

fn theirs() -> WasmClient {
    // Somebody else may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    WasmClient::new(oci_client::Client::new(ClientConfig { protocol: ClientProtocol::Http, ..ClientConfig::default() }))
}

#[tokio::test]
async fn what_faucet_pushes_wkg_pulls() {
    let registry = Registry::locked();
    let name = registry.name("acme/mask:1.2");
    let metadata = Metadata {
        title: Some("mask".to_owned()),
        imports: vec!["wasi:clocks/wall-clock@0.2.0".to_owned()],
        exports: vec!["faucet:connector/transforms@0.1.0".to_owned()],
        ..Metadata::default()
    };
    let client = with_password(USER, PASSWORD);
    let digest = client.push(component("one").into(), &reference(&name), &metadata).await.unwrap();

    let auth = RegistryAuth::Basic(USER.to_owned(), PASSWORD.to_owned());
    let pulled = theirs().pull(&name.parse().unwrap(), &auth).await.unwrap();
    assert_eq!((pulled.layers.len(), pulled.layers[0].data.as_ref()), (1, &component("one")[..]));
    assert_eq!(pulled.digest, Some(digest.to_string()));
    let (manifest, config, _) = theirs().pull_manifest_and_config(&name.parse().unwrap(), &auth).await.unwrap();
    assert_eq!(manifest.annotations.unwrap()["org.opencontainers.image.title"], "mask");
    assert_eq!((config.architecture.as_str(), config.os.as_str()), ("wasm", "wasip2"));
    assert_eq!(config.layer_digests, [Digest::of(&component("one")).to_string()]);
    let world = config.component.unwrap();
    assert_eq!((world.imports, world.exports), (metadata.imports, metadata.exports));
}

#[tokio::test]
async fn what_wkg_pushes_faucet_pulls() {
    let registry = Registry::open();
    let name = registry.name("acme/mask:1.2");
    let (config, layer) = WasmConfig::from_raw_component(component("one"), Some("somebody".to_owned())).unwrap();
    theirs().push(&name.parse().unwrap(), &RegistryAuth::Anonymous, layer, config, None).await.unwrap();
    let pulled = anonymous().pull(&reference(&name)).await.unwrap();
    assert_eq!((pulled.bytes.as_ref(), pulled.component), (&component("one")[..], Digest::of(&component("one"))));
}
