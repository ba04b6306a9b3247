//! Granted folders: what is in them can be reached, and nothing else.

use crate::lair::{assert_host_is_well, probe, prober};
use faucet_wasm::{Access, DirGrant, Grants};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// `work` is granted as `/data`, `lists` as `/reference`, and `outside` is not.
fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    for folder in ["work/below", "lists", "outside"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    fs::write(at("outside/secret"), "hidden").unwrap();
    fs::write(at("lists/table"), "listed").unwrap();
    symlink("../outside/secret", at("work/link")).unwrap();
    symlink(at("outside/secret"), at("work/absolute")).unwrap();
    symlink("../outside", at("work/folder")).unwrap();
    symlink("table", at("lists/inner")).unwrap();
    place
}

fn granted(place: &TempDir, access: Access) -> Grants {
    let dir = |folder: &str, name: &str| {
        let path = place.path().join(folder);
        DirGrant { path, name: Some(name.to_owned()), access }
    };
    Grants { dirs: vec![dir("work", "/data"), dir("lists", "/reference")], ..Grants::default() }
}

/// What becomes of it where both folders are granted for writing. The prober asks to write in `/data` only.
fn seen(place: &TempDir, config: Value) -> String {
    probe(&prober(granted(place, Access::Write)), config).unwrap()
}

fn read(path: &str) -> Value {
    json!({ "do": "file-read", "path": path })
}

fn write(path: &str) -> Value {
    json!({ "do": "file-write", "path": path, "text": "mine" })
}

#[test]
fn what_is_in_a_granted_folder_can_be_reached() {
    let place = place();
    assert_eq!(seen(&place, read("/reference/table")), "listed");
    assert_eq!(seen(&place, read("/reference/inner")), "listed", "a link inside leads on");
    assert_eq!(seen(&place, write("/data/below/new")), "written");
    assert_eq!(fs::read_to_string(place.path().join("work/below/new")).unwrap(), "mine");
    assert_eq!(seen(&place, json!({ "do": "file-list", "path": "/data" })), "absolute,below,folder,link");
    assert_eq!(seen(&place, json!({ "do": "file-remove", "path": "/data/below/new" })), "removed");
}

#[test]
fn no_path_and_no_link_leads_out() {
    let place = place();
    let paths = [
        "/data/link",
        "/data/absolute",
        "/data/folder/secret",
        "/data/../outside/secret",
        "/data/below/../../outside/secret",
        "/reference/../outside/secret",
        "/data/../../../../../../etc/passwd",
        "/etc/passwd",
        "/proc/self/environ",
        "/",
        "outside/secret",
    ];
    for path in paths {
        for config in [read(path), write(path), json!({ "do": "file-remove", "path": path })] {
            // A link itself lies in the folder and may be removed.
            if config["do"] == "file-remove" && ["/data/link", "/data/absolute"].contains(&path) {
                continue;
            }
            let seen = seen(&place, config.clone());
            assert!(seen.starts_with("error: "), "{config}: {seen}");
        }
    }
    let out = json!({ "do": "file-rename", "path": "/data/below", "to": "/data/../outside/below" });
    assert!(seen(&place, out).starts_with("error: "));
    assert_eq!(fs::read_to_string(place.path().join("outside/secret")).unwrap(), "hidden");
    assert_eq!(fs::read_dir(place.path().join("outside")).unwrap().count(), 1);
    assert_host_is_well();
}

/// A guest could not follow them out, but other programs could.
#[test]
fn it_makes_no_links() {
    let place = place();
    for (path, to) in [("mine", "../outside/secret"), ("root", "/etc/passwd"), ("inner", "below")] {
        let config = json!({ "do": "file-link", "path": format!("/data/{path}"), "to": to });
        assert_eq!(seen(&place, config), "error: PermissionDenied", "{path}");
        assert!(fs::symlink_metadata(place.path().join("work").join(path)).is_err(), "{path}");
    }
}

/// Opening a pipe waits for its other end, and nobody is there.
#[test]
fn what_is_neither_file_nor_folder_is_not_opened() {
    let place = place();
    let at = |name: &str| place.path().join("work").join(name);
    let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    symlink("pipe", at("to-the-pipe")).unwrap();
    for path in ["/data/pipe", "/data/to-the-pipe", "/data/socket"] {
        for config in [read(path), write(path), json!({ "do": "file-touch", "path": path })] {
            let start = Instant::now();
            assert_eq!(seen(&place, config.clone()), "error: PermissionDenied", "{config}");
            assert!(start.elapsed() < Duration::from_secs(5), "{config}: {:?}", start.elapsed());
        }
    }
    assert_eq!(seen(&place, json!({ "do": "file-touch", "path": "/data/below" })), "touched");
    assert_eq!(seen(&place, json!({ "do": "file-remove", "path": "/data/pipe" })), "removed");
    assert_host_is_well();
}

#[test]
fn a_folder_is_for_reading_unless_both_sides_say_writing() {
    let place = place();
    let to_change = |folder: &str| {
        let path = |name: &str| format!("/{folder}/{name}");
        [
            write(&path("new")),
            write(&path("table")),
            json!({ "do": "file-make", "path": path("new") }),
            json!({ "do": "file-remove", "path": path("table") }),
            json!({ "do": "file-link", "path": path("new"), "to": "table" }),
            json!({ "do": "file-rename", "path": path("table"), "to": path("new") }),
        ]
    };
    for config in to_change("reference") {
        assert_eq!(seen(&place, config.clone()), "error: PermissionDenied", "it does not ask to write there: {config}");
    }
    for config in to_change("data") {
        let seen = probe(&prober(granted(&place, Access::Read)), config.clone()).unwrap();
        assert!(seen.starts_with("error: "), "it may not write there: {config}: {seen}");
    }
    assert_eq!(fs::read_to_string(place.path().join("lists/table")).unwrap(), "listed");
    assert_eq!(fs::read_dir(place.path().join("lists")).unwrap().count(), 2);
}

#[test]
fn a_relative_folder_starts_at_the_configuration() {
    let place = place();
    let dirs = vec![DirGrant { path: "work".into(), name: Some("/data".to_owned()), access: Access::Write }];
    let mut spec = prober(Grants { dirs, ..Grants::default() });
    spec.folder = place.path().to_owned();
    assert_eq!(probe(&spec, write("/data/new")).unwrap(), "written");
    assert!(place.path().join("work/new").is_file());
}
