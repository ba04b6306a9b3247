//! Grants: a plugin gets what it asks for and is granted, of which it and its user are told.

use crate::lair::{apply, assert_host_is_well, host, http, load, page, probe, prober, spec};
use faucet_core::error::{Problem, Severity};
use faucet_wasm::{Access, DirGrant, Grants, Limits, LoadError, PluginSpec};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

fn dir(path: &str, name: &str) -> DirGrant {
    DirGrant { path: PathBuf::from(path), name: Some(name.to_owned()), access: Access::Read }
}

/// What is wrong with the grants of the prober.
fn problems(grants: Grants) -> Vec<Problem> {
    match host().load(&prober(grants)).unwrap_err() {
        LoadError::Grants(problems) => problems,
        LoadError::Plugin(error) => panic!("{error:?}"),
    }
}

#[test]
fn a_malformed_grant_is_a_problem_with_a_path() {
    let wrong = |text: &str| Grants { http: names(&["example.com", text]), ..Grants::default() };
    let folder = |path: &str, name: &str| Grants { dirs: vec![dir(path, name)], ..Grants::default() };
    let cases = [
        (wrong("http://x"), "grants.http[1]", "'http://x'"),
        (wrong("*x.com"), "grants.http[1]", "a * stands for whole labels"),
        (wrong("x:y"), "grants.http[1]", "the port is no number"),
        (wrong("a b"), "grants.http[1]", "is no host"),
        (wrong(""), "grants.http[1]", "is no host"),
        (folder("/nowhere/at/all", "/data"), "grants.dirs[0].path", "/nowhere/at/all is no folder"),
        (folder("/", "data"), "grants.dirs[0].name", "starts with /"),
        (folder("/", "/"), "grants.dirs[0].name", "starts with /"),
        (Grants { secrets: names(&["key"]), ..Grants::default() }, "grants.secrets[0]", "no value for key"),
    ];
    for (grants, path, what) in cases {
        let found = problems(grants);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].path == path && found[0].message.contains(what), "{path}: {found:?}");
        assert_eq!(found[0].severity, Severity::Error);
    }
    assert_host_is_well();
}

#[test]
fn what_is_asked_for_and_not_granted_is_a_warning() {
    let plugin = load(&prober(Grants::default())).unwrap();
    assert_eq!(plugin.grants(), [""; 0]);
    let asked =
        ["HTTP requests to *", "named /data", "named /reference", "variable PATH", "the real time", "real randomness"];
    for what in asked {
        let told = |w: &&Problem| w.path == "grants" && w.message.contains(what) && w.hint.is_some();
        assert_eq!(plugin.warnings().iter().filter(told).count(), 1, "{what}: {:?}", plugin.warnings());
    }
    assert!(plugin.warnings().iter().all(|warning| warning.severity == Severity::Warning));
}

#[test]
fn every_host_that_is_asked_for_is_a_line_of_its_own() {
    let plugin = load(&spec("hostile_source.wasm")).unwrap();
    let hints: Vec<_> = plugin.warnings().iter().filter_map(|warning| warning.hint.as_deref()).collect();
    let wanted = r#"if you trust it with that: grants: { http: ["asked.invalid:443", "also.invalid:443"] }"#;
    assert!(hints.contains(&wanted), "{hints:?}");
}

#[test]
fn two_folders_of_one_name_are_a_problem() {
    let dirs = vec![dir("/", "/data"), dir("/", "/reference"), dir("/", "/data")];
    let found = problems(Grants { dirs, ..Grants::default() });
    assert_eq!(found.len(), 1, "{found:?}");
    let (path, message) = (found[0].path.as_str(), found[0].message.as_str());
    assert_eq!((path, message), ("grants.dirs[2].name", "another folder is named /data too"));
}

#[test]
fn what_is_granted_and_not_asked_for_is_a_warning_and_not_given() {
    let grants = Grants {
        http: names(&["example.com"]),
        dirs: vec![dir("/", "/data")],
        env: names(&["PATH"]),
        secrets: names(&["key"]),
        clock: true,
        random: true,
    };
    let secrets = BTreeMap::from([("key".to_owned(), "s3cr3t".to_owned())]);
    let echo = load(&PluginSpec { grants, secrets, ..spec("echo.wasm") }).unwrap();
    let paths: Vec<_> = echo.warnings().iter().map(|warning| warning.path.as_str()).collect();
    let all = ["grants.http", "grants.dirs[0]", "grants.env[0]", "grants.secrets[0]", "grants.clock", "grants.random"];
    assert_eq!(paths, all);
    assert_eq!(echo.grants(), [""; 0]);
    assert_eq!(apply(&mut echo.open(json!("pass")).unwrap(), page()).unwrap().pages, [page()]);
}

#[test]
fn a_secret_that_no_grant_names_is_a_warning() {
    let secrets = BTreeMap::from([("key".to_owned(), "s3cr3t".to_owned())]);
    let plugin = load(&PluginSpec { secrets, ..prober(Grants::default()) }).unwrap();
    let warning = plugin.warnings().iter().find(|warning| warning.path == "secrets.key").unwrap();
    assert!(warning.message.contains("is not granted") && !format!("{warning:?}").contains("s3cr3t"), "{warning:?}");
}

#[test]
fn only_the_granted_variables_are_there() {
    let env = json!({ "do": "env" });
    let seen = |list: &[&str]| probe(&prober(Grants { env: names(list), ..Grants::default() }), env.clone()).unwrap();
    assert_eq!(seen(&[]), "[]");
    assert!(seen(&["PATH"]).starts_with("[(\"PATH\", "));
    assert_eq!(seen(&["PATH", "CARGO_MANIFEST_DIR"]), seen(&["PATH"]), "the other is not asked for");
    assert_eq!(seen(&["*"]), "[]", "a * is no name");
    assert_eq!(seen(&["FAUCET_PROBE"]), "[]", "what is not set is not there");
}

/// Seconds since 1970, and the milliseconds of a pause.
fn clock(grants: Grants, pause: u64) -> (u64, u64) {
    let limits = Limits { deadline_ms: Some(300), ..Limits::default() };
    let spec = PluginSpec { limits, ..prober(grants) };
    let seen = probe(&spec, json!({ "do": "clock", "pause_ms": pause })).unwrap();
    let (now, paused) = seen.split_once(' ').unwrap();
    (now.parse().unwrap(), paused.parse().unwrap())
}

#[test]
fn the_clock_moves_if_it_is_granted() {
    assert_eq!(clock(Grants::default(), 50), (0, 0));
    let (now, paused) = clock(Grants { clock: true, ..Grants::default() }, 50);
    assert!(now > 1_700_000_000 && (50..250).contains(&paused), "{now} {paused}");
    let (_, paused) = clock(Grants { clock: true, ..Grants::default() }, 60_000);
    assert!(paused < 1_000, "a pause ends with the call's deadline: {paused}");
}

#[test]
fn randomness_is_real_if_it_is_granted() {
    let seen = |random| probe(&prober(Grants { random, ..Grants::default() }), json!({ "do": "random" })).unwrap();
    assert_eq!(seen(false), seen(false));
    assert_ne!(seen(true), seen(true));
}

#[test]
fn the_grants_are_told() {
    let grants = Grants { env: names(&["PATH"]), clock: true, random: true, ..http(&["example.com", "10.0.0.0/8"]) };
    let lines = load(&prober(grants)).unwrap().grants();
    assert_eq!(lines, ["http example.com:443, 10.0.0.0/8", "env PATH", "the real time", "real randomness"]);
}
