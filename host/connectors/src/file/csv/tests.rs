use super::*;
use crate::file::testing::{drifting, every_declaration, every_kind, page, pages, shown, sink, write_all};
use faucet_core::model::{Kind, ValueRef};
use faucet_core::ports::OnDrift;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

fn scratch(text: Option<&str>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    if let Some(text) = text {
        fs::write(&path, text).unwrap();
    }
    (folder, path)
}

fn two() -> Page {
    page(
        &[("id", Kind::I64), ("a", Kind::Text)],
        &[&[ValueRef::I64(1), ValueRef::Text("")], &[ValueRef::I64(2), ValueRef::Null]],
    )
}

#[tokio::test]
async fn every_kind_comes_back() {
    for (delimiter, quote, null_value) in [(",", "\"", ""), ("\t", "'", "NULL"), ("1", "\"", "t"), (";", "\"", "-")] {
        let (_folder, path) = scratch(None);
        let dialect = json!({ "path": path, "delimiter": delimiter, "quote": quote, "null_value": null_value });
        write_all::<CsvSink>(dialect.clone(), vec![every_kind()]).await.unwrap();
        let mut source = dialect;
        source["columns"] = every_declaration();
        let read = pages::<CsvSource>(source).await.unwrap();
        assert_eq!(read.len(), 1);
        assert_eq!(shown(&read[0]), shown(&every_kind()));
    }
}

#[tokio::test]
async fn null_is_told_from_empty_text() {
    let (_folder, path) = scratch(None);
    write_all::<CsvSink>(json!({ "path": path }), vec![two()]).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "id,a\n1,\"\"\n2,\n");
    let read = pages::<CsvSource>(json!({ "path": path, "columns": { "id": "int64" } })).await.unwrap();
    assert_eq!(shown(&read[0]), shown(&two()));
    let one = page(&[("a", Kind::Text)], &[&[ValueRef::Null], &[ValueRef::Text("")]]);
    write_all::<CsvSink>(json!({ "path": path, "write_mode": "overwrite" }), vec![one.clone()]).await.unwrap();
    assert_eq!(shown(&pages::<CsvSource>(json!({ "path": path })).await.unwrap()[0]), shown(&one));
}

#[tokio::test]
async fn pages_are_cut_and_lines_without_anything_are_skipped() {
    let (_folder, path) = scratch(Some("a,b\n1,2\n\n3,4\r\n5,6"));
    let read = pages::<CsvSource>(json!({ "path": path, "batch_size": 2 })).await.unwrap();
    assert_eq!(read.iter().map(Page::rows).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(&*read[0].schema().table.name, "t");
    let read = pages::<CsvSource>(json!({ "path": path, "has_header": false })).await.unwrap();
    assert_eq!(read[0].rows(), 4);
    assert_eq!(&*read[0].schema().fields[1].name, "column_2");
}

async fn refused(text: &str, more: serde_json::Value) -> (String, &'static str) {
    let (_folder, path) = scratch(Some(text));
    let mut config = json!({ "path": path });
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let error = pages::<CsvSource>(config).await.unwrap_err();
    assert!(!format!("{error:?}").contains("secret"), "a value leaked: {error:?}");
    (error.to_string().replace(path.to_str().unwrap(), "t.csv"), error.code().id)
}

#[tokio::test]
async fn what_is_wrong_is_said_with_its_line_and_without_values() {
    let kinds = json!({ "columns": { "a": "int64" } });
    let cases = [
        ("a,b\n1,2\n3\n", json!({}), "line 3: it has 1 fields where the first line has 2", "csv.bad_record"),
        ("a,b\n1,\"secret", json!({}), "line 2: a quote is never closed", "csv.bad_record"),
        (
            "a\n\"1\n\"\nsecret\n",
            kinds.clone(),
            "line 2: the value of column \"a\" is not a whole number",
            "csv.bad_value",
        ),
        ("a\n1\nsecret\n", kinds.clone(), "line 3: the value of column \"a\" is not a whole number", "csv.bad_value"),
        ("b\n1\n", kinds, "t.csv has no column \"a\", which `columns` declares", "csv.bad_header"),
        ("a,a\n", json!({}), "can't use the header of t.csv: two of its columns are called \"a\"", "csv.bad_header"),
        ("a,\n", json!({}), "its first line leaves a column without a name", "csv.bad_header"),
        ("", json!({}), "the file is empty", "csv.bad_header"),
    ];
    for (text, config, message, code) in cases {
        let (found, id) = refused(text, config).await;
        assert!(found.contains(message), "{found}");
        assert_eq!(id, code);
    }
}

#[tokio::test]
async fn rows_before_a_bad_line_are_delivered() {
    let (_folder, path) = scratch(Some("a,b\n1,2\n3,4\n5\n"));
    let config = crate::file::testing::config(json!({ "path": path, "batch_size": 1 }));
    let mut source = CsvSource::open(config, SourceContext::default()).await.unwrap();
    for _ in 0..2 {
        assert_eq!(source.next().await.unwrap().unwrap().rows(), 1);
    }
    assert_eq!(source.next().await.unwrap_err().code().id, "csv.bad_record");
}

#[tokio::test]
async fn missing_files_and_folders_are_said() {
    let (folder, path) = scratch(None);
    let open = |path: PathBuf| async move {
        let error = pages::<CsvSource>(json!({ "path": path })).await.unwrap_err();
        (error.code().id, error.to_string())
    };
    let (id, message) = open(path.clone()).await;
    assert_eq!((id, message.contains("there is no such file")), ("file.not_found", true), "{message}");
    let (id, message) = open(folder.path().join("no/such.csv")).await;
    assert_eq!((id, message.contains("no does not exist")), ("file.not_found", true), "{message}");
    assert_eq!(open(folder.path().to_owned()).await.0, "file.is_a_folder");
    for mode in ["append", "overwrite"] {
        let open = |path: PathBuf| sink::<CsvSink>(json!({ "path": path, "write_mode": mode }));
        assert_eq!(open(folder.path().to_owned()).await.err().unwrap().code().id, "file.is_a_folder");
        assert_eq!(open(folder.path().join("no/such.csv")).await.err().unwrap().code().id, "file.not_found");
    }
}

#[tokio::test]
async fn a_file_keeps_its_columns() {
    let (_folder, path) = scratch(Some("a,id,more\nx,0,\n"));
    write_all::<CsvSink>(json!({ "path": path }), vec![two()]).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a,id,more\nx,0,\n\"\",1,\n,2,\n");
    let further = page(&[("id", Kind::I64), ("b", Kind::I64)], &[&[ValueRef::I64(1), ValueRef::I64(2)]]);
    let error = write_all::<CsvSink>(json!({ "path": path }), vec![further]).await.unwrap_err();
    assert_eq!(error.code().id, "csv.other_columns");
    assert!(error.hint_text().unwrap().contains("a, id, more"));
}

#[tokio::test]
async fn columns_without_a_place_are_left_out_where_that_is_wanted() {
    for on_drift in [OnDrift::Warn, OnDrift::Ignore] {
        let (_folder, path) = scratch(Some("id\n0\n"));
        let mut csv = drifting::<CsvSink>(json!({ "path": path }), on_drift).await.unwrap();
        let further = page(&[("b", Kind::I64), ("id", Kind::I64)], &[&[ValueRef::I64(2), ValueRef::I64(1)]]);
        csv.write(further).await.unwrap();
        csv.commit(None).await.unwrap();
        csv.close().await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "id\n0\n1\n");
    }
}

#[tokio::test]
async fn what_was_not_committed_is_gone() {
    let (_folder, path) = scratch(None);
    let mut first = sink::<CsvSink>(json!({ "path": path })).await.unwrap();
    first.write(two()).await.unwrap();
    first.commit(None).await.unwrap();
    first.write(two()).await.unwrap();
    assert_eq!(sink::<CsvSink>(json!({ "path": path })).await.err().unwrap().code().id, "file.in_use");
    drop(first);
    assert_eq!(fs::read_to_string(&path).unwrap(), "id,a\n1,\"\"\n2,\n");
}

/// F2: whatever a crash leaves of a row, the rows before it stay and the next ones start on a line of their own.
#[tokio::test]
async fn a_torn_row_is_moved_aside() {
    let whole = "id,a\n1,\"x\ny\"\n";
    let row = "2,\"a\"\"b\nc\"";
    for end in 1..=row.len() {
        let (folder, path) = scratch(Some(&format!("{whole}{}", &row[..end])));
        write_all::<CsvSink>(json!({ "path": path }), vec![two()]).await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{whole}1,\"\"\n2,\n"));
        let aside = fs::read_to_string(folder.path().join("t.csv.torn")).unwrap();
        assert_eq!(aside, format!("{}\n", &row[..end]));
    }
}

#[tokio::test]
async fn overwriting_shows_nothing_until_the_end() {
    let (folder, path) = scratch(Some("old\n1\n"));
    let config = json!({ "path": path, "write_mode": "overwrite" });
    let mut given_up = sink::<CsvSink>(config.clone()).await.unwrap();
    given_up.write(two()).await.unwrap();
    given_up.commit(None).await.unwrap();
    drop(given_up);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old\n1\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the hidden file is gone");
    let mut done = sink::<CsvSink>(config).await.unwrap();
    done.write(two()).await.unwrap();
    done.commit(None).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old\n1\n");
    done.finish().await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "id,a\n1,\"\"\n2,\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_characters_are_checked() {
    let check = |json: serde_json::Value| {
        let config: CsvSourceConfig = crate::file::testing::config(json);
        CsvSource::validate(&config).into_iter().map(|p| p.path).collect::<Vec<_>>()
    };
    assert_eq!(check(json!({ "path": "a", "delimiter": "\t" })), [""; 0]);
    assert_eq!(check(json!({ "path": "a", "delimiter": ",," })), ["delimiter"]);
    assert_eq!(check(json!({ "path": "a", "delimiter": "é", "quote": "" })), ["delimiter", "quote"]);
    assert_eq!(check(json!({ "path": "a", "delimiter": "\"" })), ["quote"]);
    assert_eq!(
        check(json!({ "path": "", "null_value": "a,b", "batch_size": 0 })),
        ["null_value", "path", "batch_size"]
    );
    assert!(serde_json::from_value::<CsvSourceConfig>(json!({ "path": "a", "header": true })).is_err());
}
