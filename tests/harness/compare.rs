//! Comparing two tables row by row.
//!
//! Both sides are queries that give text. The first columns are the key. What differs is reported by key only, so
//! that a failure is short whatever the rows hold.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

/// One row as text; `None` is null.
pub type Row = Vec<Option<String>>;

/// Something that answers queries with text.
pub trait Rows {
    /// All rows of `sql`.
    fn text_rows(&self, sql: &str) -> Result<Vec<Row>, String>;
}

impl Rows for Path {
    /// Reads the SQLite file at this path.
    fn text_rows(&self, sql: &str) -> Result<Vec<Row>, String> {
        sqlite_rows(self, sql)
    }
}

impl Rows for Connection {
    fn text_rows(&self, sql: &str) -> Result<Vec<Row>, String> {
        query(self, sql).map_err(|e| e.to_string())
    }
}

/// Rows of a query on a SQLite file, opened read-only. Reals print with the digits that round-trip, blobs as `\x` hex.
pub fn sqlite_rows(file: &Path, sql: &str) -> Result<Vec<Row>, String> {
    let open = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX);
    let connection = open.map_err(|e| format!("cannot open {}: {e}", file.display()))?;
    connection.busy_timeout(std::time::Duration::from_secs(10)).map_err(|e| e.to_string())?;
    connection.text_rows(sql)
}

fn query(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|i| row.get_ref(i).map(text)).collect())?;
    rows.collect()
}

fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(i) => Some(i.to_string()),
        ValueRef::Real(r) => Some(r.to_string()),
        ValueRef::Text(t) => Some(String::from_utf8_lossy(t).into_owned()),
        ValueRef::Blob(b) => Some(b.iter().fold("\\x".to_owned(), |hex, byte| hex + &format!("{byte:02x}"))),
    }
}

/// What two sets of rows don't share, by key.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// On the left only.
    pub missing: Vec<String>,
    /// On the right only.
    pub extra: Vec<String>,
    /// On both sides with other values; the numbers are the columns (from 0) that differ.
    pub changed: Vec<(String, Vec<usize>)>,
    /// Keys a side holds more than once.
    pub repeated: Vec<String>,
}

impl Difference {
    /// Compares rows; the first `key_columns` columns are the key.
    pub fn between(left: &[Row], right: &[Row], key_columns: usize) -> Self {
        let mut found = Self::default();
        let (left, right) = (found.by_key(left, key_columns), found.by_key(right, key_columns));
        for (key, row) in &left {
            match right.get(key) {
                None => found.missing.push(key.clone()),
                Some(other) if other != row => found.changed.push((key.clone(), differing(row, other))),
                Some(_) => {}
            }
        }
        found.extra.extend(right.keys().filter(|key| !left.contains_key(*key)).cloned());
        found
    }

    /// Whether both sides are equal.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn by_key<'r>(&mut self, rows: &'r [Row], key_columns: usize) -> BTreeMap<String, &'r Row> {
        let mut map = BTreeMap::new();
        for row in rows {
            let cells = row.iter().take(key_columns).map(|c| c.as_deref().unwrap_or("NULL"));
            let key = cells.collect::<Vec<_>>().join("/");
            if map.insert(key.clone(), row).is_some() {
                self.repeated.push(key);
            }
        }
        map
    }
}

fn differing(left: &Row, right: &Row) -> Vec<usize> {
    (0..left.len().max(right.len())).filter(|i| left.get(*i) != right.get(*i)).collect()
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed: Vec<String> = self.changed.iter().map(|(k, c)| format!("{k} (columns {c:?})")).collect();
        let lists = [
            ("missing on the right", &self.missing),
            ("only on the right", &self.extra),
            ("different", &changed),
            ("more than once", &self.repeated),
        ];
        for (what, keys) in lists.into_iter().filter(|(_, keys)| !keys.is_empty()) {
            let shown = keys.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
            let more = keys.len().checked_sub(10).filter(|n| *n > 0).map(|n| format!(" and {n} more"));
            writeln!(f, "{} {what}: {shown}{}", keys.len(), more.unwrap_or_default())?;
        }
        Ok(())
    }
}

/// Panics unless both queries give the same rows. The first `key_columns` columns identify a row; order is free.
#[track_caller]
pub fn assert_same_rows(
    (left, left_sql): (&(impl Rows + ?Sized), &str),
    (right, right_sql): (&(impl Rows + ?Sized), &str),
    key_columns: usize,
) {
    let read = |rows: Result<Vec<Row>, String>, sql: &str| rows.unwrap_or_else(|e| panic!("{e}\nin: {sql}"));
    let left = read(left.text_rows(left_sql), left_sql);
    let right = read(right.text_rows(right_sql), right_sql);
    let difference = Difference::between(&left, &right, key_columns);
    let (l, r) = (left.len(), right.len());
    assert!(difference.is_empty(), "the sides differ ({l} rows against {r}):\n{difference}");
}
