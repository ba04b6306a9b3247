//! What `faucet doctor` looks at in the destination. Nothing is made or changed.

use faucet_core::error::{Error, Result};
use faucet_core::ports::{Finding, WriteMode};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

use super::SqliteSinkConfig;
use super::target;
use super::writer::{require_key, table_missing};
use crate::sqlite::error::{NOT_OPENED, from_driver};

/// Examines the file and its table.
pub(super) fn examine(config: &SqliteSinkConfig) -> Vec<Finding> {
    let subject = format!("destination {}", config.path.display());
    let folder = config.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let what = format!("the folder {} does not exist", folder.display());
        return vec![Finding::failure(subject, what, "create it, or correct `path`")];
    }
    let looked = if config.path.exists() { look(config) } else { no_table(config) };
    let found = looked.map(|what| Finding::fine(&subject, what));
    vec![found.unwrap_or_else(|error| Finding::error(&subject, &error))]
}

fn look(config: &SqliteSinkConfig) -> Result<String> {
    let failed = |e: rusqlite::Error| from_driver(&config.path, &e);
    // Opened as a run opens it, without making it: what can't be written is refused.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&config.path, flags).map_err(failed)?;
    if connection.is_readonly("main").map_err(failed)? {
        return Err(Error::new(&NOT_OPENED, "the file can't be written to")
            .hint("let the user that faucet runs as write to the file and to its folder"));
    }
    let Some(columns) = target::columns(&connection, &config.table_name).map_err(failed)? else {
        return no_table(config);
    };
    if config.write_mode == WriteMode::Upsert {
        require_key(&connection, &columns, config)?;
    }
    Ok(format!("table \"{}\" is there", config.table_name))
}

fn no_table(config: &SqliteSinkConfig) -> Result<String> {
    if config.create_table {
        return Ok(format!("table \"{}\" does not exist yet; the first run makes it", config.table_name));
    }
    Err(table_missing(config))
}
