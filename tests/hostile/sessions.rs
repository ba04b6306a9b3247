//! Sessions of sources: what is asked once, what they are told, and what they may not claim.

use crate::lair::{spec, wait};
use crate::measures::Ledger;
use crate::sources::{config, failure, loaded, read, with_folder};
use faucet_core::ports::{Batch, Boundary, Source, SourceContext};
use faucet_wasm::cases::{self, Case, Verdict};
use faucet_wasm::{Limits, PluginSpec};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A source whose reads take a while, but for the first one, and what it notes of its calls.
struct Slow {
    folder: TempDir,
    session: Box<dyn Source>,
}

impl Slow {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut spec = with_folder(folder.path());
        spec.grants.clock = true;
        spec.limits = Limits { deadline_ms: Some(60_000), ..Limits::default() };
        let session = wait(loaded(&spec).open(&config("slow"), SourceContext::default())).unwrap();
        Self { folder, session }
    }

    fn next(&mut self) -> Batch {
        wait(self.session.next()).unwrap().unwrap()
    }

    /// The first batch becomes durable while the second one is read.
    fn confirm_while_it_reads(&mut self) {
        let Boundary::Commit(Some(first)) = self.next().boundary else { panic!("no bookmark") };
        let given_up = wait(async { tokio::time::timeout(Duration::from_millis(50), self.session.next()).await });
        assert!(given_up.is_err(), "the second batch takes longer");
        wait(self.session.confirm(&first)).unwrap();
    }

    fn notes(&self) -> Vec<String> {
        let notes = fs::read_to_string(self.folder.path().join("notes")).unwrap();
        notes.lines().map(str::to_owned).collect()
    }
}

#[test]
fn what_becomes_durable_while_it_reads_is_told_before_the_next_read() {
    let mut slow = Slow::open();
    slow.confirm_while_it_reads();
    slow.next();
    slow.next();
    assert_eq!(slow.notes(), ["read 0", "read 1", "confirm 1", "read 2"]);
}

#[test]
fn what_becomes_durable_while_it_reads_is_told_before_it_is_closed() {
    let mut slow = Slow::open();
    slow.confirm_while_it_reads();
    wait(slow.session.close()).unwrap();
    assert_eq!(slow.notes(), ["read 0", "read 1", "confirm 1"]);
}

/// A session opened anew would begin where nobody knows.
#[test]
fn who_claims_to_be_replayable_gives_each_commit_a_bookmark() {
    for mode in ["bookmark-none", "bookmark-none-inside"] {
        let error = failure(mode, "plugin.bad_output");
        let what = "it says that it is replayable, and commits rows without a bookmark";
        assert!(error.to_string().contains(what), "{mode}: {error}");
    }
}

#[test]
fn the_stream_goes_on_from_page_to_page() {
    let error = failure("change-positions-back", "plugin.bad_output");
    assert!(error.to_string().contains("its positions fall from one page to the next"), "{error}");
    let source = loaded(&spec("hostile_source.wasm"));
    let mut session = wait(source.open(&config("change-ends"), SourceContext::default())).unwrap();
    let (batches, error) = read(&mut session);
    assert!(error.is_none() && batches.len() == 2, "{error:?}");
}

#[test]
fn a_configuration_is_checked_once() {
    let ledger = Ledger::default();
    let source = loaded(&PluginSpec { name: "asked-once".to_owned(), ..spec("hostile_source.wasm") });
    metrics::with_local_recorder(&ledger, || {
        for _ in 0..2 {
            assert_eq!(source.validate(&config("good")), []);
            assert!(source.capabilities(&config("good")).unwrap().replayable);
        }
        assert!(source.capabilities(&config("change-good")).unwrap().changes);
    });
    assert_eq!(ledger.value("faucet_plugin_count", "asked-once", "checks"), Some(2.0), "two configurations");
}

#[test]
fn a_case_says_what_changes_did() {
    let page = |ops: [&str; 3]| {
        let columns = |ids: [serde_json::Value; 3], notes: [serde_json::Value; 3]| json!([{ "name": "id", "kind": "int64", "values": ids }, { "name": "note", "kind": "text", "values": notes }]);
        let absent = || json!({ "absent": true });
        json!({
            "table": "public.orders", "key": ["id"], "ops": ops,
            "columns": columns([json!(0), json!(1), json!(2)], ["ab", "ab", "ab"].map(Into::into)),
            "before": columns([absent(), json!(1), absent()], [absent(), json!("ab"), absent()]),
        })
    };
    let source = crate::lair::load(&spec("hostile_source.wasm")).unwrap();
    let verdict = |ops| {
        let case = Case { config: config("change-ends"), pages: vec![page(ops), page(ops)], ..Case::default() };
        wait(cases::run(&source, &case, Path::new("/nowhere")))
    };
    assert_eq!(verdict(["c", "u", "c"]), Verdict::Passed);
    assert!(matches!(verdict(["c", "d", "c"]), Verdict::Differs { .. }));
}
