//! Rows through several connectors, one after the other: what comes out is what went in.

use faucet_connectors::registry;
use faucet_core::ports::{SinkContext, SourceContext};
use faucet_tests::Scratch;
use serde_json::{Value, json};

/// Reads all of a source into a sink.
async fn copy((source, from): (&str, Value), (sink, to): (&str, Value)) {
    let sources = registry::sources();
    let source = sources.iter().find(|s| s.name() == source).expect("there is such a source");
    let sinks = registry::sinks();
    let sink = sinks.iter().find(|s| s.name() == sink).expect("there is such a sink");
    assert_eq!((source.validate(&from), sink.validate(&to)), (vec![], vec![]));
    let mut reader = source.open(&from, SourceContext::default()).await.expect("the source opens");
    let mut writer = sink.open(&to, SinkContext::default()).await.expect("the sink opens");
    while let Some(batch) = reader.next().await.expect("the source can be read") {
        for page in batch.pages {
            writer.write(page).await.expect("the page is written");
        }
        writer.commit(None).await.expect("it is committed");
    }
    writer.finish().await.expect("it is finished");
    writer.close().await.expect("it is closed");
    reader.close().await.expect("the source closes");
}

const LINES: &str = r#"{"id":9007199254740993,"price":1.50,"ratio":0.1,"ok":true,"note":"a \"b\", \n é","at":"2024-01-01T00:00:00.5Z","day":"0044-03-15 BC","doc":{"a":[1.50,null]},"raw":"\\x00ff"}
{"id":-1,"price":"NaN","ratio":"-Infinity","ok":false,"note":"","at":"infinity","day":"infinity","doc":"null","raw":"\\x"}
{"id":0,"price":null,"ratio":null,"ok":null,"note":null,"at":null,"day":null,"doc":null,"raw":null}
"#;

fn columns() -> Value {
    json!({
        "id": "int64", "price": "decimal", "ratio": "float64", "ok": "boolean", "note": "text", "at": "timestamptz",
        "day": "date", "doc": "json", "raw": "bytes",
    })
}

/// JSON lines through CSV and through SQLite, in both orders, are the same lines: members in their order, digits, scale,
/// nulls and empty texts.
#[tokio::test]
async fn jsonl_through_csv_and_sqlite_is_the_same_jsonl() {
    for order in [["csv", "sqlite"], ["sqlite", "csv"]] {
        let folder = Scratch::new("round-trip");
        let path = |name: &str| folder.path().join(name);
        folder.write("in.jsonl", LINES);
        let mut from = ("jsonl", json!({ "path": path("in.jsonl"), "columns": columns() }));
        for kind in order {
            let (to, back) = match kind {
                "csv" => {
                    let file = json!({ "path": path("t.csv"), "null_value": "NULL" });
                    let mut back = file.clone();
                    back["columns"] = columns();
                    (file, back)
                }
                _ => {
                    (json!({ "path": path("t.db"), "table_name": "t" }), json!({ "path": path("t.db"), "table": "t" }))
                }
            };
            copy(from, (kind, to)).await;
            from = (kind, back);
        }
        copy(from, ("jsonl", json!({ "path": path("out.jsonl") }))).await;
        let found = folder.read("out.jsonl");
        assert_eq!(found, LINES, "{order:?}");
    }
}
