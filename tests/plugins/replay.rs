//! Recordings: what was read and what transforms made of it, and other versions of a transform over the same pages.

use crate::built::component;
use faucet_tests::Faucet;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const CONFIG: &str = "name: recorded
plugins: { hide: { path: mask.wasm } }
pipeline:
  source: { type: jsonl, config: { path: in.jsonl } }
  transforms:
    - { type: filter, config: { field: id, op: ne, value: 2 } }
    - { type: hide, config: { columns: [email] } }
  sink: { type: jsonl, config: { path: out.jsonl } }
";

/// A pipeline of three rows, of which the filter lets two through.
fn pipeline() -> Faucet {
    let faucet = Faucet::new(CONFIG);
    let copy = |from: &Path, to: &str| fs::copy(from, faucet.dir().join(to)).unwrap();
    copy(&component("guests", "mask"), "mask.wasm");
    copy(&component("examples/plugins/uppercase", "uppercase"), "uppercase.wasm");
    let row = |id: u64, email: &str| format!("{{\"id\":{id},\"email\":\"{email}\"}}\n");
    let rows = [row(1, "ada"), row(2, "bob"), row(9_007_199_254_740_993, "cleo")].concat();
    fs::write(faucet.dir().join("in.jsonl"), rows).unwrap();
    faucet
}

fn record(faucet: &Faucet) -> Value {
    let finished = faucet.run_with(&["record", "config.yaml", "pages.fpg", "--output", "json"]).expect_code(0);
    serde_json::from_str(&finished.stdout).unwrap()
}

fn replay(faucet: &Faucet, arguments: &[&str], code: i32) -> Value {
    let all = [&["replay", "pages.fpg", "--output", "json"], arguments].concat();
    serde_json::from_str(&faucet.run_with(&all).expect_code(code).stdout).unwrap()
}

#[test]
fn the_same_version_makes_the_same_of_what_was_recorded() {
    let faucet = pipeline();
    assert_eq!(record(&faucet), json!({ "pages": 1, "rows": 3, "file": "pages.fpg" }));
    assert!(!faucet.dir().join("out.jsonl").exists(), "nothing is written");
    let same = replay(&faucet, &["--plugin", "mask.wasm", "--step", "hide"], 0);
    assert_eq!((&same["rows"], &same["differing_pages"]), (&json!(2), &json!(0)), "{same}");
    let text = faucet.run_with(&["replay", "pages.fpg", "--plugin", "mask.wasm", "--step", "2"]).expect_code(0).stdout;
    assert_eq!(text, "1 page, 2 rows into 'hide': the same comes out\n");
}

#[test]
fn another_version_is_compared_with_what_was_recorded_or_with_a_second_one() {
    let faucet = pipeline();
    record(&faucet);
    let differs = replay(&faucet, &["--plugin", "uppercase.wasm", "--step", "hide"], 1);
    assert_eq!(differs["columns"], json!({ "email": 2 }));
    let shown = json!([
        { "before": "{\"id\":1,\"email\":\"***\"}", "after": "{\"id\":1,\"email\":\"ADA\"}" },
        { "before": "{\"id\":9007199254740993,\"email\":\"***\"}", "after": "{\"id\":9007199254740993,\"email\":\"CLEO\"}" },
    ]);
    assert_eq!(differs["shown"], shown);
    let one = replay(&faucet, &["--plugin", "uppercase.wasm", "--step", "hide", "--show", "1"], 1);
    assert_eq!(one["shown"].as_array().map(Vec::len), Some(1));
    // Against a second component, what was recorded does not matter.
    replay(&faucet, &["--plugin", "uppercase.wasm", "--against", "uppercase.wasm", "--step", "hide"], 0);
    let finished = faucet.run_with(&["replay", "pages.fpg", "--plugin", "uppercase.wasm", "--step", "hide"]);
    assert!(finished.stderr.contains("replay.differs"), "{}", finished.stderr);
}

#[test]
fn another_configuration_is_used_and_said() {
    let faucet = pipeline();
    record(&faucet);
    fs::write(faucet.dir().join("mask.yaml"), "columns: { email: { method: partial } }\n").unwrap();
    let arguments = ["replay", "pages.fpg", "--plugin", "mask.wasm", "--step", "hide", "--plugin-config", "mask.yaml"];
    let finished = faucet.run_with(&arguments).expect_code(1);
    assert!(finished.stderr.contains("is not the recorded one"), "{}", finished.stderr);
    fs::remove_file(faucet.config()).unwrap();
    let gone = faucet.run_with(&["replay", "pages.fpg", "--plugin", "mask.wasm", "--step", "hide"]).expect_code(2);
    assert!(gone.stderr.contains("--plugin-config"), "{}", gone.stderr);
}

#[test]
fn a_step_that_is_not_clear_is_asked_for() {
    let faucet = pipeline();
    record(&faucet);
    let unclear = faucet.run_with(&["replay", "pages.fpg", "--plugin", "mask.wasm"]).expect_code(2).stderr;
    assert!(unclear.contains("1 filter, 2 hide"), "{unclear}");
    fs::copy(faucet.dir().join("mask.wasm"), faucet.dir().join("hide.wasm")).unwrap();
    replay(&faucet, &["--plugin", "hide.wasm"], 0);
}

#[test]
fn a_recording_is_private_never_replaced_and_told_when_it_is_damaged() {
    use std::os::unix::fs::PermissionsExt;
    let faucet = pipeline();
    record(&faucet);
    let file = faucet.dir().join("pages.fpg");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let again = faucet.run_with(&["record", "config.yaml", "pages.fpg"]).expect_code(3).stderr;
    assert!(again.contains("recording.file") && again.contains("another"), "{again}");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    let damaged =
        faucet.run_with(&["replay", "pages.fpg", "--plugin", "mask.wasm", "--step", "hide"]).expect_code(3).stderr;
    assert!(damaged.contains("recording.damaged"), "{damaged}");
}

#[test]
fn a_trace_reads_a_recording_too() {
    let faucet = pipeline();
    record(&faucet);
    fs::remove_file(faucet.dir().join("in.jsonl")).unwrap();
    let arguments = ["trace", "config.yaml", "--pages", "pages.fpg", "--key", "id=9007199254740993"];
    let shown = faucet.run_with(&arguments).expect_code(0).stdout;
    let line = "  sink jsonl\n    {\"id\":9007199254740993,\"email\":\"***\"}\n";
    assert!(shown.ends_with(line), "{shown}");
    let dropped =
        faucet.run_with(&["trace", "config.yaml", "--pages", "pages.fpg", "--key", "email=bob"]).expect_code(0);
    assert!(
        dropped.stdout.contains("1 filter") && dropped.stdout.contains("    no row comes out\n"),
        "{}",
        dropped.stdout
    );
    assert!(dropped.stdout.ends_with("  sink jsonl\n    nothing reaches it\n"), "{}", dropped.stdout);
}

#[test]
fn the_statements_for_sqlite_have_their_values_and_make_no_database() {
    let faucet = pipeline();
    let sink = "sink: { type: sqlite, config: { path: out.db, table_name: t, write_mode: upsert, key: [id] } }";
    let config = CONFIG.replace("sink: { type: jsonl, config: { path: out.jsonl } }", sink);
    faucet.set_config(&config);
    let trace =
        || faucet.run_with(&["trace", "config.yaml", "--key", "id=1", "--output", "json"]).expect_code(0).stdout;
    let statements = |text: &str| serde_json::from_str::<Value>(text).unwrap()["writes"][0]["statements"].clone();
    let insert = "INSERT OR ABORT INTO \"t\" (\"id\", \"email\") VALUES (1, '***') ON CONFLICT (\"id\") DO UPDATE SET \
                  \"email\" = excluded.\"email\"";
    let first = statements(&trace());
    assert!(first[0].as_str().unwrap().starts_with("CREATE TABLE \"t\""), "{first}");
    assert_eq!(first[1], insert);
    assert!(!faucet.dir().join("out.db").exists());
    faucet.run("run").expect_code(0);
    assert_eq!(statements(&trace()), json!([insert]));
}
