//! How the columns of pages meet those of the table, and the statements that follow from it.

use faucet_core::error::{Error, Result};
use faucet_core::model::{Page, Schema};
use faucet_core::ports::OnDrift;
use std::sync::Arc;

use super::target::{TableColumn, column_twice, column_type};
use super::{COLUMN_MISSING, SqliteSinkConfig};
use crate::sql;
use crate::sqlite::kinds::Affinity;
use crate::sqlite::name::{is_same, quoted};

/// A column that is written.
#[derive(Debug)]
pub(super) struct Written {
    /// Where it is in the page.
    pub place: usize,
    /// Its name in the table.
    pub name: String,
    /// Its name as SQL spells it.
    pub quoted: String,
    /// As it was declared.
    pub declared: String,
    pub affinity: Affinity,
    /// SQLite makes a number of a null.
    pub numbers_nulls: bool,
}

/// What is prepared for pages of one schema.
#[derive(Debug)]
pub(super) struct Plan {
    /// The schema it was made for.
    pub of: Arc<Schema>,
    /// The table as SQL spells it.
    pub table: String,
    pub columns: Vec<Written>,
    /// The key's columns, as indices of `columns`; empty unless rows are upserted.
    pub key: Vec<usize>,
    /// The page's columns that have no place, where rows are written without them.
    pub left_out: Vec<usize>,
}

/// Which columns a row has a value or a null for: one byte each, 1 when it has.
pub(super) type Mask = Vec<u8>;

impl Plan {
    /// Finds a column of the table for every column of the page.
    ///
    /// # Errors
    /// `sqlite.column_missing`, or `sqlite.column_twice` when SQLite takes two names for one.
    pub(super) fn new(
        config: &SqliteSinkConfig,
        on_drift: OnDrift,
        table: &str,
        target: &[TableColumn],
        schema: &Arc<Schema>,
    ) -> Result<Self> {
        let mut columns: Vec<Written> = Vec::with_capacity(schema.fields.len());
        let mut left_out = Vec::new();
        for (place, field) in schema.fields.iter().enumerate() {
            if config.marker_column() == Some(&*field.name) {
                continue;
            }
            let found = target.iter().find(|c| is_same(&c.name, &field.name));
            let column = match found {
                Some(column) => column,
                None if on_drift.leaves_out() && !config.key.iter().any(|k| is_same(k, &field.name)) => {
                    left_out.push(place);
                    continue;
                }
                None => return Err(missing(config, schema, place)),
            };
            if let Some(before) = columns.iter().find(|c| c.name == column.name) {
                return Err(column_twice(&schema.fields[before.place].name, &field.name, schema));
            }
            if column.is_generated {
                continue;
            }
            columns.push(Written {
                place,
                name: column.name.clone(),
                quoted: quoted(&column.name),
                declared: column.declared.clone(),
                affinity: column.affinity,
                numbers_nulls: column.numbers_nulls,
            });
        }
        let names: Vec<&str> = left_out.iter().map(|&place| &*schema.fields[place].name).collect();
        sql::tell(on_drift, table, &names);
        let place = |name: &String| columns.iter().position(|c| is_same(&c.name, name));
        let key = config.key.iter().filter_map(place).collect();
        Ok(Self { of: schema.clone(), table: quoted(table), columns, key, left_out })
    }

    /// Puts into `mask` which columns the row has.
    pub(super) fn mask(&self, page: &Page, row: usize, mask: &mut Mask) {
        mask.clear();
        mask.extend(self.columns.iter().map(|c| u8::from(!page.columns()[c.place].is_absent(row))));
    }

    /// Adds a row with the columns of `mask`. A constraint that is broken is an error, whatever the table's own
    /// `ON CONFLICT IGNORE` or `REPLACE` would do to the row in silence.
    pub(super) fn insert(&self, mask: &[u8]) -> String {
        let names = self.names(mask, 1);
        if names.is_empty() {
            return format!("INSERT OR ABORT INTO {} DEFAULT VALUES", self.table);
        }
        let marks = vec!["?"; names.len()].join(", ");
        format!("INSERT OR ABORT INTO {} ({}) VALUES ({marks})", self.table, names.join(", "))
    }

    /// Adds a row with the columns of `mask`, or changes them in the row with its key.
    pub(super) fn upsert(&self, mask: &[u8]) -> String {
        let key: Vec<&str> = self.key.iter().map(|&k| self.columns[k].quoted.as_str()).collect();
        let data = self.names(mask, 1).into_iter().filter(|name| !key.contains(name));
        let sets: Vec<String> = data.map(|name| format!("{name} = excluded.{name}")).collect();
        let action = match sets.is_empty() {
            true => "NOTHING".to_owned(),
            false => format!("UPDATE SET {}", sets.join(", ")),
        };
        format!("{} ON CONFLICT ({}) DO {action}", self.insert(mask), key.join(", "))
    }

    /// Changes the columns of `mask` in the row with its key; the key's values come last.
    pub(super) fn update(&self, mask: &[u8]) -> String {
        let sets: Vec<String> = self.names(mask, 1).into_iter().map(|name| format!("{name} = ?")).collect();
        format!("UPDATE OR ABORT {} SET {} WHERE {}", self.table, sets.join(", "), self.has_key())
    }

    /// The values of the columns that `mask` lacks, of the row with a key.
    pub(super) fn select_others(&self, mask: &[u8]) -> String {
        format!("SELECT {} FROM {} WHERE {}", self.names(mask, 0).join(", "), self.table, self.has_key())
    }

    /// Removes the row with a key.
    pub(super) fn delete(&self) -> String {
        format!("DELETE FROM {} WHERE {}", self.table, self.has_key())
    }

    /// Looks for a row with a key that is not the one with another.
    pub(super) fn occupant(&self) -> String {
        format!("SELECT 1 FROM {} WHERE {1} AND NOT ({1})", self.table, self.has_key())
    }

    fn has_key(&self) -> String {
        let equal = |&k: &usize| format!("{} = ?", self.columns[k].quoted);
        self.key.iter().map(equal).collect::<Vec<_>>().join(" AND ")
    }

    fn names(&self, mask: &[u8], wanted: u8) -> Vec<&str> {
        let pairs = self.columns.iter().zip(mask);
        pairs.filter(|(_, has)| **has == wanted).map(|(column, _)| column.quoted.as_str()).collect()
    }
}

fn missing(config: &SqliteSinkConfig, schema: &Schema, place: usize) -> Error {
    let (table, field) = (&config.table_name, &schema.fields[place]);
    let what = format!("the table \"{table}\" has no column \"{}\", which rows of {} have", field.name, schema.table);
    if &*field.name == "__op" {
        let marker = "`__op` says what a row does: add delete_marker: { field: __op, values: [d] }";
        return Error::new(&COLUMN_MISSING, what).hint(marker);
    }
    let statement = format!("ALTER TABLE {} ADD COLUMN {} {}", quoted(table), quoted(&field.name), column_type(field));
    Error::new(&COLUMN_MISSING, what).hint(format!("set schema: {{ on_drift: evolve }}, or run: {statement}"))
}
