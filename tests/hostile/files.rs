//! Files that are not what they should be.

use crate::forge::{dummy, from_module, module, package};
use crate::lair::{assert_host_is_well, components, load, spec};
use faucet_core::error::Error;
use faucet_wasm::{Limits, Origin, PluginSpec};
use std::fs;
use std::path::PathBuf;

fn load_bytes(bytes: &[u8]) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.wasm");
    fs::write(&path, bytes).unwrap();
    load(&PluginSpec { origin: Origin::File(path), ..spec("echo.wasm") }).expect_err("it is not what it should be")
}

fn assert_refused(bytes: &[u8], code: &str, what: &str) {
    let error = load_bytes(bytes);
    assert_eq!(error.code().id, code, "{error:?}");
    assert!(error.to_string().contains("plugin 'villain'") && error.to_string().contains(what), "{error}");
}

#[test]
fn a_missing_file() {
    let origin = Origin::File(PathBuf::from("/nowhere/x.wasm"));
    let error = load(&PluginSpec { origin, ..spec("echo.wasm") }).unwrap_err();
    assert_eq!(error.code().id, "plugin.not_found");
    assert!(error.to_string().starts_with("plugin 'villain': /nowhere/x.wasm: No such file"), "{error}");
    assert!(error.hint_text().unwrap().contains("plugins.villain.path"));
}

#[test]
fn a_folder() {
    let origin = Origin::File(components().to_owned());
    let error = load(&PluginSpec { origin, ..spec("echo.wasm") }).unwrap_err();
    assert_eq!(error.code().id, "plugin.not_found", "{error:?}");
}

#[test]
fn a_wrong_pin() {
    let pin = Some("sha256:".to_owned() + &"0".repeat(64));
    let error = load(&PluginSpec { sha256: pin, ..spec("echo.wasm") }).unwrap_err();
    assert_eq!(error.code().id, "plugin.digest_mismatch");
    let right = load(&spec("echo.wasm")).unwrap().digest().to_uppercase();
    assert!(error.to_string().to_uppercase().contains(&right), "{error}");
    load(&PluginSpec { sha256: Some(right), ..spec("echo.wasm") }).unwrap();
}

#[test]
fn files_that_are_no_component() {
    let sound = fs::read(components().join("echo.wasm")).unwrap();
    assert_refused(b"", "plugin.not_a_component", "is empty");
    assert_refused(b"#!/bin/sh", "plugin.not_a_component", "is not WebAssembly");
    assert_refused(b"\0asm\x01\0\0\0", "plugin.not_a_component", "is a core WebAssembly module");
    for at in [8, 9, 100, sound.len() / 2, sound.len() - 1] {
        let error = load_bytes(&sound[..at]);
        assert!(["plugin.not_a_component", "plugin.wrong_world"].contains(&error.code().id), "cut to {at}: {error:?}");
    }
    assert_host_is_well();
}

/// Every byte of the first part, and a sample of the rest, turned over: it loads or it does not, and the host lives.
#[test]
fn corrupt_files_never_hurt() {
    let sound = fs::read(components().join("echo.wasm")).unwrap();
    let step = sound.len() / 40;
    for at in (8..sound.len()).step_by(step) {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x55;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.wasm");
        fs::write(&path, &bytes).unwrap();
        if let Err(error) = load(&PluginSpec { origin: Origin::File(path), ..spec("echo.wasm") }) {
            assert!(error.code().id.starts_with("plugin."), "byte {at}: {error:?}");
        }
    }
    assert_host_is_well();
}

#[test]
fn another_version_is_told_from_this_one() {
    let next = dummy(&package("0.2.0"), "transform");
    assert_refused(
        &next,
        "plugin.wrong_version",
        "built for faucet:connector 0.2.0, and this faucet understands 0.1.0",
    );
    let later = dummy(&package("1.0.0"), "transform");
    assert_refused(&later, "plugin.wrong_version", "1.0.0");
}

#[test]
fn a_later_version_of_the_same_track_runs() {
    let error = load_bytes(&dummy(&package("0.1.7"), "transform"));
    assert_eq!(error.code().id, "plugin.trap", "it loads, and its dummy functions trap: {error:?}");
}

#[test]
fn another_world_is_no_transform() {
    let other = "package other:things@1.0.0; world thing { export run: func(); }";
    assert_refused(&dummy(other, "thing"), "plugin.wrong_world", "it exports run");
    let nothing = b"\0asm\x0d\0\x01\0";
    assert_refused(nothing, "plugin.wrong_world", "it exports nothing");
}

#[test]
fn an_import_that_is_not_offered() {
    let wit = package("0.1.0") + "interface more { f: func(); } world greedy { import more; export transforms; }";
    assert_refused(&dummy(&wit, "greedy"), "plugin.not_offered", "faucet:connector/more");
}

#[test]
fn recursion_without_frames_in_memory_ends_too() {
    let endless = r#"(memory (export "memory") 1) (func $f (result i32) (i32.add (call $f) (i32.const 1)))"#;
    assert_refused(&from_module(&module(endless, "(call $f)")), "plugin.trap", "stack overflow");
}

#[test]
fn tables_and_memories_are_bounded_from_the_start() {
    let grow = "(loop (br_if 0 (i32.ne (table.grow (ref.null func) (i32.const 10000)) (i32.const -1)))) unreachable";
    let tables = [
        module(r#"(memory (export "memory") 1) (table 100000000 funcref)"#, "unreachable"),
        module(r#"(memory (export "memory") 1) (table 1 funcref)"#, grow),
    ];
    for text in tables {
        assert_refused(&from_module(&text), "plugin.out_of_memory", "table entries in 'describe'");
    }
    let memory = module(r#"(memory (export "memory") 4000)"#, "unreachable");
    assert_refused(&from_module(&memory), "plugin.out_of_memory", "more memory than its 64 MiB in 'describe'");
    assert_host_is_well();
}

#[test]
fn what_describe_hands_over_is_checked() {
    let memory = r#"(memory (export "memory") 1)"#;
    let beyond = from_module(&module(memory, "i32.const 65532"));
    assert_refused(&beyond, "plugin.bad_output", "in 'describe'");
    let nameless = from_module(&module(memory, "i32.const 1024"));
    assert_refused(&nameless, "plugin.bad_output", "its name is not made of");
    let endless = from_module(&module(memory, "(loop (br 0)) unreachable"));
    assert_refused(&endless, "plugin.deadline", "in 'describe'");
}

#[test]
fn limits_are_honoured() {
    let small = Limits { memory_mb: 1, ..Limits::default() };
    let error = load(&PluginSpec { limits: small, ..spec("echo.wasm") }).unwrap_err();
    assert_eq!(error.code().id, "plugin.out_of_memory", "{error:?}");
}
