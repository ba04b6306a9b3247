use super::*;
use crate::file::testing::{drifting, every_kind, page, sink, write_all};
use faucet_core::model::{Field, Kind, Move, PageBuilder, Schema, TableId, ValueRef};
use faucet_core::ports::OnDrift;
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn scratch(setup: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    if !setup.is_empty() {
        Connection::open(&path).unwrap().execute_batch(setup).unwrap();
    }
    (folder, path)
}

fn upserting(path: &Path) -> serde_json::Value {
    json!({
        "path": path, "table_name": "t", "write_mode": "upsert", "key": ["id"],
        "delete_marker": { "field": "__op", "values": ["d"] },
    })
}

/// Rows of a query, each as one text.
fn rows(path: &Path, sql: &str) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let count = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let value = |index| match row.get_ref(index).unwrap() {
            rusqlite::types::ValueRef::Null => "null".to_owned(),
            rusqlite::types::ValueRef::Integer(v) => v.to_string(),
            rusqlite::types::ValueRef::Real(v) => format!("{v:?}"),
            rusqlite::types::ValueRef::Text(v) => format!("'{}'", String::from_utf8_lossy(v)),
            rusqlite::types::ValueRef::Blob(v) => format!("{v:02x?}"),
        };
        Ok((0..count).map(value).collect::<Vec<_>>().join(" "))
    };
    statement.query_map([], row).unwrap().map(Result::unwrap).collect()
}

const FIELDS: [(&str, Kind); 4] = [("id", Kind::I64), ("a", Kind::Text), ("b", Kind::I64), ("__op", Kind::Text)];

/// A row: id, a, b (outer `None`: absent), op.
type Row<'a> = (i64, Option<Option<&'a str>>, Option<Option<i64>>, &'a str);

fn changes(changes: &[Row<'_>]) -> Page {
    let slot =
        |value: Option<Option<ValueRef<'static>>>| value.map_or(ValueRef::Absent, |v| v.unwrap_or(ValueRef::Null));
    let fields = FIELDS.iter().map(|(name, kind)| Field::new(*name, *kind)).collect();
    let mut page = PageBuilder::rows(Arc::new(Schema::new(TableId::bare("t"), fields)));
    for (id, a, b, op) in changes {
        let columns = page.columns();
        columns[0].push(if *op == "t" { ValueRef::Absent } else { ValueRef::I64(*id) });
        match a {
            None => columns[1].push_absent(),
            Some(None) => columns[1].push_null(),
            Some(Some(a)) => columns[1].push_str(a),
        }
        columns[2].push(slot(b.map(|b| b.map(ValueRef::I64))));
        columns[3].push_str(op);
        page.end_row();
    }
    page.finish()
}

fn has<T>(value: T) -> Option<Option<T>> {
    Some(Some(value))
}

#[tokio::test]
async fn a_table_is_made_and_rows_are_put_changed_and_deleted() {
    let (_folder, path) = scratch("");
    let page = changes(&[
        (1, has("x"), has(1), "c"),
        (2, has("y"), Some(None), "c"),
        (1, None, has(5), "u"),
        (2, None, None, "d"),
        (3, None, has(9), "u"),
        (4, has("z"), has(4), "r"),
    ]);
    write_all::<SqliteSink>(upserting(&path), vec![page]).await.unwrap();
    assert_eq!(rows(&path, "SELECT * FROM t ORDER BY id"), ["1 'x' 5", "4 'z' 4"], "a change of no row is skipped");
    let made = rows(&path, "SELECT sql FROM sqlite_master WHERE name = 't'");
    assert_eq!(made, [r#"'CREATE TABLE "t" ("id" INTEGER NOT NULL, "a" TEXT, "b" INTEGER, PRIMARY KEY ("id"))'"#]);
    assert_eq!(rows(&path, "PRAGMA journal_mode"), ["'wal'"]);
}

#[tokio::test]
async fn rows_that_lack_columns_without_being_changes_are_rows() {
    let (_folder, path) = scratch("");
    let page = page(&FIELDS[..3], &[&[ValueRef::I64(1), ValueRef::Absent, ValueRef::I64(2)]]);
    write_all::<SqliteSink>(upserting(&path), vec![page]).await.unwrap();
    assert_eq!(rows(&path, "SELECT * FROM t"), ["1 null 2"]);
}

#[tokio::test]
async fn what_was_not_committed_is_gone_and_tokens_go_with_rows() {
    let (_folder, path) = scratch("");
    let one = || changes(&[(1, has("x"), has(1), "c")]);
    let mut first = sink::<SqliteSink>(upserting(&path)).await.unwrap();
    assert_eq!(first.last_token("s").await.unwrap(), None);
    first.write(one()).await.unwrap();
    drop(first);
    let mut second = sink::<SqliteSink>(upserting(&path)).await.unwrap();
    assert!(rows(&path, "SELECT name FROM sqlite_master").is_empty(), "not even the table");
    second.write(one()).await.unwrap();
    second.commit(Some(("s", "7"))).await.unwrap();
    second.write(changes(&[(2, has("y"), has(1), "c")])).await.unwrap();
    second.close().await.unwrap();
    assert_eq!(rows(&path, "SELECT id FROM t"), ["1"]);
    assert_eq!(second.last_token("s").await.unwrap().as_deref(), Some("7"));
    second.commit(Some(("s", "8"))).await.unwrap();
    assert_eq!(second.last_token("s").await.unwrap().as_deref(), Some("8"));
    assert_eq!(second.last_token("other").await.unwrap(), None);
}

#[tokio::test]
async fn a_page_that_fails_leaves_nothing_and_the_sink_is_done() {
    let (_folder, path) = scratch("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL, b)");
    let mut open = sink::<SqliteSink>(upserting(&path)).await.unwrap();
    open.write(changes(&[(1, has("x"), has(1), "c")])).await.unwrap();
    let bad = changes(&[(2, has("y"), has(1), "c"), (3, Some(None), has(1), "c")]);
    assert_eq!(open.write(bad).await.unwrap_err().code().id, "sqlite.constraint");
    assert_eq!(open.commit(None).await.unwrap_err().code().id, "sqlite.used_after_error");
    assert!(rows(&path, "SELECT * FROM t").is_empty());
}

#[tokio::test]
async fn changed_keys_take_their_absent_values_along() {
    let (_folder, path) = scratch("");
    let start = changes(&[(1, has("long"), has(1), "c"), (5, has("five"), has(5), "c")]);
    let moved = changes(&[(1, None, None, "d"), (2, None, has(7), "u"), (9, None, None, "d"), (8, None, has(1), "u")])
        .with_moves(vec![Move { from: 0, to: 1 }, Move { from: 2, to: 3 }]);
    write_all::<SqliteSink>(upserting(&path), vec![start, moved.clone()]).await.unwrap();
    assert_eq!(rows(&path, "SELECT * FROM t ORDER BY id"), ["2 'long' 7", "5 'five' 5"], "9 was not there");
    // A replay: the old key is taken by a new row by now.
    let taken = changes(&[(1, has("new"), has(3), "c")]);
    write_all::<SqliteSink>(upserting(&path), vec![taken, moved]).await.unwrap();
    assert_eq!(rows(&path, "SELECT * FROM t ORDER BY id"), ["2 'long' 7", "5 'five' 5"]);
}

/// `UPDATE t SET id = 3 - id` under a deferred constraint.
#[tokio::test]
async fn two_keys_swapped_at_once_are_both_there() {
    let (_folder, path) = scratch("");
    let start = changes(&[(1, has("one"), has(1), "c"), (2, has("two"), has(2), "c")]);
    let swap = changes(&[
        (1, has("one"), has(1), "d"),
        (2, has("one"), has(1), "u"),
        (2, has("two"), has(2), "d"),
        (1, has("two"), has(2), "u"),
    ])
    .with_moves(vec![Move { from: 0, to: 1 }, Move { from: 2, to: 3 }]);
    write_all::<SqliteSink>(upserting(&path), vec![start, swap]).await.unwrap();
    assert_eq!(rows(&path, "SELECT * FROM t ORDER BY id"), ["1 'two' 2", "2 'one' 1"]);
}

#[tokio::test]
async fn a_truncate_empties_is_ignored_or_stops() {
    let page = || changes(&[(1, has("x"), has(1), "c"), (0, None, None, "t"), (2, has("y"), has(2), "c")]);
    for (policy, expected) in [("truncate", vec!["2"]), ("ignore", vec!["1", "2"])] {
        let (_folder, path) = scratch("");
        let mut config = upserting(&path);
        config["on_truncate"] = policy.into();
        write_all::<SqliteSink>(config, vec![page()]).await.unwrap();
        assert_eq!(rows(&path, "SELECT id FROM t ORDER BY id"), expected);
    }
    let (_folder, path) = scratch("");
    let mut config = upserting(&path);
    config["on_truncate"] = "fail".into();
    assert_eq!(write_all::<SqliteSink>(config, vec![page()]).await.unwrap_err().code().id, "sink.truncated");
}

#[tokio::test]
async fn what_the_table_would_do_to_a_row_in_silence_is_an_error() {
    let append = |path: &Path| json!({ "path": path, "table_name": "t" });
    let of = |rows: &[&[ValueRef<'_>]]| page(&FIELDS[..2], rows);
    for (setup, second) in [
        ("CREATE TABLE t (id INT UNIQUE ON CONFLICT IGNORE, a TEXT)", of(&[&[ValueRef::I64(1), ValueRef::Text("y")]])),
        (
            "CREATE TABLE t (id INT PRIMARY KEY ON CONFLICT REPLACE, a TEXT)",
            of(&[&[ValueRef::I64(1), ValueRef::Text("y")]]),
        ),
        (
            "CREATE TABLE t (id INT, a TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'made up')",
            of(&[&[ValueRef::I64(2), ValueRef::Null]]),
        ),
    ] {
        for mode in ["append", "overwrite"] {
            let (_folder, path) = scratch(setup);
            let mut config = append(&path);
            config["write_mode"] = mode.into();
            let first = of(&[&[ValueRef::I64(1), ValueRef::Text("x")]]);
            let error = write_all::<SqliteSink>(config, vec![first, second.clone()]).await.unwrap_err();
            assert_eq!(error.code().id, "sqlite.constraint", "{setup}, {mode}");
            assert!(rows(&path, "SELECT * FROM t").is_empty(), "{setup}, {mode}");
        }
    }
}

#[tokio::test]
async fn a_null_is_no_row_number() {
    for (declared, numbered) in [
        ("id INTEGER PRIMARY KEY, a TEXT", true),
        ("a TEXT, id INTEGER, PRIMARY KEY (id)", true),
        ("id INT PRIMARY KEY, a TEXT", false),
        ("id INTEGER PRIMARY KEY DESC, a TEXT", false),
        ("id INTEGER, a TEXT, PRIMARY KEY (id, a)", false),
    ] {
        let (_folder, path) = scratch(&format!("CREATE TABLE t ({declared})"));
        let page = page(&FIELDS[..2], &[&[ValueRef::Null, ValueRef::Text("x")]]);
        let written = write_all::<SqliteSink>(json!({ "path": path, "table_name": "t" }), vec![page]).await;
        match numbered {
            true => assert_eq!(written.unwrap_err().code().id, "sqlite.value_would_change", "{declared}"),
            false => written.unwrap(),
        }
        let found = rows(&path, "SELECT id, a FROM t");
        assert_eq!(found, if numbered { vec![] } else { vec!["null 'x'".to_owned()] }, "{declared}");
    }
}

#[tokio::test]
async fn an_overwrite_shows_nothing_until_the_end() {
    let two = || page(&FIELDS[..2], &[&[ValueRef::I64(1), ValueRef::Text("x")], &[ValueRef::I64(2), ValueRef::Absent]]);
    for setup in
        ["", "CREATE TABLE t (id INT UNIQUE, a TEXT, n INT DEFAULT 5, g AS (id * 2)); INSERT INTO t (id) VALUES (9)"]
    {
        let (_folder, path) = scratch(setup);
        let config = json!({ "path": path, "table_name": "t", "write_mode": "overwrite" });
        let mut given_up = sink::<SqliteSink>(config.clone()).await.unwrap();
        given_up.write(two()).await.unwrap();
        given_up.commit(None).await.unwrap();
        assert_eq!(given_up.commit(Some(("s", "1"))).await.unwrap_err().code().id, "sink.no_tokens");
        drop(given_up);
        let mut done = sink::<SqliteSink>(config.clone()).await.unwrap();
        done.write(two()).await.unwrap();
        done.commit(None).await.unwrap();
        let before = rows(&path, "SELECT count(*) FROM sqlite_master WHERE name = 't'");
        assert_eq!(before, [if setup.is_empty() { "0" } else { "1" }]);
        done.finish().await.unwrap();
        assert_eq!(rows(&path, "SELECT id, a FROM t ORDER BY id"), ["1 'x'", "2 null"]);
        assert_eq!(rows(&path, "SELECT name FROM sqlite_master WHERE type = 'table'"), ["'t'"]);
        if !setup.is_empty() {
            assert_eq!(rows(&path, "SELECT n, g FROM t ORDER BY id"), ["5 2", "5 4"]);
        }
        drop(done);
        write_all::<SqliteSink>(config, vec![]).await.unwrap();
        assert!(rows(&path, "SELECT * FROM t").is_empty(), "no rows replace all rows");
    }
}

async fn refused(setup: &str, config: serde_json::Value, page: Page) -> (String, String, &'static str) {
    let (_folder, path) = scratch(setup);
    let mut merged = upserting(&path);
    merged.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
    let error = write_all::<SqliteSink>(merged, vec![page]).await.unwrap_err();
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    (error.to_string(), error.hint_text().unwrap_or_default().to_owned(), error.code().id)
}

#[tokio::test]
async fn what_is_wrong_is_said_with_what_mends_it() {
    let row = || changes(&[(1, has("secret"), has(1), "c")]);
    let (message, _, id) = refused("CREATE TABLE x (y)", json!({ "create_table": false }), row()).await;
    assert_eq!((id, message.ends_with("has no table \"t\"")), ("sqlite.table_missing", true));
    let (_, hint, id) = refused("CREATE TABLE t (id INT, a, b)", json!({}), row()).await;
    assert_eq!((id, hint.as_str()), ("sqlite.key_not_unique", r#"run: CREATE UNIQUE INDEX "t_key" ON "t" ("id")"#));
    let partial = "CREATE TABLE t (id INT, a, b); CREATE UNIQUE INDEX i ON t (id) WHERE a IS NULL";
    assert_eq!(refused(partial, json!({}), row()).await.2, "sqlite.key_not_unique");
    let (message, hint, id) = refused("CREATE TABLE t (id INTEGER PRIMARY KEY, b)", json!({}), row()).await;
    assert_eq!(
        (id, message.as_str()),
        ("sqlite.column_missing", "the table \"t\" has no column \"a\", which rows of t have")
    );
    assert!(hint.contains(r#"run: ALTER TABLE "t" ADD COLUMN "a" TEXT"#), "{hint}");
    let (message, _, id) =
        refused("CREATE TABLE t (id INT UNIQUE, a INT, b)", json!({}), changes(&[(1, has("007"), has(1), "c")])).await;
    assert_eq!(id, "sqlite.value_would_change");
    assert!(message.starts_with("column \"a\" is declared INT, where SQLite would make a number"), "{message}");
    let null_key = page(&FIELDS[..2], &[&[ValueRef::Null, ValueRef::Text("secret")]]);
    assert_eq!(refused("", json!({}), null_key).await.2, "sink.key_null");
    let twice = page(&[("id", Kind::I64), ("ID", Kind::I64)], &[&[ValueRef::I64(1), ValueRef::I64(2)]]);
    assert_eq!(refused("CREATE TABLE t (id INT UNIQUE)", json!({}), twice).await.2, "sqlite.column_twice");
}

#[tokio::test]
async fn files_that_are_no_database_are_said() {
    let (folder, path) = scratch("");
    std::fs::write(&path, "not a database, but long enough to be looked at as one").unwrap();
    let open = |path: PathBuf| async move { sink::<SqliteSink>(upserting(&path)).await.err().unwrap() };
    assert_eq!(open(path).await.code().id, "sqlite.not_a_database");
    assert_eq!(open(folder.path().to_owned()).await.code().id, "file.is_a_folder");
    let error = open(folder.path().join("no/t.db")).await;
    assert_eq!(error.code().id, "file.not_found");
    assert!(error.to_string().contains("the folder"), "{error}");
}

#[tokio::test]
async fn another_writer_is_waited_for_and_then_said() {
    let (_folder, path) = scratch("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)");
    let mut config = upserting(&path);
    config["busy_timeout"] = "50ms".into();
    let mut open = sink::<SqliteSink>(config).await.unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(open.write(changes(&[(1, has("x"), has(1), "c")])).await.unwrap_err().code().id, "sqlite.busy");
}

#[tokio::test]
async fn every_kind_is_stored_as_documented() {
    let (_folder, path) = scratch("");
    write_all::<SqliteSink>(json!({ "path": path, "table_name": "t" }), vec![every_kind()]).await.unwrap();
    let expected = "1 -9223372036854775808 '18446744073709551615' 1.1754943508222875e-38 -inf \
        '-12345678901234567890.1234567890' 'a\n\"b\",\r;é' [00, ff] '0001-12-31 BC' '24:00:00' 'infinity' \
        '1969-12-31 23:59:59.999999+00:00' 'P-1Y-2M3DT-0.000001S' 'abababab-abab-abab-abab-abababababab' \
        '{\"a\":[1.50,null]}'";
    let nulls = ["null"; 15].join(" ");
    assert_eq!(rows(&path, "SELECT * FROM t"), [expected, nulls.as_str()]);
}

/// One step of the property test.
#[derive(Debug, Clone)]
enum Act {
    /// An inserted row.
    Put {
        id: i64,
        a: String,
        b: i64,
    },
    /// A changed row; what is `None` was not sent.
    Change {
        id: i64,
        a: Option<String>,
        b: Option<i64>,
    },
    Delete {
        id: i64,
    },
    Move {
        from: i64,
        to: i64,
        a: Option<String>,
        b: Option<i64>,
    },
    Truncate,
    /// The page ends.
    Page,
    /// The transaction ends.
    Commit,
    /// The process dies.
    Crash,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let (id, a, b) = (|| 0..5_i64, || "[a-c]{0,2}", || any::<i64>());
    let act = prop_oneof![
        4 => (id(), a(), b()).prop_map(|(id, a, b)| Act::Put { id, a, b }),
        4 => (id(), prop::option::of(a()), prop::option::of(b())).prop_map(|(id, a, b)| Act::Change { id, a, b }),
        2 => id().prop_map(|id| Act::Delete { id }),
        3 => (id(), id(), prop::option::of(a()), prop::option::of(b()))
            .prop_map(|(from, to, a, b)| Act::Move { from, to, a, b }),
        1 => Just(Act::Truncate),
        3 => Just(Act::Page),
        2 => Just(Act::Commit),
        1 => Just(Act::Crash),
    ];
    prop::collection::vec(act, 1..50)
}

type Table = BTreeMap<i64, (Option<String>, Option<i64>)>;

/// What the sink has to do, said as plainly as possible.
fn apply(table: &mut Table, act: &Act) {
    match act.clone() {
        Act::Put { id, a, b } => drop(table.insert(id, (Some(a), Some(b)))),
        Act::Change { id, a: Some(a), b: Some(b) } => drop(table.insert(id, (Some(a), Some(b)))),
        Act::Change { id, a, b } => {
            if let Some(row) = table.get_mut(&id) {
                row.0 = a.or(row.0.take());
                row.1 = b.or(row.1);
            }
        }
        Act::Delete { id } => drop(table.remove(&id)),
        Act::Move { from, to, a, b } => {
            let old = table.remove(&from);
            if let (Some(a), Some(b)) = (&a, b) {
                table.insert(to, (Some(a.clone()), Some(b)));
            } else if let Some(row) = table.get(&to).cloned().or(old) {
                table.insert(to, (a.or(row.0), b.or(row.1)));
            }
        }
        Act::Truncate => table.clear(),
        Act::Page | Act::Commit | Act::Crash => {}
    }
}

/// Rows of a page in the making, and its moves.
#[derive(Default)]
struct Rows {
    rows: Vec<(i64, Option<String>, Option<i64>, &'static str)>,
    moves: Vec<Move>,
}

impl Rows {
    fn add(&mut self, act: &Act) {
        match act.clone() {
            Act::Put { id, a, b } => self.rows.push((id, Some(a), Some(b), "c")),
            Act::Change { id, a, b } => self.rows.push((id, a, b, "u")),
            Act::Delete { id } => self.rows.push((id, None, None, "d")),
            Act::Move { from, to, a, b } => {
                let at = self.rows.len() as u32;
                self.moves.push(Move { from: at, to: at + 1 });
                self.rows.push((from, None, None, "d"));
                self.rows.push((to, a, b, "u"));
            }
            Act::Truncate => self.rows.push((0, None, None, "t")),
            Act::Page | Act::Commit | Act::Crash => {}
        }
    }

    fn take(&mut self) -> Page {
        let Rows { rows, moves } = std::mem::take(self);
        let rows: Vec<Row<'_>> =
            rows.iter().map(|(id, a, b, op)| (*id, a.as_deref().map(Some), b.map(Some), *op)).collect();
        changes(&rows).with_moves(moves)
    }
}

async fn converges(acts: Vec<Act>) {
    let (_folder, path) = scratch("");
    let (mut table, mut committed) = (Table::new(), Table::new());
    let mut page = Rows::default();
    let mut open = sink::<SqliteSink>(upserting(&path)).await.unwrap();
    for act in acts.iter().chain([&Act::Commit]) {
        apply(&mut table, act);
        page.add(act);
        match act {
            Act::Page | Act::Commit if !page.rows.is_empty() => open.write(page.take()).await.unwrap(),
            Act::Crash => {
                page = Rows::default();
                drop(open);
                table = committed.clone();
                open = sink::<SqliteSink>(upserting(&path)).await.unwrap();
            }
            _ => {}
        }
        if matches!(act, Act::Commit) {
            open.commit(None).await.unwrap();
            committed = table.clone();
        }
    }
    drop(open);
    if rows(&path, "SELECT name FROM sqlite_master WHERE name = 't'").is_empty() {
        return assert!(committed.is_empty());
    }
    let shown = |v: Option<i64>| v.map_or("null".to_owned(), |v| v.to_string());
    let expected: Vec<_> =
        committed.into_iter().map(|(id, (a, b))| format!("{id} '{}' {}", a.unwrap_or_default(), shown(b))).collect();
    assert_eq!(rows(&path, "SELECT * FROM t ORDER BY id"), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_table_is_what_the_rows_say(acts in acts()) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(converges(acts));
    }
}

#[test]
fn the_configuration_is_checked() {
    let check = |json: serde_json::Value| {
        let config: SqliteSinkConfig = crate::file::testing::config(json);
        SqliteSink::validate(&config).into_iter().map(|p| p.path).collect::<Vec<_>>()
    };
    let marker = json!({ "field": "__op", "values": ["d"] });
    assert_eq!(check(upserting(Path::new("a.db"))), [""; 0]);
    assert_eq!(check(json!({ "path": "a", "table_name": "t", "write_mode": "upsert" })), ["key"]);
    assert_eq!(check(json!({ "path": "a", "table_name": "t", "delete_marker": marker })), ["delete_marker"]);
    assert_eq!(check(json!({ "path": "a", "table_name": "t", "on_truncate": "fail" })), ["on_truncate"]);
    assert_eq!(check(json!({ "path": ":memory:", "table_name": "sqlite_x" })), ["path", "table_name"]);
    assert_eq!(
        check(json!({ "path": "", "table_name": "", "key": ["a", "A", ""] })),
        ["path", "table_name", "key[1]", "key[2]"]
    );
    assert!(serde_json::from_value::<SqliteSinkConfig>(json!({ "path": "a", "table_name": "t", "mode": 1 })).is_err());
}

#[tokio::test]
async fn an_overwrite_gets_new_columns_before_and_after_its_first_page() {
    let id = |id| page(&[("id", Kind::I64)], &[&[ValueRef::I64(id)]]);
    let more =
        |name, value| page(&[("id", Kind::I64), (name, Kind::I64)], &[&[ValueRef::I64(value), ValueRef::I64(value)]]);
    for setup in ["", "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (9)"] {
        let (_folder, path) = scratch(setup);
        let config = json!({ "path": path, "table_name": "t", "write_mode": "overwrite", "create_table": true });
        let mut sink = drifting::<SqliteSink>(config, OnDrift::Evolve).await.unwrap();
        for page in [more("a", 1), id(2), more("b", 3), more("a", 4)] {
            sink.write(page).await.unwrap();
        }
        sink.commit(None).await.unwrap();
        sink.finish().await.unwrap();
        sink.close().await.unwrap();
        let found = rows(&path, "SELECT id, a, b FROM t ORDER BY id");
        assert_eq!(found, ["1 1 null", "2 null null", "3 null 3", "4 4 null"], "{setup}");
    }
}

/// Applies changes to `t` with rows 1, 2 (which references 1) and 3 (which references 2), with and without a queue.
async fn assert_tree_becomes(action: &str, page: &Page, expected: &[&str]) {
    for sets_aside in [false, true] {
        let (_folder, path) = scratch(&format!(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b INTEGER REFERENCES t {action});
             INSERT INTO t VALUES (1, 'x', NULL), (2, 'y', 1), (3, 'z', 2)"
        ));
        let context = SinkContext { sets_aside, ..SinkContext::default() };
        let config = serde_json::from_value(upserting(&path)).unwrap();
        let mut sink = <SqliteSink as SinkConnector>::open(config, context).await.unwrap();
        sink.write(page.clone()).await.unwrap();
        sink.commit(None).await.unwrap();
        assert_eq!(
            (rows(&path, "SELECT * FROM t ORDER BY id"), sink.set_aside().len()),
            (expected.iter().map(|s| (*s).to_owned()).collect(), 0)
        );
    }
}

#[tokio::test]
async fn a_unique_value_goes_round_and_a_child_leaves_its_parent_before_that_goes() {
    for action in ["", "ON DELETE CASCADE", "ON DELETE SET NULL"] {
        let page = changes(&[
            (1, has("tmp"), Some(None), "u"),
            (2, has("x"), Some(None), "u"),
            (1, has("y"), Some(None), "u"),
            (1, None, None, "d"),
        ]);
        assert_tree_becomes(action, &page, &["2 'x' null", "3 'z' 2"]).await;
    }
}

#[tokio::test]
async fn a_key_that_changes_takes_the_references_with_it() {
    let page = changes(&[(1, None, None, "d"), (10, None, Some(None), "u"), (2, None, has(10), "u")]);
    let page = page.with_moves(vec![Move { from: 0, to: 1 }]);
    for action in ["ON UPDATE CASCADE", "ON UPDATE CASCADE ON DELETE CASCADE"] {
        assert_tree_becomes(action, &page, &["2 'y' 10", "3 'z' 2", "10 'x' null"]).await;
    }
}
