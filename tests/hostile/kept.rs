//! The folder of compiled components, tampered with.

use crate::lair::{apply, page, spec};
use faucet_wasm::{Host, HostOptions, Origin, PluginSpec};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

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

/// The digest of a file that did not change is not computed again. One that only looks unchanged is read.
#[test]
fn a_file_with_another_content_is_another_even_if_size_and_time_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (kept, file) = (folder.path().join("kept"), folder.path().join("it.wasm"));
    let original = spec("echo.wasm");
    let Origin::File(echo) = &original.origin else { panic!("it is a file") };
    // A custom section at the end, called `x`, with one byte in it.
    let version = |byte: u8| [&fs::read(echo).unwrap()[..], &[0, 3, 1, b'x', byte]].concat();
    fs::write(&file, version(1)).unwrap();
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    let host = Host::new(HostOptions { cache_dir: Some(kept.clone()) }).unwrap();
    let load = || {
        let spec = PluginSpec { origin: Origin::File(file.clone()), ..original.clone() };
        host.load(&spec).unwrap().digest().to_owned()
    };
    let first = load();
    // Not before it has rested for a while.
    faucet_tests::eventually(Duration::from_secs(30), "the digest is remembered", || {
        assert_eq!(load(), first);
        let known = fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().path());
        let known = known.filter(|path| path.extension().is_some_and(|ext| ext == "known")).count();
        if known == 1 { Ok(()) } else { Err(format!("{known} are")) }
    });
    fs::write(&file, version(2)).unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(written).unwrap();
    assert_ne!(load(), first);
}
