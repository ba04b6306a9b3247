use super::*;
use crate::file::testing::{every_kind, pages, shown, write_all};
use crate::sqlite::sink::SqliteSink;
use faucet_core::model::{Kind, Page, ValueRef};
use rusqlite::Connection;
use serde_json::json;
use std::path::PathBuf;

fn scratch(setup: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    Connection::open(&path).unwrap().execute_batch(setup).unwrap();
    (folder, path)
}

fn kinds(page: &Page) -> String {
    page.schema().fields.iter().map(|f| format!("{} {}", f.name, f.kind)).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn every_kind_comes_back() {
    let (_folder, path) = scratch("");
    write_all::<SqliteSink>(json!({ "path": path, "table_name": "t" }), vec![every_kind()]).await.unwrap();
    let read = pages::<SqliteSource>(json!({ "path": path, "table": "t" })).await.unwrap();
    assert_eq!(kinds(&read[0]), kinds(&every_kind()));
    assert_eq!(shown(&read[0]), shown(&every_kind()));
    // And once more into a table that is made with SQLite's own declarations.
    write_all::<SqliteSink>(json!({ "path": path, "table_name": "again" }), read).await.unwrap();
    let again = pages::<SqliteSource>(json!({ "path": path, "table": "again" })).await.unwrap();
    assert_eq!(shown(&again[0]), shown(&every_kind()));
}

#[tokio::test]
async fn declarations_and_values_say_the_kinds() {
    let (_folder, path) = scratch(
        "CREATE TABLE t (i INT, d DECIMAL(10,2), at DATETIME, day DATE, ok BOOL, x, y);
         INSERT INTO t VALUES (1, 1.5, '2024-01-01 10:00:00', '2024-01-01', 1, 1, 'a'), (2, 7, '2024-01-01', NULL, 0, 2.5, NULL)",
    );
    let read = pages::<SqliteSource>(json!({ "path": path, "table": "t" })).await.unwrap();
    assert_eq!(kinds(&read[0]), "i int64, d decimal, at timestamp, day date, ok boolean, x float64, y text");
    assert_eq!(read[0].row(0).by_name("d"), Some(ValueRef::Decimal("1.5")));
    assert_eq!(read[0].row(1).by_name("d"), Some(ValueRef::Decimal("7")));
    assert_eq!(read[0].row(1).by_name("at"), Some(ValueRef::Timestamp(1_704_067_200_000_000)));
    assert_eq!(read[0].row(0).by_name("x"), Some(ValueRef::F64(1.0)));
    assert_eq!(read[0].schema().fields[1].native_of("sqlite"), Some("DECIMAL(10,2)"));
    let query = "SELECT count(*) AS n, max(d) AS most, at || '' AS text FROM t GROUP BY at ORDER BY at";
    let read = pages::<SqliteSource>(json!({ "path": path, "query": query })).await.unwrap();
    assert_eq!(kinds(&read[0]), "n int64, most float64, text text");
    let read =
        pages::<SqliteSource>(json!({ "path": path, "table": "t", "batch_size": 1, "columns": { "x": "float64" } }));
    assert_eq!(read.await.unwrap().iter().map(Page::rows).collect::<Vec<_>>(), [1, 1]);
}

#[tokio::test]
async fn a_value_of_another_kind_is_refused_unless_declared() {
    let (_folder, path) =
        scratch("CREATE TABLE t (at DATETIME, n INT); INSERT INTO t VALUES ('2024-01-01', 1), (1704067200, 'secret')");
    let error = pages::<SqliteSource>(json!({ "path": path, "table": "t" })).await.unwrap_err();
    assert_eq!(error.code().id, "sqlite.bad_value");
    assert!(error.to_string().contains("row 2"), "{error}");
    assert!(
        error.to_string().contains("an integer in column \"at\", which is no timestamp (declared DATETIME)"),
        "{error}"
    );
    let query = "SELECT n FROM t";
    let error = pages::<SqliteSource>(json!({ "path": path, "query": query })).await.unwrap_err();
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    let query = "SELECT CAST(at AS TEXT) AS at FROM t";
    let read = pages::<SqliteSource>(json!({ "path": path, "query": query })).await.unwrap();
    assert_eq!(shown(&read[0]), ["[Text(\"2024-01-01\")]", "[Text(\"1704067200\")]"]);
    let read = pages::<SqliteSource>(
        json!({ "path": path, "query": "SELECT at FROM t LIMIT 1", "columns": { "at": "date" } }),
    )
    .await;
    assert_eq!(kinds(&read.unwrap()[0]), "at date");
}

#[tokio::test]
async fn later_values_of_expressions_must_fit_the_first_pages_kind() {
    let (_folder, path) = scratch("CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), ('a')");
    let read =
        |batch_size: usize| pages::<SqliteSource>(json!({ "path": path, "table": "t", "batch_size": batch_size }));
    let (first, whole) = (read(2).await.unwrap_err(), read(3).await.unwrap_err());
    assert!(first.to_string().contains("row 3"), "{first}");
    assert!(whole.to_string().contains("values of several sorts"), "{whole}");
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let (folder, path) = scratch("CREATE TABLE t (a, b)");
    let open = |config: serde_json::Value| async move { pages::<SqliteSource>(config).await.unwrap_err() };
    let error = open(json!({ "path": folder.path().join("none.db"), "table": "t" })).await;
    assert_eq!(error.code().id, "file.not_found");
    assert!(!folder.path().join("none.db").exists(), "a source makes no file");
    let error = open(json!({ "path": path, "table": "none" })).await;
    assert_eq!((error.code().id, error.to_string().contains("no such table: none")), ("sqlite.refused", true));
    let error = open(json!({ "path": path, "query": "SELECT 1 AS a, 2 AS a" })).await;
    assert_eq!(error.code().id, "sqlite.bad_columns");
    let error = open(json!({ "path": path, "query": "DELETE FROM t" })).await;
    assert_eq!(error.code().id, "sqlite.bad_columns");
    let error = open(json!({ "path": path, "table": "t", "columns": { "c": "text" } })).await;
    assert_eq!(error.hint_text(), Some("its columns are: a, b"));
    let error = open(json!({ "path": folder.path(), "table": "t" })).await;
    assert_eq!(error.code().id, "file.is_a_folder");
}

/// Closing does not wait for a query that would go on for ever.
#[tokio::test]
async fn a_reader_can_leave_in_the_middle() {
    let (_folder, path) = scratch("");
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    for query in [endless.to_owned(), format!("{endless} WHERE i < 0")] {
        let config = crate::file::testing::config(json!({ "path": path, "query": query, "columns": { "i": "int64" } }));
        let mut source = SqliteSource::open(config, SourceContext::default()).await.unwrap();
        if !query.ends_with("0") {
            assert_eq!(source.next().await.unwrap().unwrap().rows(), 1000);
        } else {
            // The thread is inside the query once it has run for a moment.
            let waited = tokio::time::timeout(std::time::Duration::from_millis(50), source.next()).await;
            assert!(waited.is_err(), "no row ever comes");
        }
        source.close().await.unwrap();
    }
}

#[test]
fn the_configuration_is_checked() {
    let check = |json: serde_json::Value| {
        let config: SqliteSourceConfig = crate::file::testing::config(json);
        SqliteSource::validate(&config).into_iter().map(|p| p.path).collect::<Vec<_>>()
    };
    assert_eq!(check(json!({ "path": "a", "table": "t" })), [""; 0]);
    assert_eq!(check(json!({ "path": "a" })), [""]);
    assert_eq!(check(json!({ "path": "a", "table": "t", "query": "SELECT 1" })), ["table"]);
    assert_eq!(check(json!({ "path": "a", "query": " ", "batch_size": 0 })), ["batch_size", "query"]);
    assert_eq!(Kind::from(crate::pages::DeclaredKind::TimestampTz), Kind::TimestampTz);
}
