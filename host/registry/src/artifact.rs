//! How a component lies in a registry: a manifest that names a configuration and one layer.
//!
//! The layout is the "Wasm OCI Artifact layout" of the CNCF's TAG Runtime, which `wkg` and others read and write, on top
//! of the OCI image specification. What is written depends on nothing but the component and its metadata, so that
//! pushing the same twice makes the same digest.

use crate::digest::{Digest, shown};
use crate::fault::{MALFORMED, NOT_A_COMPONENT, TOO_LARGE};
use faucet_core::error::{Error, Result};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The media type of a manifest.
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// What is asked for: manifests, and indexes, so that it can be said that one is there.
pub(crate) const ACCEPT: &str = "application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.index.v1+json";

/// The media type of the configuration, which is also what tells the artifact from others.
const CONFIG: &str = "application/vnd.wasm.config.v0+json";

/// The media type of a component.
const LAYER: &str = "application/wasm";

/// What tools before the layout wrote.
const OLD_LAYER: &str = "application/vnd.wasm.content.layer.v1+wasm";

/// Manifests beyond this are not read; the distribution specification asks registries to take as much.
pub(crate) const LARGEST_MANIFEST: u64 = 4 << 20;

/// The layout asks for a time. A real one would give each push of the same component another digest.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// What is known about a component, for those who look at a registry.
///
/// ```
/// use faucet_registry::Metadata;
/// let metadata = Metadata {
///     title: Some("mask".to_owned()),
///     version: Some("1.2.0".to_owned()),
///     exports: vec!["faucet:connector/transforms@0.1.0".to_owned()],
///     ..Metadata::default()
/// };
/// assert!(metadata.imports.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// `org.opencontainers.image.title`: its name.
    pub title: Option<String>,
    /// `org.opencontainers.image.version`: its own version.
    pub version: Option<String>,
    /// `org.opencontainers.image.description`: one sentence.
    pub description: Option<String>,
    /// What its world imports, as `wasi:clocks/wall-clock@0.2.0`.
    pub imports: Vec<String>,
    /// What its world exports.
    pub exports: Vec<String>,
}

/// A manifest and the configuration it names, as bytes.
pub(crate) struct Artifact {
    pub(crate) manifest: Vec<u8>,
    pub(crate) config: Vec<u8>,
}

/// The one layer of a manifest.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) digest: Digest,
    pub(crate) size: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    schema_version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_type: Option<String>,
    config: Descriptor,
    layers: Vec<Descriptor>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: String,
    digest: String,
    size: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    created: &'a str,
    architecture: &'a str,
    os: &'a str,
    layer_digests: [Digest; 1],
    component: World<'a>,
}

#[derive(Serialize)]
struct World<'a> {
    exports: &'a [String],
    imports: &'a [String],
}

/// What there is before it is known whether it is a manifest.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kind {
    media_type: Option<String>,
    manifests: Option<IgnoredAny>,
}

impl Artifact {
    /// What is pushed for a component.
    pub(crate) fn of(component: &[u8], metadata: &Metadata) -> Self {
        let digest = Digest::of(component);
        let world = World { exports: &metadata.exports, imports: &metadata.imports };
        let config =
            Config { created: CREATED, architecture: "wasm", os: "wasip2", layer_digests: [digest], component: world };
        let config = serde_json::to_vec(&config).expect("texts and lists are JSON");
        let manifest = Manifest {
            schema_version: 2,
            media_type: Some(MANIFEST.to_owned()),
            artifact_type: Some(CONFIG.to_owned()),
            config: Descriptor::of(CONFIG, &config),
            layers: vec![Descriptor::of(LAYER, component)],
            annotations: annotations(metadata),
        };
        Self { manifest: serde_json::to_vec(&manifest).expect("texts and lists are JSON"), config }
    }
}

impl Descriptor {
    fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self { media_type: media_type.to_owned(), digest: Digest::of(bytes).to_string(), size: bytes.len() as u64 }
    }
}

/// The pre-defined annotation keys of the image specification.
fn annotations(metadata: &Metadata) -> BTreeMap<String, String> {
    let known = [("title", &metadata.title), ("version", &metadata.version), ("description", &metadata.description)];
    let named = known.into_iter().filter_map(|(key, value)| Some((key, value.clone()?)));
    named.map(|(key, value)| (format!("org.opencontainers.image.{key}"), value)).collect()
}

/// The component a manifest names, not larger than `largest`. The configuration is not asked about it: tools before the
/// layout wrote others.
///
/// # Errors
/// `registry.malformed`, `registry.not_a_component` and `registry.too_large`.
pub(crate) fn layer_of(manifest: &[u8], largest: u64) -> Result<Layer> {
    let kind: Kind = serde_json::from_slice(manifest).map_err(|e| malformed(&e))?;
    if kind.manifests.is_some() || kind.media_type.as_deref().is_some_and(|m| m.contains("index")) {
        return Err(not_a_component("is an index of several manifests, not one component"));
    }
    let manifest: Manifest = serde_json::from_slice(manifest).map_err(|e| malformed(&e))?;
    if manifest.schema_version != 2 {
        let version = manifest.schema_version;
        return Err(Error::new(&MALFORMED, format!("the manifest has schemaVersion {version}, and 2 is known")));
    }
    let [layer] = manifest.layers.as_slice() else {
        return Err(not_a_component(&format!("has {} layers, and a component is one", manifest.layers.len())));
    };
    if layer.media_type != LAYER && layer.media_type != OLD_LAYER {
        let (found, config) = (shown(&layer.media_type), shown(&manifest.config.media_type));
        return Err(not_a_component(&format!("has a layer of the type '{found}' (and a '{config}'), not '{LAYER}'")));
    }
    if layer.size > largest {
        return Err(too_large(&format!("{} bytes", layer.size), largest));
    }
    let digest = layer.digest.parse().map_err(|e: Error| Error::new(&MALFORMED, format!("the manifest: {e}")))?;
    Ok(Layer { digest, size: layer.size })
}

/// serde_json quotes the value it stumbles on; the manifest is public.
fn malformed(error: &serde_json::Error) -> Error {
    Error::new(&MALFORMED, format!("the manifest can't be read: {}", shown(&error.to_string())))
}

fn not_a_component(what: &str) -> Error {
    Error::new(&NOT_A_COMPONENT, format!("the artifact {what}"))
}

/// A component beyond the limit.
pub(crate) fn too_large(size: &str, largest: u64) -> Error {
    Error::new(&TOO_LARGE, format!("the component has {size}, and {largest} are allowed"))
}

/// Tells a component by its first eight bytes, as the component model's binary format has them.
///
/// # Errors
/// `registry.not_a_component`: a core module, or no WebAssembly.
pub(crate) fn check_component(bytes: &[u8]) -> Result<()> {
    let (what, hint) = match bytes {
        [0, b'a', b's', b'm', _, _, 1, 0, ..] => return Ok(()),
        [0, b'a', b's', b'm', _, _, 0, 0, ..] => (
            "is a core WebAssembly module, not a component",
            "build it for the target wasm32-wasip2, or run `wasm-tools component new` on it",
        ),
        [] => ("is empty", "build the plugin again"),
        _ => ("is not WebAssembly", "build the plugin for the target wasm32-wasip2"),
    };
    Err(Error::new(&NOT_A_COMPONENT, format!("what should be a component {what}")).hint(hint))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

    fn manifest(edit: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
        let made = Artifact::of(COMPONENT, &Metadata::default()).manifest;
        let mut manifest = serde_json::from_slice(&made).unwrap();
        edit(&mut manifest);
        serde_json::to_vec(&manifest).unwrap()
    }

    #[test]
    fn the_layout_is_the_documented_one() {
        let metadata = Metadata {
            title: Some("mask".to_owned()),
            version: Some("1.2.0".to_owned()),
            description: Some("Masks".to_owned()),
            imports: vec!["wasi:clocks/wall-clock@0.2.0".to_owned()],
            exports: vec!["faucet:connector/transforms@0.1.0".to_owned()],
        };
        let made = Artifact::of(COMPONENT, &metadata);
        let (manifest, config): (serde_json::Value, serde_json::Value) =
            (serde_json::from_slice(&made.manifest).unwrap(), serde_json::from_slice(&made.config).unwrap());
        let digest = Digest::of(COMPONENT).to_string();
        assert_eq!(
            config,
            serde_json::json!({
                "created": "1970-01-01T00:00:00Z", "architecture": "wasm", "os": "wasip2", "layerDigests": [digest],
                "component": {
                    "exports": ["faucet:connector/transforms@0.1.0"], "imports": ["wasi:clocks/wall-clock@0.2.0"],
                },
            })
        );
        assert_eq!(
            manifest,
            serde_json::json!({
                "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": "application/vnd.wasm.config.v0+json",
                "config": {
                    "mediaType": "application/vnd.wasm.config.v0+json", "size": made.config.len(),
                    "digest": Digest::of(&made.config).to_string(),
                },
                "layers": [{ "mediaType": "application/wasm", "size": 8, "digest": digest }],
                "annotations": {
                    "org.opencontainers.image.title": "mask", "org.opencontainers.image.version": "1.2.0",
                    "org.opencontainers.image.description": "Masks",
                },
            })
        );
    }

    #[test]
    fn the_same_twice_is_the_same() {
        let twice = [0, 1].map(|_| Artifact::of(COMPONENT, &Metadata::default()).manifest);
        assert_eq!(twice[0], twice[1]);
    }

    #[test]
    fn the_layer_is_found() {
        let layer = Layer { digest: Digest::of(COMPONENT), size: 8 };
        assert_eq!(layer_of(&manifest(|_| ()), 8).unwrap(), layer);
        let old = manifest(|m| {
            m["layers"][0]["mediaType"] = OLD_LAYER.into();
            m["config"]["mediaType"] = "application/vnd.wasm.config.v1+json".into();
        });
        assert_eq!(layer_of(&old, 8).unwrap(), layer);
    }

    #[test]
    fn what_is_no_component_is_refused() {
        let cases: [(&str, &str, Vec<u8>); 11] = [
            ("registry.malformed", "can't be read", b"<html>".to_vec()),
            ("registry.malformed", "can't be read", b"{}".to_vec()),
            ("registry.malformed", "schemaVersion 3", manifest(|m| m["schemaVersion"] = 3.into())),
            ("registry.malformed", "is no digest", manifest(|m| m["layers"][0]["digest"] = "sha512:0".into())),
            ("registry.malformed", "can't be read", manifest(|m| m["layers"][0]["size"] = (-1).into())),
            ("registry.not_a_component", "0 layers", manifest(|m| m["layers"] = serde_json::json!([]))),
            ("registry.not_a_component", "an index", br#"{"schemaVersion":2,"manifests":[]}"#.to_vec()),
            (
                "registry.not_a_component",
                "an index",
                br#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json"}"#.to_vec(),
            ),
            (
                "registry.not_a_component",
                "of the type 'application/vnd.oci.image.layer.v1.tar+gzip'",
                manifest(|m| m["layers"][0]["mediaType"] = "application/vnd.oci.image.layer.v1.tar+gzip".into()),
            ),
            (
                "registry.not_a_component",
                "2 layers",
                manifest(|m| m["layers"] = serde_json::json!([m["layers"][0], m["layers"][0]])),
            ),
            ("registry.too_large", "9 bytes, and 8 are", manifest(|m| m["layers"][0]["size"] = 9.into())),
        ];
        for (code, text, bytes) in cases {
            let error = layer_of(&bytes, 8).unwrap_err();
            assert_eq!((error.code().id, error.to_string().contains(text)), (code, true), "{error}");
        }
    }

    #[test]
    fn a_component_is_told_by_its_first_bytes() {
        assert!(check_component(COMPONENT).is_ok());
        for (bytes, what) in [
            (&b"\0asm\x01\0\0\0"[..], "a core WebAssembly module"),
            (b"", "is empty"),
            (b"\0asm", "not WebAssembly"),
            (b"<html><body>", "not WebAssembly"),
        ] {
            assert!(check_component(bytes).unwrap_err().to_string().contains(what));
        }
    }

    proptest! {
        #[test]
        fn no_manifest_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..600) {
            let _ = layer_of(&bytes, 8);
            let whole = manifest(|_| ());
            let _ = layer_of(&whole[..cut.min(whole.len())], 8);
        }
    }
}
