//! The table that is written: what it looks like, and how it is made.

use faucet_core::error::{Error, Result};
use faucet_core::model::{Field, Schema};
use faucet_core::ports::WriteMode;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, params};
use std::collections::BTreeSet;
use std::path::Path;

use super::bind::stored;
use super::statements::would_change;
use super::{COLUMN_TWICE, KEY_NOT_UNIQUE, SqliteSinkConfig};
use crate::sqlite::error::from_driver;
use crate::sqlite::kinds::{Affinity, declaration, kind_of};
use crate::sqlite::name::{is_same, list, quoted};

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableColumn {
    pub name: String,
    /// As it was declared.
    pub declared: String,
    pub affinity: Affinity,
    /// SQLite computes it, so it can't be written.
    pub is_generated: bool,
    /// Whether it is part of the primary key.
    in_key: bool,
    /// It is another name of the row's number (`INTEGER PRIMARY KEY`): a null in it becomes the next free number.
    pub numbers_nulls: bool,
}

/// The columns of a table; `None` when there is no such table.
pub(super) fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Option<Vec<TableColumn>>> {
    let strict = "SELECT max(strict) FROM pragma_table_list(?1)";
    let is_strict: bool = connection.query_row(strict, [table], |row| row.get::<_, Option<bool>>(0))?.unwrap_or(false);
    let mut statement = connection.prepare("SELECT name, type, hidden, pk FROM pragma_table_xinfo(?1) ORDER BY cid")?;
    let column = |row: &rusqlite::Row<'_>| {
        let declared: String = row.get(1)?;
        let keeps_all = is_strict && declared.eq_ignore_ascii_case("ANY");
        Ok(TableColumn {
            name: row.get(0)?,
            affinity: if keeps_all { Affinity::Blob } else { Affinity::of(&declared) },
            declared,
            is_generated: row.get::<_, i64>(2)? > 1,
            in_key: row.get::<_, i64>(3)? > 0,
            numbers_nulls: false,
        })
    };
    let mut columns = statement.query_map([table], column)?.collect::<rusqlite::Result<Vec<_>>>()?;
    // Every other primary key has an index of its own.
    let indexed = "SELECT count(*) FROM pragma_index_list(?1) WHERE origin = 'pk'";
    let mut key: Vec<&mut TableColumn> = columns.iter_mut().filter(|c| c.in_key).collect();
    if let [only] = key.as_mut_slice() {
        only.numbers_nulls = connection.query_row(indexed, [table], |row| row.get::<_, i64>(0))? == 0;
    }
    Ok((!columns.is_empty()).then_some(columns))
}

/// Whether the table has no row.
pub(super) fn is_empty(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let sql = format!("SELECT NOT EXISTS (SELECT 1 FROM {})", quoted(table));
    connection.query_row(&sql, [], |row| row.get(0))
}

/// The columns that rows of `schema` have and the table lacks.
pub(super) fn additions<'a>(config: &SqliteSinkConfig, columns: &[TableColumn], schema: &'a Schema) -> Vec<&'a Field> {
    let is_new = |field: &&Field| {
        config.marker_column() != Some(&*field.name) && !columns.iter().any(|c| is_same(&c.name, &field.name))
    };
    schema.fields.iter().filter(is_new).collect()
}

/// Adds a column. The rows that are there get what the source's have in it (`Field::fill`).
///
/// # Errors
/// `sqlite.value_would_change`, and what the database refuses.
pub(super) fn add_column(connection: &Connection, path: &Path, table: &str, field: &Field) -> Result<()> {
    let (table, name, declared) = (quoted(table), quoted(&field.name), column_type(field));
    let alter = format!("ALTER TABLE {table} ADD COLUMN {name} {declared}");
    connection.execute_batch(&alter).map_err(|e| from_driver(path, &e))?;
    let Some(fill) = &field.fill else { return Ok(()) };
    let mut scratch = Vec::new();
    let value = stored(fill.value.value(0), Affinity::of(declared), &mut scratch)
        .map_err(|misfit| would_change(&field.name, declared, misfit))?;
    let update = format!("UPDATE {table} SET {name} = ?1");
    connection.execute(&update, [ToSqlOutput::Borrowed(value)]).map_err(|e| from_driver(path, &e))?;
    Ok(())
}

/// Checks that the database keeps rows with one key from being two.
///
/// # Errors
/// `sqlite.key_not_unique` with the statement that mends it.
pub(super) fn check_key(
    connection: &Connection,
    columns: &[TableColumn],
    config: &SqliteSinkConfig,
) -> Result<(), KeyCheck> {
    let folded = |names: &mut dyn Iterator<Item = &str>| names.map(str::to_ascii_lowercase).collect::<BTreeSet<_>>();
    let wanted = folded(&mut config.key.iter().map(String::as_str));
    if folded(&mut columns.iter().filter(|c| c.in_key).map(|c| c.name.as_str())) == wanted {
        return Ok(());
    }
    for index in unique_indexes(connection, &config.table_name)? {
        // An expression has no name, and is no column.
        if index.iter().all(Option::is_some) && folded(&mut index.iter().flatten().map(String::as_str)) == wanted {
            return Ok(());
        }
    }
    Err(KeyCheck::NotUnique)
}

/// Why [`check_key`] did not say yes.
pub(super) enum KeyCheck {
    /// No unique index over exactly the key's columns.
    NotUnique,
    Driver(rusqlite::Error),
}

impl From<rusqlite::Error> for KeyCheck {
    fn from(error: rusqlite::Error) -> Self {
        KeyCheck::Driver(error)
    }
}

/// The error of a key without a unique index.
pub(super) fn not_unique(config: &SqliteSinkConfig) -> Error {
    let (table, key) = (&config.table_name, &config.key);
    let statement = format!(
        "CREATE UNIQUE INDEX {} ON {} ({})",
        quoted(&format!("{table}_key")),
        quoted(table),
        list(key.iter().map(String::as_str))
    );
    let what = format!("the table \"{table}\" has no PRIMARY KEY or UNIQUE index over {}", key.join(", "));
    Error::new(&KEY_NOT_UNIQUE, what).hint(format!("run: {statement}"))
}

/// The columns of each unique index that covers the whole table.
fn unique_indexes(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Vec<Option<String>>>> {
    let mut statement =
        connection.prepare("SELECT name FROM pragma_index_list(?1) WHERE \"unique\" = 1 AND partial = 0")?;
    let names = statement.query_map([table], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    let mut columns = connection.prepare("SELECT name FROM pragma_index_info(?1)")?;
    names.iter().map(|name| columns.query_map(params![name], |row| row.get(0))?.collect()).collect()
}

/// The statement that makes a table called `table` for rows of `schema`.
pub(super) fn create(config: &SqliteSinkConfig, schema: &Schema, table: &str) -> String {
    let written = schema.fields.iter().filter(|f| config.marker_column() != Some(&*f.name));
    let mut columns: Vec<String> = written
        .map(|field| {
            let is_key = config.key.iter().any(|k| is_same(k, &field.name));
            let not_null = if is_key && config.write_mode != WriteMode::Append { " NOT NULL" } else { "" };
            format!("{} {}{not_null}", quoted(&field.name), column_type(field))
        })
        .collect();
    if config.write_mode != WriteMode::Append && !config.key.is_empty() {
        columns.push(format!("PRIMARY KEY ({})", list(config.key.iter().map(String::as_str))));
    }
    format!("CREATE TABLE {} ({})", quoted(table), columns.join(", "))
}

/// Checks that a table can have every column of `schema`.
///
/// # Errors
/// `sqlite.column_twice`.
pub(super) fn check_case(config: &SqliteSinkConfig, schema: &Schema) -> Result<()> {
    let written: Vec<_> = schema.fields.iter().filter(|f| config.marker_column() != Some(&*f.name)).collect();
    for (index, field) in written.iter().enumerate() {
        if let Some(before) = written[..index].iter().find(|before| is_same(&before.name, &field.name)) {
            return Err(column_twice(&before.name, &field.name, schema));
        }
    }
    Ok(())
}

/// The error of two columns that SQLite takes for one.
pub(super) fn column_twice(one: &str, other: &str, schema: &Schema) -> Error {
    let what = format!("SQLite takes the columns \"{one}\" and \"{other}\" of {} for one", schema.table);
    Error::new(&COLUMN_TWICE, what).hint("rename one of them in a transform or in the query")
}

/// SQLite's own declaration where the column comes from SQLite, else the one that keeps the kind exact.
pub(super) fn column_type(field: &Field) -> &str {
    match field.native_of("sqlite") {
        // The driver gives it without a closing bracket when it was cut; only plain words and sizes are repeated.
        Some(own) if kind_of(own) == Some(field.kind) && is_plain(own) => own,
        _ => declaration(field.kind),
    }
}

fn is_plain(declared: &str) -> bool {
    let balanced = declared.matches('(').count() == declared.matches(')').count();
    balanced && declared.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'_' | b'(' | b')' | b','))
}
