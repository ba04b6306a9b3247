//! The folder of compiled components, tampered with.

use crate::lair::{apply, page, spec};
use faucet_wasm::{Host, HostOptions};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

fn works(folder: &Path) {
    let host = Host::new(HostOptions { cache_dir: Some(folder.to_owned()) }).unwrap();
    let echo = host.load(&spec("echo.wasm")).unwrap();
    assert_eq!(apply(&mut echo.open(json!("buffers")).unwrap(), page()).unwrap().pages, [page()]);
}

fn entry(folder: &Path) -> PathBuf {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut entries: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ext| ext == "cwasm")).collect();
    assert_eq!(entries.len(), 1);
    entries.remove(0)
}

#[test]
fn tampering_only_costs_a_compilation() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("kept");
    works(&folder);
    let sound = fs::read(entry(&folder)).unwrap();
    let middle = sound.len() / 2;
    let poisoned: Vec<u8> = sound.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at == middle)).collect();
    for bad in [&poisoned[..], &sound[..middle], &sound[..10], b"", &[sound.clone(), vec![0]].concat()] {
        fs::write(entry(&folder), bad).unwrap();
        works(&folder);
        assert_eq!(fs::read(entry(&folder)).unwrap(), sound, "it was compiled again, to the same code");
    }
    fs::write(folder.join("key"), b"short").unwrap();
    works(&folder);
    fs::write(folder.join("key"), [7; 32]).unwrap();
    works(&folder);
}

#[test]
fn a_folder_that_cannot_be_used_is_no_failure() {
    let file = tempfile::NamedTempFile::new().unwrap();
    works(file.path());
    works(&file.path().join("below"));
}

#[test]
fn two_processes_may_compile_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| works(&folder.path().join("kept")));
        }
    });
    works(&folder.path().join("kept"));
}
