//! What a real registry keeps, and what is taken from it.

use crate::support::real::Registry;
use crate::support::{anonymous, component, options, reference};
use faucet_registry::{Client, Credentials, Digest, Metadata, Options, Store};
use serde_json::{Value, json};
use std::fs;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

fn layer(media_type: &str, bytes: &[u8]) -> Value {
    json!({ "mediaType": media_type, "digest": Digest::of(bytes).to_string(), "size": bytes.len() })
}

/// Puts an artifact there whose layers are `layers`.
fn put(registry: &Registry, tag: &str, layers: &[(&str, &[u8])]) {
    registry.put_blob("acme/mask", b"{}");
    layers.iter().for_each(|(_, bytes)| registry.put_blob("acme/mask", bytes));
    let layers: Vec<_> = layers.iter().map(|(media_type, bytes)| layer(media_type, bytes)).collect();
    let config = layer("application/vnd.oci.image.config.v1+json", b"{}");
    let manifest = json!({ "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers });
    registry.put_manifest("acme/mask", tag, &manifest);
}

#[tokio::test]
async fn what_is_pushed_is_pulled() {
    let registry = Registry::open();
    let (client, bytes) = (anonymous(), component("one"));
    let tagged = reference(&registry.name("acme/mask:1.2"));
    let metadata =
        Metadata { title: Some("mask".to_owned()), version: Some("1.2.0".to_owned()), ..Metadata::default() };
    let digest = client.push(bytes.clone().into(), &tagged, &metadata).await.unwrap();

    let stored = registry.manifest("acme/mask", "1.2");
    assert_eq!((stored.header("content-type"), Digest::of(&stored.body)), (Some(MANIFEST), digest));
    let manifest = stored.json();
    assert_eq!(manifest["config"]["mediaType"], "application/vnd.wasm.config.v0+json");
    assert_eq!(manifest["layers"], json!([layer("application/wasm", &bytes)]));
    assert_eq!(manifest["annotations"]["org.opencontainers.image.version"], "1.2.0");

    let untagged = reference(&registry.name(&format!("acme/mask@{digest}")));
    for reference in [tagged.clone(), tagged.pinned(digest), untagged] {
        let pulled = client.pull(&reference).await.unwrap();
        assert_eq!(
            (pulled.bytes.as_ref(), pulled.manifest, pulled.component),
            (&bytes[..], digest, Digest::of(&bytes))
        );
    }
    assert_eq!(client.push(bytes.into(), &tagged, &metadata).await.unwrap(), digest, "a push can be repeated");
}

#[tokio::test]
async fn a_large_component_makes_the_round_trip() {
    let registry = Registry::open();
    // A custom section of 20 MiB at the end.
    let size = 20 << 20;
    let mut bytes = component("large");
    bytes.extend_from_slice(&[0, 0x80, 0x80, 0x80, 0x0a]);
    bytes.extend((0..size).map(|i: u32| i.wrapping_mul(2_654_435_761).to_le_bytes()[3]));
    let reference = reference(&registry.name("acme/large:1"));
    anonymous().push(bytes.clone().into(), &reference, &Metadata::default()).await.unwrap();
    assert_eq!(anonymous().pull(&reference).await.unwrap().bytes, bytes);
}

#[tokio::test]
async fn a_pulled_component_is_written_whole() {
    let registry = Registry::open();
    let reference = reference(&registry.name("acme/mask:1"));
    anonymous().push(component("one").into(), &reference, &Metadata::default()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let pulled = anonymous().pull(&reference).await.unwrap();
    pulled.write_to(&folder.path().join("mask.wasm")).unwrap();
    assert_eq!(fs::read(folder.path().join("mask.wasm")).unwrap(), component("one"));
    let error = pulled.write_to(&folder.path().join("gone/mask.wasm")).unwrap_err();
    assert_eq!(error.code().id, "registry.store");
}

#[tokio::test]
async fn a_tag_that_moved_is_an_error() {
    let registry = Registry::open();
    let (client, tagged) = (anonymous(), reference(&registry.name("acme/mask:1.2")));
    let first = client.push(component("one").into(), &tagged, &Metadata::default()).await.unwrap();
    let second = client.push(component("two").into(), &tagged, &Metadata::default()).await.unwrap();
    let error = client.pull(&tagged.pinned(first)).await.unwrap_err();
    assert_eq!(error.code().id, "registry.digest_mismatch");
    assert_eq!(error.to_string(), format!("the tag 1.2 stands for {second}, and {first} was asked for"));
    // Without the tag the first one is still there.
    let old = reference(&registry.name(&format!("acme/mask@{first}")));
    assert_eq!(client.pull(&old).await.unwrap().bytes, component("one"));
}

#[tokio::test]
async fn what_is_not_there_is_an_error() {
    let registry = Registry::open();
    let client = anonymous();
    let tagged = reference(&registry.name("acme/mask:1.2"));
    client.push(component("one").into(), &tagged, &Metadata::default()).await.unwrap();
    for name in ["acme/mask:1.3", "acme/other:1.2", &format!("acme/mask@{}", Digest::of(b"x"))] {
        let error = client.pull(&reference(&registry.name(name))).await.unwrap_err();
        assert_eq!(error.code().id, "registry.not_found", "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[tokio::test]
async fn a_push_needs_a_tag_and_a_component() {
    let registry = Registry::open();
    let client = anonymous();
    let tagged = reference(&registry.name("acme/mask:1.2"));
    let untagged = reference(&registry.name(&format!("acme/mask@{}", Digest::of(b"x"))));
    for bad in [tagged.pinned(Digest::of(b"x")), untagged] {
        let error = client.push(component("one").into(), &bad, &Metadata::default()).await.unwrap_err();
        assert_eq!(error.code().id, "registry.bad_reference");
    }
    let module = wat::parse_str("(module)").unwrap();
    let error = client.push(module.into(), &tagged, &Metadata::default()).await.unwrap_err();
    assert_eq!(error.code().id, "registry.not_a_component");
    let small = Client::new(Options { largest: 10, ..options() }, Credentials::anonymous()).unwrap();
    let error = small.push(component("one").into(), &tagged, &Metadata::default()).await.unwrap_err();
    assert_eq!(error.code().id, "registry.too_large");
    assert_eq!(registry.manifest("acme/mask", "1.2").status, 404, "nothing was pushed");
}

#[tokio::test]
async fn artifacts_of_older_tools_are_taken() {
    let registry = Registry::open();
    let bytes = component("old");
    for (tag, media_type) in [("a", "application/wasm"), ("b", "application/vnd.wasm.content.layer.v1+wasm")] {
        put(&registry, tag, &[(media_type, &bytes)]);
        let pulled = anonymous().pull(&reference(&registry.name(&format!("acme/mask:{tag}")))).await.unwrap();
        assert_eq!(pulled.bytes, bytes);
    }
}

#[tokio::test]
async fn what_is_no_component_is_refused() {
    let registry = Registry::open();
    let (bytes, module) = (component("one"), wat::parse_str("(module)").unwrap());
    let wasm = "application/wasm";
    put(&registry, "image", &[("application/vnd.oci.image.layer.v1.tar+gzip", &bytes)]);
    put(&registry, "two", &[(wasm, &bytes), (wasm, &component("two"))]);
    put(&registry, "none", &[]);
    put(&registry, "module", &[(wasm, &module)]);
    put(&registry, "text", &[(wasm, b"<html>")]);
    let index = json!({ "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [] });
    registry.put_manifest("acme/mask", "index", &index);
    let cases = [
        ("image", "of the type 'application/vnd.oci.image.layer.v1.tar+gzip'"),
        ("two", "has 2 layers"),
        ("none", "has 0 layers"),
        ("module", "a core WebAssembly module"),
        ("text", "not WebAssembly"),
        ("index", "an index"),
    ];
    for (tag, expected) in cases {
        let error = anonymous().pull(&reference(&registry.name(&format!("acme/mask:{tag}")))).await.unwrap_err();
        assert_eq!(error.code().id, "registry.not_a_component", "{tag}: {error}");
        assert!(error.to_string().contains(expected), "{tag}: {error}");
    }
}

#[tokio::test]
async fn a_component_beyond_the_limit_is_not_pulled() {
    let registry = Registry::open();
    let tagged = reference(&registry.name("acme/mask:1.2"));
    anonymous().push(component("one").into(), &tagged, &Metadata::default()).await.unwrap();
    let small = Client::new(Options { largest: 10, ..options() }, Credentials::anonymous()).unwrap();
    assert_eq!(small.pull(&tagged).await.unwrap_err().code().id, "registry.too_large");
}

#[tokio::test]
async fn bytes_damaged_in_the_registry_are_refused() {
    let registry = Registry::open();
    let (client, tagged) = (anonymous(), reference(&registry.name("acme/mask:1.2")));
    let bytes = component("one");
    client.push(bytes.clone().into(), &tagged, &Metadata::default()).await.unwrap();
    let blob = registry.blob(Digest::of(&bytes));
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let longer = [&bytes[..], b"x"].concat();
    for damaged in [&flipped[..], &bytes[..bytes.len() - 1], &longer, b""] {
        fs::write(&blob, damaged).unwrap();
        let error = client.pull(&tagged).await.unwrap_err();
        assert_eq!(error.code().id, "registry.digest_mismatch", "{error}");
    }
    fs::remove_file(&blob).unwrap();
    assert_eq!(client.pull(&tagged).await.unwrap_err().code().id, "registry.not_found");
}

#[tokio::test]
async fn a_manifest_damaged_in_the_registry_is_refused() {
    let registry = Registry::open();
    let (client, tagged) = (anonymous(), reference(&registry.name("acme/mask:1.2")));
    let digest = client.push(component("one").into(), &tagged, &Metadata::default()).await.unwrap();
    let manifest = fs::read_to_string(registry.blob(digest)).unwrap();
    fs::write(registry.blob(digest), manifest.replace("\"schemaVersion\":2", "\"schemaVersion\":2 ")).unwrap();
    let error = client.pull(&tagged.pinned(digest)).await.unwrap_err();
    assert_eq!(error.code().id, "registry.digest_mismatch", "{error}");
}

#[tokio::test]
async fn many_at_once_pull_into_one_store() {
    let registry = Registry::open();
    let tagged = reference(&registry.name("acme/mask:1.2"));
    let client = anonymous();
    client.push(component("one").into(), &tagged, &Metadata::default()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let pulls = (0..16).map(|_| {
        let (client, tagged, store) = (client.clone(), tagged.clone(), store.clone());
        tokio::spawn(async move { store.put(&client.pull(&tagged).await.unwrap().bytes).unwrap() })
    });
    for pull in pulls.collect::<Vec<_>>() {
        assert_eq!(pull.await.unwrap(), Digest::of(&component("one")));
    }
    assert_eq!(fs::read_dir(folder.path().join("sha256")).unwrap().count(), 1);
}

#[tokio::test]
async fn a_registry_that_is_down_is_said_to_be() {
    let registry = Registry::open();
    let tagged = reference(&registry.name("acme/mask:1.2"));
    drop(registry);
    for error in [
        anonymous().pull(&tagged).await.unwrap_err(),
        anonymous().push(component("one").into(), &tagged, &Metadata::default()).await.unwrap_err(),
    ] {
        assert_eq!(error.code().id, "registry.unavailable");
        assert!(error.to_string().contains("refused"), "{error}");
        assert!(error.contexts().iter().any(|context| context.contains("3 times")), "{error:?}");
    }
}
