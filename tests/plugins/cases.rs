//! The golden cases of each guest, which its own tests run natively, run again as a component.

use crate::built::{apply, plugin, root};
use crate::json;
use faucet_wasm::Plugin;
use serde_json::{Value, json};

fn run(plugin: &Plugin, file: &str) {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut ran = 0;
    for case in &cases {
        // A case may show what the SDK does with a value that the host itself would have refused.
        let Ok(page) = json::read(&case["page"]) else { continue };
        ran += 1;
        let (name, config) = (&case["case"], &case["config"]);
        assert_eq!(plugin.check_config(config), [], "{name}");
        let got = match apply(&mut plugin.open(config.clone()).unwrap(), page) {
            Ok(output) => {
                let pages: Vec<Value> = output.pages.iter().map(json::write).collect();
                let rejected = output.rejected.iter().map(|r| json!({ "row": r.row, "reason": r.reason }));
                json!({ "pages": pages, "rejected": rejected.collect::<Vec<_>>() })
            }
            Err(error) => {
                let wanted = case["error"].as_str().unwrap_or_else(|| panic!("{name}: {error:?}"));
                assert_eq!(error.code().id, "plugin.failed", "{name}: {error:?}");
                assert!(error.to_string().contains(wanted), "{name}: {error}");
                continue;
            }
        };
        let rejected = case.get("rejected").cloned().unwrap_or_else(|| json!([]));
        assert_eq!(got, json!({ "pages": case["pages"], "rejected": rejected }), "{name}");
    }
    assert!(ran + 2 >= cases.len() && ran > 10, "{ran} of {} cases ran", cases.len());
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
fn the_example_project() {
    let uppercase = plugin("examples/plugins/uppercase", "uppercase");
    assert_eq!(uppercase.describe().summary, "Turns text columns to upper case");
    let page =
        |name| json!({ "table": "t", "key": [], "columns": [{ "name": "n", "kind": "text", "values": [name, null] }] });
    let mut transform = uppercase.open(json!({ "columns": ["n"] })).unwrap();
    let out = apply(&mut transform, json::read(&page("straße")).unwrap()).unwrap();
    assert_eq!(json::write(&out.pages[0]), page("STRASSE"));
}
