//! Calls that end badly: too much of something, an answer that is a lie, a look at what is not theirs.

use crate::lair::{
    apply, assert_fails, assert_host_is_well, first_text, open, outcome, page, plain_page, said, villain,
};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn an_endless_loop_meets_its_deadline() {
    let start = Instant::now();
    let error = assert_fails("use-time", page(), "plugin.deadline");
    assert!(error.to_string().contains("did not finish within 300 ms"), "{error}");
    assert!(error.hint_text().unwrap().contains("limits.deadline_ms"));
    let tries = start.elapsed();
    assert!(tries >= Duration::from_millis(600), "the page is tried twice: {tries:?}");
    assert_host_is_well();
}

#[test]
fn a_loop_while_opening_meets_it_too() {
    let error = open("open-loop").err().unwrap();
    assert_eq!(error.code().id, "plugin.deadline");
    assert!(error.to_string().ends_with("in 'open'"), "{error}");
    assert_host_is_well();
}

#[test]
fn deep_recursion_overflows_its_own_stack() {
    // Its frames lie in the component's memory, below everything else.
    let error = assert_fails("use-stack", page(), "plugin.trap");
    assert!(error.to_string().contains("out of bounds memory access"), "{error}");
    assert_host_is_well();
}

#[test]
fn memory_ends_at_the_limit() {
    let error = assert_fails("use-memory", page(), "plugin.out_of_memory");
    assert!(error.to_string().contains("wanted more memory than its 64 MiB"), "{error}");
    assert_host_is_well();
}

#[test]
fn a_panic_is_told_with_its_message() {
    let error = assert_fails("use-panic", page(), "plugin.trap");
    assert!(said(&error).contains("I was not made for table orders"), "{error:?}");
    let error = open("open-panic").err().unwrap();
    assert!(said(&error).contains("no configuration pleases me"), "{error:?}");
    assert_host_is_well();
}

#[test]
fn a_guest_can_only_end_itself() {
    let error = assert_fails("use-exit", page(), "plugin.trap");
    assert!(error.to_string().contains("ended its own process"), "{error}");
    assert_host_is_well();
}

#[test]
fn floods_are_cut() {
    let error = assert_fails("use-stderr", page(), "plugin.trap");
    assert!(
        said(&error).contains("line 19999") && said(&error).len() < 6000,
        "the end is kept: {}",
        said(&error).len()
    );
    outcome("use-log", page()).unwrap();
    assert_host_is_well();
}

#[test]
fn output_is_bounded_by_input() {
    for mode in ["use-output", "use-alias", "use-pages"] {
        let error = assert_fails(mode, page(), "plugin.output_too_large");
        assert!(error.to_string().contains("16 times"), "{error}");
    }
    assert_fails("use-repeats", plain_page(), "plugin.output_too_large");
    assert_host_is_well();
}

#[test]
fn every_lie_is_found() {
    let lies: &[(&str, &str)] = &[
        ("selection-range", "the selection names row 3 of 3"),
        ("selection-falls", "the selection falls after its entry 0"),
        ("selection-length", "the selection has 5 bytes where 3 rows need 12"),
        ("selection-rows", "the selection has 8 bytes where 3 rows need 12"),
        ("selection-repeats-op", "the selection repeats a row of a change-data source"),
        ("rows", "it has 4 rows, no selection, and the input has 3"),
        ("rows-huge", "it has 4294967295 rows"),
        ("input-range", "column 3: it names input column 99 of 3"),
        ("name-twice", "two columns are named '__op'"),
        ("name-empty", "a column has no name"),
        ("key-missing", "the key names column 'nowhere'"),
        ("table-empty", "its table has no name"),
        ("op-gone", "column '__op' is gone"),
        ("op-other-kind", "column '__op' is not text"),
        ("reject-range", "row 3 of 3 is rejected"),
        ("reject-too-many", "4 rows of 3 are rejected"),
        ("reject-and-pass", "row 0 is rejected and passed on"),
        ("offsets-fall", "column 'new': the offset of row 1"),
        ("offsets-negative", "column 'new': the offset of row 0"),
        ("offsets-start", "column 'new': the offset of row 0"),
        ("offsets-beyond", "column 'new': the data buffer has 6 bytes"),
        ("offsets-short", "column 'new': the offsets buffer has 12 bytes"),
        ("offsets-odd", "column 'new': the offsets buffer has 17 bytes"),
        ("offsets-none", "column 'new': the offsets buffer has 0 bytes"),
        ("data-long", "column 'new': the data buffer has 7 bytes"),
        ("data-cut", "column 'new': the data buffer has 1 bytes"),
        ("utf8", "column 'new': the text in row 0 is not UTF-8"),
        ("utf8-split", "column 'new': the text in row"),
        ("validity-length", "column 'new': the validity buffer has 99 bytes"),
        ("absent-length", "column 'new': the absent buffer has 99 bytes"),
        ("absent-with-value", "column 'new': row 0 is marked absent and has a value"),
        ("decimal", "column 'new': the value in row 0"),
        ("json", "column 'new': the value in row 0"),
        ("native-unnamed", "column 'new' is of kind native and does not name its type"),
        ("kind-fixed", "column 'new': the offsets buffer has 16 bytes"),
        ("kind-text", "column 'new': the offsets buffer has 0 bytes"),
        ("time", "column 'new': the value in row 0"),
        ("uuid-length", "column 'new': the data buffer has 24 bytes"),
        ("bits-length", "column 'new': the data buffer has 24 bytes"),
        ("fixed-short", "column 'new': the data buffer has 23 bytes"),
        ("fixed-offsets", "column 'new': the offsets buffer has 4 bytes"),
    ];
    for (mode, what) in lies {
        let error = assert_fails(mode, page(), "plugin.bad_output");
        assert!(error.to_string().contains(what), "{mode}: {error}");
    }
    assert_host_is_well();
}

#[test]
fn what_a_guest_says_is_passed_on_and_its_instance_lives() {
    let error = assert_fails("failed", page(), "plugin.failed");
    assert!(error.to_string().contains("says \"this page does not please me\""), "{error}");
    let error = open("open-failed").err().unwrap();
    assert_eq!(error.code().id, "plugin.failed");
    let error = open("open-problems").err().unwrap();
    assert_eq!(error.code().id, "plugin.invalid_config");
    assert!(error.to_string().ends_with("a.b: is wrong; all is wrong"), "{error}");
}

#[test]
fn a_configuration_is_checked_by_schema_then_by_the_guest() {
    let by_schema = villain().check_config(&json!({ "a": 1 }));
    assert_eq!(by_schema.len(), 1, "{by_schema:?}");
    let by_guest = villain().check_config(&json!("open-problems"));
    let found: Vec<_> = by_guest.iter().map(|p| (p.path.as_str(), p.message.as_str())).collect();
    assert_eq!(found, [("a.b", "is wrong"), ("", "all is wrong")]);
    let crash = villain().check_config(&json!("open-panic"));
    let told = |what: &str| crash[0].message.contains(what) && !crash[0].message.contains('\n');
    assert!(told("crashed") && told("the plugin wrote: ") && told("no configuration pleases me"), "{crash:?}");
    assert_eq!(villain().check_config(&json!("good")), []);
}

#[test]
fn a_broken_instance_is_replaced_and_the_page_tried_again() {
    let mut transform = open("every-third").unwrap();
    for _ in 0..10 {
        assert_eq!(apply(&mut transform, page()).unwrap().pages, [page()]);
    }
}

#[test]
fn a_guest_sees_an_empty_world() {
    let seen = |mode: &str| first_text(&outcome(mode, plain_page()).unwrap());
    assert_eq!(seen("sense-env"), "[] []");
    assert_eq!(seen("sense-stdin"), "Ok(0) \"\"");
    assert_eq!(seen("sense-clock"), "Ok(0ns) 0ns", "clocks stand still, and an hour of sleep takes no time");
    assert_eq!(seen("sense-random"), seen("sense-random"), "every instance has the same random numbers");
    for mode in ["sense-files", "sense-net", "sense-names"] {
        let seen = seen(mode);
        assert!(!seen.as_str().unwrap().contains("Ok("), "{mode}: {seen}");
    }
    assert!(!std::path::Path::new("/tmp/faucet-hostile").exists());
}

#[test]
fn sleeping_does_not_outlast_the_deadline() {
    let start = Instant::now();
    outcome("use-sleep", page()).unwrap();
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn it_works_under_every_kind_of_runtime() {
    let single = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut transform = open("good").unwrap();
    assert_eq!(single.block_on(transform.apply(page())).unwrap().pages, [page()]);
    let seen = single.block_on(async { open("sense-stdin").unwrap().apply(plain_page()).await });
    assert_eq!(first_text(&seen.unwrap()), "Ok(0) \"\"");
    assert_eq!(without_runtime(transform.apply(page())).unwrap().pages, [page()]);
}

/// Drives a future that never waits, outside any runtime.
fn without_runtime<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("a transform waits for nothing"),
    }
}
