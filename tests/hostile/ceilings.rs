//! The operator's ceiling: what no configuration can grant.

use crate::lair::{assert_host_is_well, assert_tells, load, probe, prober};
use crate::server::Server;
use faucet_core::error::Result;
use faucet_wasm::{Access, Ceiling, DirGrant, Grants, Limits, PluginSpec};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

fn ceiling(text: &str) -> Result<Ceiling> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    Ceiling::read(file.path())
}

/// What the prober sees under a ceiling with these grants, and a secret `key`.
fn under(text: &str, grants: &Grants, config: Value) -> Result<String> {
    probe(&spec(text, grants), config)
}

fn spec(text: &str, grants: &Grants) -> PluginSpec {
    let secrets = BTreeMap::from([("key".to_owned(), "s3cr3t".to_owned())]);
    PluginSpec { ceiling: ceiling(text).unwrap(), secrets, ..prober(grants.clone()) }
}

fn all() -> Grants {
    let one = |name: &str| vec![name.to_owned()];
    Grants { http: one("*"), dirs: Vec::new(), env: one("PATH"), secrets: one("key"), clock: true, random: true }
}

#[test]
fn while_it_cannot_be_read_nothing_is_loaded() {
    let error = Ceiling::read(Path::new("/nowhere/ceiling.yaml")).unwrap_err();
    assert_eq!(error.code().id, "plugin.ceiling", "{error:?}");
    assert!(error.to_string().contains("FAUCET_PLUGIN_CEILING names /nowhere/ceiling.yaml"), "{error}");
    for text in ["{", "http: x", "htp: []", "http: [\"http://x\"]", "clock: perhaps", "limits: { memory: 1 }", "[]"] {
        assert_eq!(ceiling(text).unwrap_err().code().id, "plugin.ceiling", "{text:?}");
    }
    assert_eq!(ceiling("").unwrap(), ceiling("{}").unwrap(), "an empty file allows nothing");
}

#[test]
fn what_it_does_not_name_is_not_given() {
    let seen = |what: &str| under("{}", &all(), json!({ "do": what })).unwrap();
    assert_eq!(seen("env"), "[]");
    assert_eq!(seen("secrets"), "");
    assert_eq!(seen("clock"), "0 0");
    assert_eq!(seen("random"), seen("random"));
    let plugin = load(&spec("{}", &all())).unwrap();
    for path in ["grants.env[0]", "grants.secrets[0]", "grants.clock", "grants.random"] {
        let told = plugin.warnings().iter().any(|w| w.path == path && w.message.contains("FAUCET_PLUGIN_CEILING"));
        assert!(told, "{path}: {:?}", plugin.warnings());
    }
    assert_host_is_well();
}

#[test]
fn what_it_names_is_given_if_it_is_granted() {
    let seen = |text: &str, grants: &Grants, what: &str| under(text, grants, json!({ "do": what })).unwrap();
    for text in ["env: [PATH]", "env: ['*']"] {
        assert!(seen(text, &all(), "env").contains("PATH"), "{text}");
        assert_eq!(seen(text, &Grants::default(), "env"), "[]", "a ceiling grants nothing");
    }
    for text in ["secrets: [key]", "secrets: ['*']"] {
        assert_eq!(seen(text, &all(), "secrets"), "key", "{text}");
    }
    assert_eq!(seen("secrets: [other]", &all(), "secrets"), "");
    assert_ne!(seen("clock: true", &all(), "clock"), "0 0");
    assert_ne!(seen("random: true", &all(), "random"), seen("random: true", &all(), "random"));
}

#[test]
fn hosts_have_to_be_on_its_list_too() {
    let server = Server::of("hello");
    let grants = Grants { http: vec![server.address()], ..Grants::default() };
    let get = json!({ "do": "get", "url": server.url("/") });
    for text in ["{}", "http: [example.com]"] {
        let error = under(text, &grants, get.clone()).unwrap_err();
        assert_tells(&error, "plugin.failed", "apply");
        assert!(error.hint_text().unwrap().contains("above the ceiling that FAUCET_PLUGIN_CEILING sets"), "{error:?}");
    }
    let error = under("http: ['*']", &grants, get.clone()).unwrap_err();
    assert!(error.hint_text().unwrap().contains("is not a public address"), "a * names no private address: {error:?}");
    assert_eq!(server.seen(), [""; 0]);
    assert!(under("http: ['127.0.0.0/8']", &grants, get).unwrap().ends_with("hello"));
}

#[test]
fn a_host_above_it_is_told() {
    let grants = Grants { http: vec!["example.com".to_owned()], ..Grants::default() };
    let plugin = load(&spec("http: [example.org]", &grants)).unwrap();
    assert!(!plugin.grants().iter().any(|line| line.contains("example.com")), "{:?}", plugin.grants());
    let told = plugin.warnings().iter().any(|w| w.path == "grants.http[0]" && w.message.contains("ceiling"));
    assert!(told, "{:?}", plugin.warnings());
}

#[test]
fn folders_have_to_lie_below_its_own() {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path).display().to_string();
    fs::create_dir_all(place.path().join("mine/work")).unwrap();
    fs::create_dir_all(place.path().join("other")).unwrap();
    symlink(place.path().join("other"), place.path().join("mine/sneaky")).unwrap();
    let seen = |text: &str, folder: &str| {
        let dirs = vec![DirGrant { path: at(folder).into(), name: Some("/data".to_owned()), access: Access::Write }];
        let grants = Grants { dirs, ..Grants::default() };
        under(text, &grants, json!({ "do": "file-write", "path": "/data/new", "text": "x" })).unwrap()
    };
    let mine = format!("dirs: [{{ path: {}, access: write }}]", at("mine"));
    assert_eq!(seen(&mine, "mine/work"), "written");
    for folder in ["other", "mine/../other", "mine/sneaky", ""] {
        assert!(seen(&mine, folder).starts_with("error: "), "{folder}");
    }
    assert!(seen("{}", "mine/work").starts_with("error: "));
    assert_eq!(fs::read_dir(place.path().join("other")).unwrap().count(), 0);
}

#[test]
fn a_folder_that_it_has_for_reading_is_granted_for_reading() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("old"), "listed").unwrap();
    let dirs = vec![DirGrant { path: place.path().into(), name: Some("/data".to_owned()), access: Access::Write }];
    let (text, grants) =
        (format!("dirs: [{{ path: {} }}]", place.path().display()), Grants { dirs, ..Grants::default() });
    let seen = |config| under(&text, &grants, config).unwrap();
    assert_eq!(seen(json!({ "do": "file-read", "path": "/data/old" })), "listed");
    let write = json!({ "do": "file-write", "path": "/data/new", "text": "x" });
    assert_eq!(seen(write), "error: PermissionDenied");
    let plugin = load(&spec(&text, &grants)).unwrap();
    let line = format!("read {} as /data, as far as the operator's ceiling goes", place.path().display());
    assert_eq!(plugin.grants(), [line]);
    let told = |what: &str| plugin.warnings().iter().any(|w| w.path == "grants.dirs[0]" && w.message.contains(what));
    assert!(told("writing is above the ceiling"), "{:?}", plugin.warnings());
}

#[test]
fn limits_end_at_it() {
    let mut spec = spec("clock: true\nlimits: { deadline_ms: 100 }", &all());
    spec.limits = Limits { deadline_ms: Some(60_000), ..Limits::default() };
    let seen = probe(&spec, json!({ "do": "clock", "pause_ms": 50_000 })).unwrap();
    let paused: u64 = seen.split_once(' ').unwrap().1.parse().unwrap();
    assert!((90..5_000).contains(&paused), "{paused}");
    spec.ceiling = ceiling("limits: { memory_mb: 1 }").unwrap();
    assert_eq!(load(&spec).unwrap_err().code().id, "plugin.out_of_memory");
}
