//! Sources that lie, break, or never end.

use crate::lair::{apply, assert_host_is_well, assert_tells, load, page, said, spec, wait};
use faucet_core::config::Part;
use faucet_core::error::{Error, Result};
use faucet_core::ports::{AnySource, Batch, Bookmark, Boundary, Source, SourceContext};
use faucet_wasm::{Access, DirGrant, Grants, Limits, PluginSpec};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

pub fn loaded(spec: &PluginSpec) -> Arc<dyn AnySource> {
    match Part::from(load(spec).unwrap()) {
        Part::Source(source) => source,
        other => panic!("it is a {}", other.role()),
    }
}

fn villain() -> &'static Arc<dyn AnySource> {
    static SOURCE: OnceLock<Arc<dyn AnySource>> = OnceLock::new();
    SOURCE.get_or_init(|| loaded(&spec("hostile_source.wasm")))
}

pub fn config(mode: &str) -> Value {
    json!({ "mode": mode })
}

fn open_at(mode: &str, bookmark: Option<Bookmark>) -> Result<Box<dyn Source>> {
    wait(villain().open(&config(mode), SourceContext { bookmark, ..SourceContext::default() }))
}

fn open(mode: &str) -> Result<Box<dyn Source>> {
    open_at(mode, None)
}

/// Reads to the end or to an error, which all modes but the endless ones reach soon.
pub fn read(source: &mut Box<dyn Source>) -> (Vec<Batch>, Option<Error>) {
    let mut batches = Vec::new();
    for _ in 0..20 {
        match wait(source.next()) {
            Ok(Some(batch)) => batches.push(batch),
            Ok(None) => return (batches, None),
            Err(error) => return (batches, Some(error)),
        }
    }
    panic!("it goes on and on");
}

/// The error that reading in a mode ends in.
pub fn failure(mode: &str, code: &str) -> Error {
    let (_, error) = read(&mut open(mode).unwrap());
    let error = error.unwrap_or_else(|| panic!("{mode} ended well"));
    assert_tells(&error, code, "read");
    error
}

/// A folder that is granted as `/count`.
pub fn with_folder(folder: &Path) -> PluginSpec {
    let dirs = vec![DirGrant { path: folder.to_owned(), name: Some("/count".to_owned()), access: Access::Write }];
    PluginSpec { grants: Grants { dirs, ..Grants::default() }, ..spec("hostile_source.wasm") }
}

#[test]
fn an_honest_one_is_read_and_goes_on_at_a_bookmark() {
    let (batches, error) = read(&mut open("good").unwrap());
    assert!(error.is_none() && batches.len() == 3, "{error:?}");
    let Boundary::Commit(Some(first)) = batches[0].boundary.clone() else { panic!("{batches:?}") };
    let (rest, _) = read(&mut open_at("good", Some(first)).unwrap());
    assert_eq!(rest, batches[1..]);
}

#[test]
fn another_schema_on_the_next_page_is_no_lie() {
    let (batches, error) = read(&mut open("schema-changes").unwrap());
    assert!(error.is_none(), "{error:?}");
    let columns: Vec<usize> = batches.iter().map(|batch| batch.pages[0].columns().len()).collect();
    let rows: Vec<usize> = batches.iter().map(Batch::rows).collect();
    assert_eq!((columns, rows), (vec![2, 3, 2, 1], vec![3, 3, 3, 1]));
}

#[test]
fn every_lie_about_rows_is_found() {
    let lies: &[(&str, &str)] = &[
        ("rows-more", "page 0: column 'id': the data buffer has 24 bytes where its rows need 32"),
        ("rows-fewer", "page 0: column 'id': the data buffer has 24 bytes where its rows need 16"),
        ("rows-for-changes", "a source of changes does not say what they did"),
        ("table-empty", "its table has no name"),
        ("key-missing", "the key names column 'nowhere', which is not there"),
        ("key-twice", "the key names column 'id' twice"),
        ("name-twice", "two columns are named 'id'"),
        ("name-empty", "a column has no name"),
        ("offsets-fall", "column 'note': the offset of row 1"),
        ("offsets-beyond", "column 'note': the data buffer has 6 bytes"),
        ("offsets-none", "column 'note': the offsets buffer has 0 bytes"),
        ("data-long", "column 'note': the data buffer has 7 bytes"),
        ("utf8", "column 'note': the text in row 0 is not UTF-8"),
        ("validity-length", "column 'note': the validity buffer has 99 bytes"),
        ("absent-with-value", "column 'note': row 0 is marked absent and has a value"),
        ("native-unnamed", "column 'note' is of kind native and does not name its type"),
        ("json", "column 'note': the value in row 0 is not JSON"),
    ];
    for (mode, what) in lies {
        let error = failure(mode, "plugin.bad_output");
        assert!(error.to_string().contains(what), "{mode}: {error}");
    }
    assert_host_is_well();
}

#[test]
fn every_lie_about_changes_is_found() {
    let lies: &[(&str, &str)] = &[
        ("change-unclaimed", "it says what changes did, and claims to deliver plain rows"),
        ("change-ops-short", "2 ops for 3 rows"),
        ("change-op-unknown", "there is no op 120"),
        ("change-positions-fall", "its positions are cut short, or fall"),
        ("change-positions-short", "2 positions for 3 rows"),
        ("change-positions-cut", "its positions are cut short, or fall"),
        ("change-positions-width", "its positions are cut short, or fall"),
        ("change-positions-wide", "its positions are cut short, or fall"),
        ("change-times-cut", "the time of a commit is cut short"),
        ("change-times-short", "2 times of a commit for 3 rows"),
        ("change-before-short", "the bitmap of before-images has 0 bytes for 3 rows"),
        ("change-before-kinds", "the before-images do not have the columns of the page"),
        ("change-before-few", "the before-images do not have the columns of the page"),
        ("change-before-rows", "column 'id': the data buffer has 16 bytes where its rows need 24"),
    ];
    for (mode, what) in lies {
        let error = failure(mode, "plugin.bad_output");
        assert!(error.to_string().contains(what), "{mode}: {error}");
    }
    let batch = wait(open("change-good").unwrap().next()).unwrap().unwrap();
    assert!(batch.pages[0].change().is_some());
    assert_host_is_well();
}

/// Rows cost nothing where there are no columns.
#[test]
fn four_billion_rows_of_nothing_are_a_lie() {
    let error = failure("rows-of-nothing", "plugin.bad_output");
    assert!(error.to_string().contains("it has 4294967295 rows and no column"), "{error}");
}

#[test]
fn a_bookmark_does_not_go_back() {
    for (mode, what) in [
        ("bookmark-back", "its bookmark went back"),
        ("bookmark-hidden", "some of its bookmarks have a position, and some none"),
    ] {
        let error = failure(mode, "plugin.bad_output");
        assert!(error.to_string().contains(what), "{mode}: {error}");
    }
}

/// Rows of a transaction that never ends would be dropped without a word.
#[test]
fn a_transaction_ends_before_the_source_does() {
    let error = failure("ends-inside", "plugin.bad_output");
    assert!(error.to_string().contains("it ended inside a transaction"), "{error}");
}

#[test]
fn a_bookmark_of_something_else_is_refused() {
    let error = open_at("good", Some(Bookmark(json!({ "lsn": 5 })))).err().unwrap();
    assert_eq!(error.code().id, "plugin.foreign_bookmark", "{error:?}");
}

#[test]
fn a_session_that_breaks_says_why_and_another_goes_on() {
    for (mode, what, more) in [
        ("use-panic", "crashed (panic or unreachable code)", "I have read enough"),
        ("use-time", "did not finish within 300 ms", "limits.deadline_ms"),
        ("use-memory", "wanted more memory than its 64 MiB", "limits.memory_mb"),
    ] {
        let error = failure(mode, "plugin.session_lost");
        let told = format!("{} {}", said(&error), error.hint_text().unwrap_or_default());
        assert!(error.to_string().contains(what) && told.contains(more), "{mode}: {error:?}");
    }
    let (batches, _) = read(&mut open("use-panic").unwrap());
    let Boundary::Commit(bookmark) = batches[0].boundary.clone() else { panic!("{batches:?}") };
    let (rest, _) = read(&mut open_at("good", bookmark).unwrap());
    assert_eq!(rest.len(), 2, "another session goes on after the first batch");
    assert_host_is_well();
}

/// Another session would give as much again, so it is not tried.
#[test]
fn a_batch_has_a_size() {
    for mode in ["use-output", "use-pages", "bookmark-huge"] {
        let error = failure(mode, "plugin.output_too_large");
        assert!(error.to_string().contains("made more than 16 times the size"), "{mode}: {error}");
        assert!(error.hint_text().unwrap().contains("limits.output_ratio"), "{mode}: {error:?}");
    }
    assert_host_is_well();
}

#[test]
fn what_it_says_is_passed_on() {
    let error = failure("use-failed", "plugin.failed");
    assert!(error.to_string().contains("says \"these rows do not please me\""), "{error}");
    let error = failure("use-http", "plugin.failed");
    assert!(error.hint_text().unwrap().contains("add it to plugins.villain.grants.http"), "{error:?}");
}

#[test]
fn a_host_that_it_does_not_ask_for_is_refused_although_it_is_granted() {
    let grants = Grants { http: vec!["unasked.invalid".to_owned()], ..Grants::default() };
    let source = loaded(&PluginSpec { grants, ..spec("hostile_source.wasm") });
    let mut session = wait(source.open(&config("use-http"), SourceContext::default())).unwrap();
    let error = read(&mut session).1.unwrap();
    assert_tells(&error, "plugin.failed", "read");
    assert!(error.hint_text().unwrap().contains("the plugin itself does not ask for it"), "{error:?}");
}

#[test]
fn opening_may_fail_in_every_way() {
    for (mode, code, what) in [
        ("open-panic", "plugin.trap", "this is no place to begin"),
        ("open-loop", "plugin.deadline", "did not finish within 300 ms"),
        ("open-unavailable", "plugin.unavailable", "the other end sleeps"),
    ] {
        let error = open(mode).err().unwrap();
        assert_tells(&error, code, "open");
        assert!(said(&error).contains(what), "{mode}: {error:?}");
    }
    assert_host_is_well();
}

/// `check` runs with nothing granted, whatever is: it can't touch the world, nor hold anybody up.
#[test]
fn a_check_touches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = with_folder(folder.path());
    spec.grants.http = vec!["asked.invalid".to_owned()];
    spec.limits = Limits { deadline_ms: Some(60_000), ..Limits::default() };
    let source = loaded(&spec);
    let closed = "asked.invalid:443 can't be reached while a plugin is described or checked, whatever is granted";
    for (mode, what, hint) in [
        ("check-http", "says \"the request is not allowed", Some(closed)),
        ("check-file", "says \"/count: NotFound\"", Some("mend the plugin's configuration, or what reaches it")),
        ("check-panic", "crashed (panic or unreachable code)", None),
        ("check-panic", "no configuration pleases me", None),
        ("check-loop", "did not finish within 2000 ms", Some("raise limits.deadline_ms, or lower batch_size")),
    ] {
        for problems in [source.capabilities(&config(mode)).unwrap_err(), source.validate(&config(mode))] {
            assert_eq!(problems.len(), 1, "{mode}: {problems:?}");
            let message = &problems[0].message;
            assert!(message.contains(what) && message.contains("in 'check'"), "{mode}: {message}");
            assert_eq!(problems[0].hint.as_deref(), hint, "{mode}");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_host_is_well();
}

#[test]
fn what_is_unavailable_comes_back_with_another_session() {
    let folder = tempfile::tempdir().unwrap();
    let source = loaded(&with_folder(folder.path()));
    let session = || wait(source.open(&config("use-unavailable"), SourceContext::default())).unwrap();
    for _ in 0..2 {
        let error = wait(session().next()).unwrap_err();
        assert_tells(&error, "plugin.unavailable", "read");
    }
    assert_eq!(wait(session().next()).unwrap().unwrap().rows(), 3);
}

#[test]
fn one_that_never_has_anything_holds_nobody_up() {
    for mode in ["endless-empty", "endless-inside"] {
        let mut source = open(mode).unwrap();
        for _ in 0..1000 {
            assert_eq!(wait(source.next()).unwrap().unwrap().pages, []);
        }
    }
    let mut source = open("endless-pause").unwrap();
    wait(source.next()).unwrap().unwrap();
    let given_up = wait(async { tokio::time::timeout(Duration::from_millis(50), source.next()).await });
    assert!(given_up.is_err(), "it asked for a pause of 49 days");
}

#[test]
fn a_confirmation_that_fails_is_a_lost_one() {
    let mut source = open("confirm-panic").unwrap();
    let Boundary::Commit(Some(bookmark)) = wait(source.next()).unwrap().unwrap().boundary else {
        panic!("no bookmark")
    };
    wait(source.confirm(&bookmark)).unwrap();
    let error = wait(source.next()).unwrap_err();
    assert_tells(&error, "plugin.session_lost", "read");
    assert!(error.to_string().contains("broke in an earlier call"), "{error}");
    assert_eq!(read(&mut open_at("good", Some(bookmark)).unwrap()).0.len(), 2);
}

#[test]
fn capturing_may_fail_in_every_way() {
    let capture = |mode: &str| wait(villain().capture(&config(mode)).unwrap().capture());
    assert!(capture("good").is_ok());
    assert_tells(&capture("capture-loop").unwrap_err(), "plugin.deadline", "capture");
    assert_tells(&capture("capture-unsupported").unwrap_err(), "plugin.unsupported", "capture");
    let discover = |mode: &str| wait(villain().capture(&config(mode)).unwrap().discover());
    assert_eq!(discover("good").unwrap()[0].key, ["id"]);
    assert_tells(&discover("discover-panic").unwrap_err(), "plugin.trap", "discover");
    assert_host_is_well();
}

#[test]
fn others_go_on_while_one_loops() {
    let limits = Limits { deadline_ms: Some(2_000), ..Limits::default() };
    let looping = loaded(&PluginSpec { limits, ..spec("hostile_source.wasm") });
    let mut echo = load(&spec("echo.wasm")).unwrap().open(json!("pass")).unwrap();
    std::thread::scope(|scope| {
        let loops = scope.spawn(|| {
            let mut session = wait(looping.open(&config("use-time"), SourceContext::default())).unwrap();
            read(&mut session).1.unwrap()
        });
        let start = Instant::now();
        for _ in 0..100 {
            assert_eq!(apply(&mut echo, page()).unwrap().pages, [page()]);
        }
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert_tells(&loops.join().unwrap(), "plugin.session_lost", "read");
    });
}
