//! The golden cases of each guest, which its own tests run natively, run again as a component.

use crate::built::{apply, component, plugin, root};
use faucet_wasm::Plugin;
use faucet_wasm::cases::{self, Verdict, page_from_json, page_to_json};
use serde_json::json;
use std::path::Path;

fn run(plugin: &Plugin, file: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let cases = cases::read(&root().join(file)).unwrap();
    for case in &cases {
        let name = &case.case;
        assert_eq!(plugin.check_config(&case.config), [], "{name}");
        match runtime.block_on(cases::run(plugin, case, Path::new("/nowhere"))) {
            Verdict::Passed => {}
            verdict => panic!("{name}: {verdict:#?}"),
        }
    }
    assert!(cases.len() > 10, "{} cases", cases.len());
}

#[test]
fn mask() {
    let mask = plugin("guests", "mask");
    run(&mask, "guests/mask/cases/mask.json");
    let described = mask.describe();
    assert_eq!((described.name.as_str(), described.deterministic), ("mask", Some(true)));
    let found = mask.check_config(&json!({ "columns": ["a"], "metod": "hash" }));
    assert!(found[0].message.contains("metod") || found[0].path.contains("metod"), "{found:?}");
    let found = mask.check_config(&json!({ "columns": { "a": { "method": "hash", "text": "x" } } }));
    assert_eq!(found[0].path, "columns.a.text", "what the schema can't say, the guest does: {found:?}");
}

#[test]
fn filter() {
    run(&plugin("guests", "filter"), "guests/filter/cases/filter.json");
}

#[test]
fn the_other_guests() {
    let guests = [
        "cast",
        "coalesce",
        "drop",
        "explode",
        "flatten",
        "hash",
        "join",
        "json_encode",
        "json_parse",
        "keys_case",
        "rename",
        "select",
        "set",
        "split",
    ];
    for guest in guests {
        run(&plugin("guests", guest), &format!("guests/{guest}/cases/{guest}.json"));
    }
}

#[test]
fn rest_and_http_refuse_what_can_not_work() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    for guest in ["rest", "http"] {
        let plugin = plugin("guests", guest);
        for case in cases::read(&root().join(format!("guests/{guest}/cases"))).unwrap() {
            let verdict = runtime.block_on(cases::run(&plugin, &case, Path::new("/nowhere")));
            assert_eq!(verdict, Verdict::Passed, "{guest}: {}", case.case);
        }
    }
}

#[test]
fn the_example_project() {
    let uppercase = plugin("examples/plugins/uppercase", "uppercase");
    assert_eq!(uppercase.describe().summary, "Turns text columns to upper case");
    let page =
        |name| json!({ "table": "t", "key": [], "columns": [{ "name": "n", "kind": "text", "values": [name, null] }] });
    let mut transform = uppercase.open(json!({ "columns": ["n"] })).unwrap();
    let out = apply(&mut transform, page_from_json(&page("straße")).unwrap()).unwrap();
    assert_eq!(page_to_json(&out.pages[0]), page("STRASSE"));
}

/// What somebody who is handed one of the components that come with faucet would see.
#[test]
fn verify_finds_nothing_in_the_components_that_come_with_faucet() {
    let faucet = faucet_tests::Faucet::new("");
    let folders = std::fs::read_dir(root().join("guests")).unwrap().map(|entry| entry.unwrap().path());
    let guests: Vec<_> = folders.filter(|folder| folder.join("cases").is_dir()).collect();
    assert!(guests.len() > 15, "{guests:?}");
    for guest in guests {
        let name = guest.file_name().unwrap().to_str().unwrap();
        let (component, cases) = (component("guests", name), guest.join("cases"));
        let arguments = ["plugin", "verify", component.to_str().unwrap(), "--cases", cases.to_str().unwrap()];
        let report = faucet.run_with(&arguments).expect_code(0).stdout;
        assert!(report.ends_with("no finding\n"), "{name}: {report}");
    }
}
