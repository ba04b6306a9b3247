//! Components that are replaced while they run, and candidates beside them.

use crate::built::{apply, component, host, plugin};
use faucet_core::model::Page;
use faucet_core::ports::AnyTransform;
use faucet_tests::{Faucet, Scratch};
use faucet_wasm::cases::{page_from_json, page_to_json};
use faucet_wasm::{Changing, Origin, PluginSpec};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

fn page(email: &str) -> Page {
    let columns = json!([{ "name": "email", "kind": "text", "values": [email] }]);
    page_from_json(&json!({ "table": "t", "key": [], "columns": columns })).unwrap()
}

fn email(page: &Page) -> Value {
    page_to_json(page)["columns"][0]["values"][0].clone()
}

#[test]
fn a_file_that_changes_is_the_transform_of_the_next_page() {
    let (mask, uppercase) = (component("guests", "mask"), component("examples/plugins/uppercase", "uppercase"));
    let scratch = Scratch::new("plugins-reload");
    let file = scratch.path().join("it.wasm");
    fs::copy(&mask, &file).unwrap();
    let spec = PluginSpec::new("it", Origin::File(file.clone()));
    let plugin = host().load(&spec).unwrap();
    let changing = Changing::new(host(), spec, plugin, true, None);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut transform = runtime.block_on(changing.open(&json!({ "columns": ["email"] }))).unwrap();
    let mut seen = || email(&apply(&mut transform, page("ada")).unwrap().pages[0]);
    // A file is looked at now and then, so a change is seen a moment later.
    let mut becomes = |wanted: &str| {
        faucet_tests::eventually(Duration::from_secs(60), "the new component", || {
            let is = seen();
            if is == wanted { Ok(()) } else { Err(format!("it makes {is}")) }
        });
    };
    becomes("***");
    fs::copy(&uppercase, &file).unwrap();
    becomes("ADA");
    fs::write(&file, "no component").unwrap();
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(600) {
        becomes("ADA");
    }
    fs::copy(&mask, &file).unwrap();
    becomes("***");
}

const CONFIG: &str = "name: shadowed
plugins: { it: { path: mask.wasm, EXTRA } }
pipeline:
  source: { type: jsonl, config: { path: in.jsonl } }
  transforms: [{ type: it, config: { columns: [email] } }]
  sink: { type: jsonl, config: { path: out.jsonl } }
";

/// A pipeline of two rows with more in its plugin's entry.
fn pipeline(extra: &str) -> Faucet {
    let faucet = Faucet::new(&CONFIG.replace("EXTRA", extra));
    fs::copy(component("guests", "mask"), faucet.dir().join("mask.wasm")).unwrap();
    fs::copy(component("examples/plugins/uppercase", "uppercase"), faucet.dir().join("uppercase.wasm")).unwrap();
    fs::write(faucet.dir().join("in.jsonl"), "{\"email\":\"ada\"}\n{\"email\":\"bob\"}\n").unwrap();
    faucet
}

#[test]
fn a_candidate_is_compared_and_never_written() {
    let faucet = pipeline("shadow: uppercase.wasm");
    let finished = faucet.run("run").expect_code(0);
    let out = fs::read_to_string(faucet.dir().join("out.jsonl")).unwrap();
    assert_eq!(out, "{\"email\":\"***\"}\n{\"email\":\"***\"}\n");
    let said = &finished.stderr;
    assert!(said.contains("differs on a page of 2 rows: column 'email' has other values in 2 rows"), "{said}");
    assert!(said.contains("differed on 1 of 1 pages"), "{said}");
    assert!(!said.contains("ADA"), "no value is logged: {said}");
}

#[test]
fn a_candidate_that_is_the_same_does_not_differ() {
    let finished = pipeline("shadow: mask.wasm").run("run").expect_code(0);
    assert!(finished.stderr.contains("differed on 0 of 1 pages"), "{}", finished.stderr);
}

#[test]
fn what_does_not_change_is_not_watched() {
    let digest = plugin("guests", "mask").digest().to_owned();
    let pinned = pipeline(&format!("sha256: \"{digest}\", reload: on_change")).run("validate").expect_code(2);
    assert!(pinned.stderr.contains("what is pinned by `sha256`"), "{}", pinned.stderr);
    let missing = pipeline("shadow: nowhere.wasm").run("validate").expect_code(2);
    assert!(missing.stderr.contains("plugins.it.shadow"), "{}", missing.stderr);
}
