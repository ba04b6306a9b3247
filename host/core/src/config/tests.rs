use proptest::prelude::*;
use serde_json::json;

use super::fixture::{Outside, catalog};
use super::*;

const GOOD: &str = "\
version: 1
name: orders_mirror
pipeline:
  source:
    type: stream-cdc
    config: { connection_url: \"${env:URL}\", idle_timeout: 30 }
  transforms:
    - { type: cdc_unwrap, config: {} }
  sink:
    type: table
    config:
      connection_url: ${env:URL}
      table_name: orders
      write_mode: upsert
      key: [id]
      delete_marker: { field: __op, values: [d] }
  state: { type: file, config: { path: ./state } }
mirror:
  mode: snapshot_then_cdc
  continuous: true
  snapshot:
    source:
      type: query
      config:
        connection_url: ${env:URL}
        query: SELECT * FROM orders WHERE id > ${bookmark}
        fetch_size: ${env:PORT}
execution:
  retry: { max_attempts: 3, initial_backoff: 100ms, max_backoff: 10 }
  buffer_size: 8MiB
  shutdown_timeout: 1m
observability: { log_level: debug, log_format: json, progress_interval: 2s }
";

fn loaded(text: &str) -> Result<Loaded, Report> {
    load(&ConfigText::yaml("pipeline.yaml", text), Purpose::Validate, &catalog(), &Outside)
}

fn refused(text: &str) -> String {
    match loaded(text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(report) => {
            assert!(report.is_fatal());
            report.to_string()
        }
    }
}

#[test]
fn a_whole_configuration_becomes_a_plan() {
    let Loaded { plan, warnings } = loaded(GOOD).unwrap();
    assert_eq!(warnings.problems, []);
    assert_eq!(plan.name, "orders_mirror");
    assert_eq!(plan.source.config["connection_url"], "postgres://app:hunter22@db/shop");
    assert_eq!(plan.transforms.len(), 1);
    assert_eq!(plan.sink.config["key"], json!(["id"]));
    let mirror = plan.mirror.unwrap();
    assert!(mirror.continuous);
    assert_eq!(mirror.snapshot.config["fetch_size"], 5432);
    assert_eq!(mirror.snapshot.config["query"], "SELECT * FROM orders WHERE id > ${bookmark}");
    assert_eq!(plan.execution.retry.max_attempts, 3);
    assert_eq!(plan.execution.retry.max_backoff, Span::from_secs(10));
    assert_eq!(plan.execution.buffer_size, ByteSize::from_mib(8));
    assert_eq!(plan.execution.shutdown_timeout, Span::from_secs(60));
    assert_eq!(plan.observability.progress_interval, Span::from_secs(2));
    assert_eq!(plan.redactor.redact("no hunter22 here"), "no *** here");
}

#[test]
fn what_is_left_out_has_a_default() {
    let text = "name: p\npipeline:\n  source: { type: query, config: { connection_url: a://b, query: q } }\n  \
                sink: { type: lines, config: { path: out } }\n";
    let plan = loaded(text).unwrap().plan;
    assert!(plan.store.is_none() && plan.mirror.is_none() && plan.transforms.is_empty());
    assert_eq!(plan.execution.shutdown_timeout, Span::from_secs(30));
    assert_eq!(plan.execution.buffer_size, ByteSize::from_mib(16));
    assert_eq!(plan.execution.retry.max_attempts, 5);
}

/// One deliberate mistake after another in the good configuration.
#[test]
fn first_mistakes_are_explained() {
    let mistakes: [(&str, &str, &str); 22] = [
        ("unknown key", "name: orders_mirror", "name: orders_mirror\nschedul: 5m"),
        ("unknown key in a connector", "table_name: orders", "tabel_name: orders"),
        ("typo in a value", "write_mode: upsert", "write_mode: upser"),
        ("wrong type", "key: [id]", "key: id"),
        ("missing variable", "${env:URL}\n      table_name", "${env:DEST_URL}\n      table_name"),
        ("missing name", "name: orders_mirror\n", ""),
        ("bad name", "name: orders_mirror", "name: orders mirror"),
        ("bad duration", "idle_timeout: 30", "idle_timeout: 5 minutes"),
        ("bad size", "8MiB", "8megs"),
        ("duplicate key", "  continuous: true\n", "  continuous: true\n  continuous: false\n"),
        ("two documents", "execution:\n", "---\nexecution:\n"),
        ("version", "version: 1", "version: 2"),
        ("mode", "mode: snapshot_then_cdc", "mode: cdc_only"),
        ("many tables", "  continuous: true\n", "  tables: { include: [\"shop.*\"] }\n"),
        ("unknown source", "type: stream-cdc", "type: stream_cdcc"),
        ("a sink as a source", "type: stream-cdc", "type: lines"),
        ("unknown transform", "type: cdc_unwrap,", "type: my_own,"),
        ("no snapshot source", "  snapshot:\n    source:\n", "  snapshot:\n    sources:\n"),
        ("empty block", "  state: { type: file, config: { path: ./state } }", "  state:\n    type: file\n    config:"),
        ("not a number", "fetch_size: ${env:PORT}", "fetch_size: ${env:WORD}"),
        ("unquoted braces", "\"${env:URL}\"", "${env:URL}"),
        (
            "secret in a message",
            "connection_url: ${env:URL}\n        query",
            "connection_url: ${env:WORD}\n        query",
        ),
    ];
    let explain = |(what, good, bad): (&str, &str, &str)| {
        assert!(GOOD.contains(good), "{what}");
        format!("# {what}\n{}", refused(&GOOD.replacen(good, bad, 1)))
    };
    insta::assert_snapshot!(mistakes.map(explain).join("\n\n"));
}

#[test]
fn an_empty_file_is_explained() {
    assert_eq!(
        refused("# nothing\n"),
        "pipeline.yaml:1:1: error: the configuration is empty\n    `faucet init` writes one to start from"
    );
}

#[test]
fn all_mistakes_come_at_once_in_the_order_of_the_file() {
    let text = GOOD
        .replace("version: 1", "verson: 1")
        .replace("idle_timeout: 30", "idle_timeout: soon")
        .replace("write_mode: upsert", "write_mode: upser")
        .replace("${env:URL}\n        query", "${env:NONE}\n        query")
        .replace("buffer_size: 8MiB", "buffer_size: lots");
    let report = loaded(&text).err().unwrap();
    let places: Vec<_> = report.problems.iter().map(|p| (p.position.unwrap().line, p.problem.path.as_str())).collect();
    assert_eq!(
        places,
        [
            (1, "verson"),
            (6, "pipeline.source.config.idle_timeout"),
            (14, "pipeline.sink.config.write_mode"),
            (25, "mirror.snapshot.source.config.connection_url"),
            (30, "execution.buffer_size"),
        ]
    );
    assert_eq!(report.into_error().to_string(), "5 problems in pipeline.yaml");
}

#[test]
fn no_secret_is_ever_shown() {
    let text = GOOD.replace("write_mode: upsert", "write_mode: ${env:URL}").replace("key: [id]", "key: ${env:WORD}");
    let text = text.replace("table_name: orders", "table_name: 5\n      odd: postgres://u:literal-pw@h");
    let shown = refused(&text);
    let long = format!("postgres://user:literal-pw-{}@host", "x".repeat(100));
    let shown = shown + &refused(&GOOD.replace("write_mode: upsert", &format!("write_mode: {long}")));
    for secret in ["hunter22", "not-a-url", "literal-pw"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    let report = loaded(&text).err().unwrap();
    let json = serde_json::to_string(&report).unwrap();
    assert!(!json.contains("hunter22") && json.contains("\"line\":"), "{json}");
}

#[test]
fn json_is_read_like_yaml() {
    let (tree, _) = parse(&ConfigText::yaml("p", GOOD));
    let text = ConfigText {
        format: Format::Json,
        ..ConfigText::yaml("p.json", &serde_json::to_string_pretty(&tree).unwrap())
    };
    assert!(load(&text, Purpose::Mirror, &catalog(), &Outside).is_ok());
    let text = ConfigText { text: text.text.replace("\"upsert\"", "\"upser\""), ..text };
    let report = load(&text, Purpose::Mirror, &catalog(), &Outside).err().unwrap();
    assert!(report.to_string().contains("did you mean \"upsert\"?"));
    assert!(report.problems[0].position.unwrap().line > 1);
}

#[test]
fn the_whole_schema_knows_every_connector() {
    let schema = schema::document(&catalog());
    let (tree, _) = parse(&ConfigText::yaml("p", GOOD));
    let mut tree = tree.unwrap();
    tree["mirror"]["snapshot"]["source"]["config"]["fetch_size"] = json!(100);
    assert_eq!(check::check(&tree, &schema), []);
    tree["pipeline"]["sink"]["config"]["tabel_name"] = json!("x");
    tree["pipeline"]["source"]["config"]["slot_type"] = json!("permanant");
    tree["pipeline"]["transforms"] =
        json!([{"type": "mask", "config": {"columns": [""]}}, {"type": "own", "config": {"x": 1}}]);
    tree["plugins"] = json!({"own": {"path": "own.wasm", "limits": {"memory_mb": 0}}});
    let paths: Vec<_> = check::check(&tree, &schema).into_iter().map(|p| p.path).collect();
    assert_eq!(
        paths,
        [
            "pipeline.source.config.slot_type",
            "pipeline.transforms[0].config.columns[0]",
            "pipeline.sink.config.tabel_name",
            "plugins.own.limits.memory_mb",
        ]
    );
    assert!(!schema.to_string().contains("ConnectorSpec"));
}

/// Pieces that change the meaning of a configuration when they are put into it.
const PIECES: [&str; 22] = [
    "null",
    "[]",
    "{}",
    "-1",
    "99999999999999999999",
    "1.5",
    "true",
    "~",
    "\"\"",
    "${env:URL}",
    "${env:NONE}",
    "${",
    "\t",
    "\n",
    "- ",
    ": ",
    "&a ",
    "*a",
    "!!int ",
    "? ",
    "---\n",
    "é\u{0}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Whatever a file holds, loading it ends in a plan or in a report whose every line has a place, and the schema
    /// check finds all that the typed reading would trip over.
    #[test]
    fn any_damage_gives_a_plan_or_a_report(
        from in 0..GOOD.len(), length in 0usize..20, piece in prop::sample::select(PIECES.to_vec()), as_json: bool,
    ) {
        let to = (from + length).min(GOOD.len());
        let mut text = ConfigText::yaml("p.yaml", &format!("{}{piece}{}", &GOOD[..from], &GOOD[to..]));
        if as_json && let (Some(tree), _) = parse(&text) {
            text = ConfigText { format: Format::Json, text: tree.to_string(), ..text };
        }
        if let Err(report) = load(&text, Purpose::Validate, &catalog(), &Outside) {
            prop_assert!(report.is_fatal());
            for Located { problem, position } in &report.problems {
                prop_assert!(position.is_some(), "{problem:?}");
                prop_assert!(!problem.message.contains("can't be read:"), "{problem:?}\n{}", text.text);
            }
        }
    }

    #[test]
    fn any_text_gives_a_report(text in "[\\PC\n\t]{0,200}") {
        let _ = loaded(&text);
        let _ = load(&ConfigText { format: Format::Json, ..ConfigText::yaml("p", &text) }, Purpose::Run, &catalog(), &Outside);
    }
}
