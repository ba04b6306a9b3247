//! Sinks that lie, break, or say that they can't.

use crate::lair::{assert_host_is_well, assert_tells, load, plain_page, said, spec, wait};
use faucet_core::config::Part;
use faucet_core::error::{Error, Result};
use faucet_core::ports::{AnySink, Sink, SinkContext};
use faucet_wasm::{Access, DirGrant, Grants, PluginSpec};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

fn loaded(spec: &PluginSpec) -> Arc<dyn AnySink> {
    match Part::from(load(spec).unwrap()) {
        Part::Sink(sink) => sink,
        other => panic!("it is a {}", other.role()),
    }
}

fn villain() -> &'static Arc<dyn AnySink> {
    static SINK: OnceLock<Arc<dyn AnySink>> = OnceLock::new();
    SINK.get_or_init(|| loaded(&spec("hostile_sink.wasm")))
}

fn config(mode: &str) -> Value {
    json!({ "mode": mode })
}

/// Opened with or without a place for rows that can't be written.
fn open(mode: &str, sets_aside: bool) -> Result<Box<dyn Sink>> {
    wait(villain().open(&config(mode), SinkContext { sets_aside, ..SinkContext::default() }))
}

fn write(sink: &mut Box<dyn Sink>) -> Result<()> {
    wait(sink.write(plain_page()))
}

/// The error says over which rows.
fn assert_tells_rows(error: &Error, code: &str) {
    assert_tells(error, code, "write");
    assert!(error.to_string().ends_with("in 'write' on rows 1 to 3 of a page of table public.orders"), "{error}");
}

#[test]
fn an_honest_one_is_written_to() {
    let mut sink = open("good", false).unwrap();
    write(&mut sink).unwrap();
    wait(sink.commit(None)).unwrap();
    wait(sink.finish()).unwrap();
    assert!(sink.set_aside().is_empty());
}

#[test]
fn opening_may_fail_in_every_way() {
    for (mode, code, what) in [
        ("open-panic", "plugin.trap", "there is no room"),
        ("open-loop", "plugin.deadline", "did not finish within 300 ms"),
        ("open-unavailable", "plugin.unavailable", "the other end sleeps"),
    ] {
        let error = open(mode, false).err().unwrap();
        assert_tells(&error, code, "open");
        assert!(said(&error).contains(what), "{mode}: {error:?}");
    }
    let problems = villain().capabilities(&config("check-panic")).unwrap_err();
    assert!(problems[0].message.contains("crashed") && problems[0].message.contains("in 'check'"), "{problems:?}");
    assert_host_is_well();
}

#[test]
fn a_write_that_breaks_says_over_which_rows() {
    for (mode, code, what) in [
        ("write-panic", "plugin.session_lost", "I was not made for table orders"),
        ("write-loop", "plugin.session_lost", "did not finish within 300 ms"),
        ("write-exit", "plugin.session_lost", "ended its own process"),
        ("write-failed", "plugin.failed", "says \"these rows do not please me\""),
    ] {
        let error = write(&mut open(mode, true).unwrap()).unwrap_err();
        assert_tells_rows(&error, code);
        assert!(said(&error).contains(what), "{mode}: {error:?}");
    }
    assert_host_is_well();
}

#[test]
fn a_commit_and_a_finish_that_break_are_told() {
    for (mode, code, what) in [
        ("commit-panic", "plugin.session_lost", "nothing is ever durable"),
        ("commit-loop", "plugin.session_lost", "did not finish within 300 ms"),
        ("commit-failed", "plugin.failed", "the disk is full"),
    ] {
        let mut sink = open(mode, false).unwrap();
        write(&mut sink).unwrap();
        let error = wait(sink.commit(None)).unwrap_err();
        assert_tells(&error, code, "commit");
        assert!(said(&error).contains(what), "{mode}: {error:?}");
    }
    for (mode, code) in [("finish-panic", "plugin.session_lost"), ("finish-failed", "plugin.failed")] {
        let mut sink = open(mode, false).unwrap();
        write(&mut sink).unwrap();
        assert_tells(&wait(sink.finish()).unwrap_err(), code, "finish");
    }
    assert_host_is_well();
}

#[test]
fn a_sink_that_broke_stays_broken_and_another_works() {
    let mut sink = open("write-panic", false).unwrap();
    write(&mut sink).unwrap_err();
    assert_tells_rows(&write(&mut sink).unwrap_err(), "plugin.session_lost");
    an_honest_one_is_written_to();
}

#[test]
fn a_rejected_row_is_set_aside_or_fails_its_page() {
    let mut sink = open("reject-first", true).unwrap();
    write(&mut sink).unwrap();
    let aside = sink.set_aside();
    assert_eq!(aside.len(), 1);
    assert_eq!((aside[0].rows.clone(), aside[0].error.code().id), (plain_page().slice(0, 1), "plugin.row_rejected"));
    let error = write(&mut open("reject-first", false).unwrap()).unwrap_err();
    assert_eq!(error.code().id, "plugin.row_rejected", "{error:?}");
    assert!(error.hint_text().unwrap().contains("dlq"), "{error:?}");
}

#[test]
fn lies_about_rejected_rows_are_found() {
    for (mode, what) in [
        ("reject-range", "it rejects row 3 of 3"),
        ("reject-twice", "it rejects row 0 twice"),
        ("reject-many", "it rejects row 0 twice"),
        ("reject-unclaimed", "it rejects rows, and does not say that it may"),
    ] {
        let error = write(&mut open(mode, true).unwrap()).unwrap_err();
        assert_tells_rows(&error, "plugin.bad_output");
        assert!(error.to_string().contains(what), "{mode}: {error}");
    }
    assert_host_is_well();
}

#[test]
fn a_long_reason_is_cut() {
    let mut sink = open("reject-long", true).unwrap();
    write(&mut sink).unwrap();
    let said = said(&sink.set_aside()[0].error);
    assert!(said.len() < 10_000, "{}", said.len());
}

#[test]
fn a_token_is_not_taken_on_trust() {
    let ask = |mode: &str| wait(open(mode, false).unwrap().last_token("scope"));
    assert_eq!(ask("good").unwrap(), None, "one without tokens is not asked");
    // What the token says is for the engine to read; here it is only as large as it may be.
    assert_eq!(ask("token-garbage").unwrap().as_deref(), Some("hello"));
    for (mode, code) in [
        ("token-huge", "plugin.output_too_large"),
        ("token-panic", "plugin.session_lost"),
        ("token-failed", "plugin.failed"),
    ] {
        assert_tells(&ask(mode).unwrap_err(), code, "last-token");
    }
    let mut sink = open("good", false).unwrap();
    write(&mut sink).unwrap();
    let error = wait(sink.commit(Some(("scope", "1")))).unwrap_err();
    assert_eq!(error.code().id, "sink.no_tokens", "{error:?}");
}

#[test]
fn what_is_unavailable_comes_back_with_another_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let dirs = vec![DirGrant { path, name: Some("/count".to_owned()), access: Access::Write }];
    let sink = loaded(&PluginSpec { grants: Grants { dirs, ..Grants::default() }, ..spec("hostile_sink.wasm") });
    let session = || wait(sink.open(&config("write-unavailable"), SinkContext::default())).unwrap();
    for _ in 0..2 {
        assert_tells_rows(&write(&mut session()).unwrap_err(), "plugin.unavailable");
    }
    write(&mut session()).unwrap();
}
