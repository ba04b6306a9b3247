//! The instance that is made ahead. Whether one was is seen by a granted folder, which an instance opens as it is made.

use crate::lair::{apply, first_text, load, plain_page, prober, wait};
use faucet_core::error::Result;
use faucet_wasm::{Access, DirGrant, Grants, Plugin};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The prober, which may read this folder as `/reference`.
fn plugin(folder: &Path) -> Plugin {
    let dir = DirGrant { path: folder.to_owned(), name: Some("/reference".to_owned()), access: Access::Read };
    load(&prober(Grants { dirs: vec![dir], ..Grants::default() })).unwrap()
}

fn opened(plugin: &Plugin) -> Result<String> {
    let mut transform = plugin.open(json!({ "do": "file-list", "path": "/reference" }))?;
    let out = apply(&mut transform, plain_page())?;
    Ok(first_text(&out).as_str().unwrap().to_owned())
}

#[test]
fn one_that_is_made_ahead_serves_once() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("lists");
    fs::create_dir(&folder).unwrap();
    let plugin = plugin(&folder);
    plugin.prepare();
    plugin.prepare();
    fs::remove_dir(&folder).unwrap();
    assert_eq!(opened(&plugin).unwrap(), "", "it was made when the folder was there");
    opened(&plugin).unwrap_err();
}

#[test]
fn one_that_cannot_be_made_ahead_is_told_to_whoever_needs_it() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("lists");
    fs::create_dir(&folder).unwrap();
    let plugin = plugin(&folder);
    fs::remove_dir(&folder).unwrap();
    plugin.prepare();
    let error = opened(&plugin).unwrap_err();
    assert!(error.to_string().contains("can't be started"), "{error}");
    fs::create_dir(&folder).unwrap();
    assert_eq!(opened(&plugin).unwrap(), "");
}

#[test]
fn a_pipeline_makes_the_next_behind_its_own_back() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("lists");
    fs::create_dir(&folder).unwrap();
    let plugin = plugin(&folder);
    let until = Instant::now() + Duration::from_secs(30);
    wait(async {
        plugin.open(json!({ "do": "file-list", "path": "/reference" })).unwrap();
        // What is put in store after the folder is gone fails; so it is there again between one look and the next.
        loop {
            fs::remove_dir(&folder).unwrap();
            let ahead = plugin.open(json!({ "do": "file-list", "path": "/reference" })).is_ok();
            fs::create_dir(&folder).unwrap();
            if ahead {
                return;
            }
            assert!(Instant::now() < until, "no instance is made ahead");
            plugin.open(json!({ "do": "file-list", "path": "/reference" })).unwrap();
            tokio::task::yield_now().await;
        }
    });
}
