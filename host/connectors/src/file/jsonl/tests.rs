use super::*;
use crate::file::testing::{every_declaration, every_kind, page, pages, shown, sink, write_all};
use faucet_core::model::{Kind, ValueRef};
use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

fn scratch(text: Option<&str>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    if let Some(text) = text {
        fs::write(&path, text).unwrap();
    }
    (folder, path)
}

fn one() -> Page {
    page(&[("id", Kind::I64), ("a", Kind::Text)], &[&[ValueRef::I64(1), ValueRef::Absent]])
}

fn kinds(page: &Page) -> String {
    page.schema().fields.iter().map(|f| format!("{} {}", f.name, f.kind)).collect::<Vec<_>>().join(", ")
}

async fn read(text: &str, columns: serde_json::Value, batch_size: usize) -> Result<Vec<Page>> {
    let (_folder, path) = scratch(Some(text));
    pages::<JsonlSource>(json!({ "path": path, "columns": columns, "batch_size": batch_size })).await
}

#[tokio::test]
async fn every_kind_comes_back() {
    let (_folder, path) = scratch(None);
    write_all::<JsonlSink>(json!({ "path": path }), vec![every_kind()]).await.unwrap();
    let read = pages::<JsonlSource>(json!({ "path": path, "columns": every_declaration() })).await.unwrap();
    assert_eq!(kinds(&read[0]), kinds(&every_kind()), "members keep their order");
    assert_eq!(shown(&read[0])[..1], shown(&every_kind())[..1]);
    assert!(read[0].row(1).values().all(|v| v == ValueRef::Null));
}

#[tokio::test]
async fn kinds_are_found_from_values() {
    let cases = [
        (r#"{"a":1}{"a":-9223372036854775808}"#, "a int64"),
        (r#"{"a":1}{"a":1.5}"#, "a float64"),
        (r#"{"a":9007199254740993}{"a":1.5}"#, "a decimal"),
        (r#"{"a":9223372036854775808}"#, "a decimal"),
        (r#"{"a":0.1234567890123456789}{"a":1.5}"#, "a decimal"),
        (r#"{"a":"x"}{"a":null}"#, "a text"),
        (r#"{"a":true}"#, "a boolean"),
        (r#"{"a":true}{"a":1}"#, "a json"),
        (r#"{"a":{"b":1}}{"a":"x"}"#, "a json"),
        (r#"{"a":null}"#, "a text"),
        (r#"{"b":1,"a":2}{"c":3}"#, "b int64, a int64, c int64"),
    ];
    for (objects, expected) in cases {
        let read = read(&objects.replace("}{", "}\n{"), json!({}), 10).await.unwrap();
        assert_eq!((read.len(), kinds(&read[0]).as_str()), (1, expected), "{objects}");
    }
}

#[tokio::test]
async fn values_stay_exact_and_missing_is_not_null() {
    let text = "{\"a\":9007199254740993,\"j\":{\"x\": 1.50},\"t\":\"é\\n\\u00e9\"}\n\n{\"j\":null}\r\n{\"j\":\"s\"}";
    let read = read(text, json!({}), 10).await.unwrap();
    assert_eq!(
        shown(&read[0]),
        [
            r#"[I64(9007199254740993), Json("{\"x\": 1.50}"), Text("é\né")]"#,
            "[Absent, Null, Absent]",
            r#"[Absent, Json("\"s\""), Absent]"#,
        ]
    );
}

#[tokio::test]
async fn a_later_page_widens_the_schema() {
    let text = "{\"a\":1}\n{\"a\":2}\n{\"a\":2.5,\"b\":true}\n{\"a\":\"x\"}\n";
    let read = read(text, json!({}), 1).await.unwrap();
    assert_eq!(
        read.iter().map(kinds).collect::<Vec<_>>(),
        ["a int64", "a int64", "a float64, b boolean", "a json, b boolean"]
    );
    assert_eq!(shown(&read[3]), [r#"[Json("\"x\""), Absent]"#]);
    assert!(std::sync::Arc::ptr_eq(read[0].schema(), read[1].schema()));
}

#[tokio::test]
async fn what_is_declared_holds() {
    let columns = json!({ "at": "timestamptz", "price": "decimal", "n": "float64" });
    let text = "{\"at\":\"2024-01-01T00:00:00Z\",\"price\":\"1.50\",\"n\":0.1234567890123456789}\n{\"price\":2.50}\n";
    let page = read(text, columns.clone(), 10).await.unwrap().remove(0);
    assert_eq!(page.row(0).by_name("price"), Some(ValueRef::Decimal("1.50")));
    assert_eq!(page.row(1).by_name("price"), Some(ValueRef::Decimal("2.50")));
    assert_eq!(page.row(0).by_name("at"), Some(ValueRef::TimestampTz(1_704_067_200_000_000)));
    assert_eq!(page.row(1).by_name("at"), Some(ValueRef::Absent));
    assert_eq!(kinds(&page), "at timestamptz, price decimal, n float64");
    let page = read("{\"x\":1}\n", columns.clone(), 10).await.unwrap().remove(0);
    let empty = read("{}\n", columns.clone(), 10).await.unwrap().remove(0);
    assert_eq!((kinds(&empty).as_str(), empty.rows()), ("at timestamptz, n float64, price decimal", 1));
    assert_eq!(kinds(&page), "x int64, at timestamptz, n float64, price decimal", "what is declared is always there");
    let error = read("{}\n{\"at\":\"secret\"}\n", columns.clone(), 10).await.unwrap_err();
    assert_eq!(error.code().id, "jsonl.bad_value");
    assert!(error.to_string().ends_with("line 2: \"at\" is declared timestamptz, but is a string"), "{error}");
    let error = read("{\"price\":[1]}\n", columns, 10).await.unwrap_err();
    assert!(error.to_string().ends_with("\"price\" is declared decimal, but is an array"), "{error}");
}

proptest! {
    /// Values of all sorts under few names: pages come out, or an error that names a line.
    #[test]
    fn any_lines_are_read_or_refused(
        lines in prop::collection::vec("\\{\"[ab]\":(null|true|1|-0|9007199254740993|1e400|0\\.1|\"x\"|\"\\\\ud800\"|\\[1\\]|\\{\\})\\}", 1..12),
        batch_size in 1_usize..5,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        match runtime.block_on(read(&lines.join("\n"), json!({}), batch_size)) {
            Ok(pages) => prop_assert_eq!(pages.iter().map(Page::rows).sum::<usize>(), lines.len()),
            Err(error) => prop_assert_eq!(error.code().id, "jsonl.bad_line"),
        }
    }
}

#[tokio::test]
async fn what_is_wrong_is_said_with_its_line() {
    let cases = [
        ("{\"a\":1}\n{\"a\":secret}\n", "line 2: it is not JSON from column 6 on"),
        ("[{\"a\":1}]\n", "line 1: it is not a JSON object"),
        ("{\"a\":1,\"a\":2}\n", "line 1: the object has a member twice"),
        ("{\"a\":1} {\"a\":2}\n", "line 1: something follows the object, at column 9"),
        ("{\"a\":\"\\ud800\"}\n", "line 1: an escape in a string is half of a surrogate pair, no character"),
        ("{\"a\":1}\n\n{\"a\":", "line 3: it is not JSON from column 6 on"),
    ];
    for (text, expected) in cases {
        let error = read(text, json!({}), 10).await.unwrap_err();
        assert_eq!(error.code().id, "jsonl.bad_line");
        assert!(error.to_string().ends_with(expected), "{error}");
    }
    let (_folder, path) = scratch(None);
    assert_eq!(pages::<JsonlSource>(json!({ "path": path })).await.unwrap_err().code().id, "file.not_found");
}

#[tokio::test]
async fn absent_members_are_left_out() {
    let (_folder, path) = scratch(None);
    write_all::<JsonlSink>(json!({ "path": path }), vec![one(), one()]).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"id\":1}\n{\"id\":1}\n");
}

#[tokio::test]
async fn what_was_not_committed_is_gone() {
    let (_folder, path) = scratch(None);
    let mut first = sink::<JsonlSink>(json!({ "path": path })).await.unwrap();
    first.write(one()).await.unwrap();
    first.commit(None).await.unwrap();
    first.write(one()).await.unwrap();
    drop(first);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"id\":1}\n");
    let mut second = sink::<JsonlSink>(json!({ "path": path })).await.unwrap();
    second.write(one()).await.unwrap();
    second.close().await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"id\":1}\n");
    assert_eq!(second.commit(Some(("scope", "token"))).await.unwrap_err().code().id, "sink.no_tokens");
}

#[tokio::test]
async fn a_torn_line_is_moved_aside_and_a_whole_one_is_ended() {
    let last = "{\"id\":2,\"a\":\"}\"}";
    for end in 1..=last.len() {
        let (folder, path) = scratch(Some(&format!("{{\"id\":0}}\n{}", &last[..end])));
        write_all::<JsonlSink>(json!({ "path": path }), vec![one()]).await.unwrap();
        let aside = fs::read_to_string(folder.path().join("t.jsonl.torn")).ok();
        let kept = if end == last.len() { format!("{last}\n") } else { String::new() };
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{{\"id\":0}}\n{kept}{{\"id\":1}}\n"));
        assert_eq!(aside, (end < last.len()).then(|| format!("{}\n", &last[..end])));
    }
    let long = "x".repeat(200_000);
    let (_folder, path) = scratch(Some(&format!("{{\"id\":0}}\n{{\"a\":\"{long}")));
    write_all::<JsonlSink>(json!({ "path": path }), vec![one()]).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"id\":0}\n{\"id\":1}\n");
}

#[cfg(unix)]
#[tokio::test]
async fn overwriting_keeps_permissions_and_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, path) = scratch(Some("{\"old\":1}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path().join("link.jsonl");
    symlink(&path, &link).unwrap();
    write_all::<JsonlSink>(json!({ "path": link, "write_mode": "overwrite" }), vec![one()]).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"id\":1}\n");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(link.is_symlink());
    write_all::<JsonlSink>(json!({ "path": path, "write_mode": "overwrite" }), vec![]).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "", "no rows replace all rows");
}

#[tokio::test]
async fn a_full_disk_keeps_whole_lines() {
    let error = write_all::<JsonlSink>(json!({ "path": "/dev/full" }), vec![one()]).await.unwrap_err();
    assert_eq!(error.code().id, "file.no_space");
    for write_mode in ["append", "overwrite"] {
        write_all::<JsonlSink>(json!({ "path": "/dev/null", "write_mode": write_mode }), vec![one()]).await.unwrap();
    }
}
