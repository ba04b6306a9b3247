//! `overwrite`: rows gather in a table beside the old one and take its place when the run ends, in one transaction.

use faucet_core::model::Schema;
use rusqlite::Connection;
use std::collections::BTreeSet;

use super::SqliteSinkConfig;
use super::plan::Plan;
use super::target::{self, TableColumn};
use crate::sqlite::name::{list, quoted};

/// The table beside the old one.
pub(super) struct Side {
    name: String,
    is_made: bool,
    /// The columns that rows had.
    used: BTreeSet<String>,
}

impl Side {
    /// Removes what a run that did not end has left.
    pub(super) fn clear(connection: &Connection, config: &SqliteSinkConfig) -> rusqlite::Result<Self> {
        let name = format!("_faucet_new_{}", config.table_name);
        connection.execute_batch(&format!("DROP TABLE IF EXISTS {}", quoted(&name)))?;
        Ok(Self { name, is_made: false, used: BTreeSet::new() })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the table is there.
    pub(super) fn is_made(&self) -> bool {
        self.is_made
    }

    /// Makes the table when there is none, and returns its columns: those of the old table, whose `columns` are given, or
    /// those that rows of `schema` need.
    pub(super) fn make(
        &mut self,
        connection: &Connection,
        config: &SqliteSinkConfig,
        columns: Option<&[TableColumn]>,
        schema: &Schema,
    ) -> rusqlite::Result<Vec<TableColumn>> {
        if !self.is_made {
            let sql = match columns {
                None => target::create(config, schema, &self.name),
                Some(columns) => {
                    let written = columns.iter().filter(|c| !c.is_generated).map(|c| c.name.as_str());
                    let (side, old) = (quoted(&self.name), quoted(&config.table_name));
                    format!("CREATE TABLE {side} AS SELECT {} FROM {old} WHERE 0", list(written))
                }
            };
            connection.execute_batch(&sql)?;
            self.is_made = true;
        }
        match columns {
            // The old table's declarations are the ones a user knows; the side table has their affinities.
            Some(columns) => Ok(columns.to_vec()),
            None => Ok(target::columns(connection, &self.name)?.unwrap_or_default()),
        }
    }

    /// Takes note of the columns that `plan` writes.
    pub(super) fn uses(&mut self, plan: &Plan) {
        self.used.extend(plan.columns.iter().map(|c| c.name.clone()));
    }

    /// Puts the rows in place of the old ones, inside the open transaction. A table that was there keeps its definition,
    /// its indexes and its triggers.
    pub(super) fn replace(
        self,
        connection: &Connection,
        config: &SqliteSinkConfig,
        columns: Option<&[TableColumn]>,
    ) -> rusqlite::Result<()> {
        let (side, table) = (quoted(&self.name), quoted(&config.table_name));
        if columns.is_none() {
            let rename = format!("ALTER TABLE {side} RENAME TO {table}");
            return if self.is_made { connection.execute_batch(&rename) } else { Ok(()) };
        }
        connection.execute_batch(&format!("DELETE FROM {table}"))?;
        if self.is_made {
            let names = list(self.used.iter().map(String::as_str));
            let copy = format!("INSERT OR ABORT INTO {table} ({names}) SELECT {names} FROM {side}; DROP TABLE {side}");
            connection.execute_batch(&copy)?;
        }
        Ok(())
    }
}
