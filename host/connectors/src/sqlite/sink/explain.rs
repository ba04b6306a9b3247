//! The statements that a page would take, run for real on an empty copy of the table in memory.

use faucet_core::error::Result;
use faucet_core::model::Page;
use faucet_core::ports::SinkContext;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, OpenFlags};
use std::cell::RefCell;

use super::SqliteSinkConfig;
use super::writer::Writer;
use crate::sqlite::error::from_driver;

thread_local! {
    /// SQLite's hook is a plain function, so what it hears is kept beside it.
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// What changes anything; the rest looks at tables, or begins and ends transactions.
const CHANGES: [&str; 5] = ["CREATE", "ALTER", "INSERT", "UPDATE", "DELETE"];

/// The statements that writing `page` takes, with their values.
///
/// # Errors
/// Those of opening the database, for reading, and of writing the page.
pub(super) fn explain(config: SqliteSinkConfig, context: &SinkContext, page: Page) -> Result<Vec<String>> {
    let path = config.path.clone();
    let mut copy = copy(&config).map_err(|error| from_driver(&path, &error))?;
    copy.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(hear)).map_err(|error| from_driver(&path, &error))?;
    SAID.take();
    let written = Writer::on(copy, config, context).and_then(|mut writer| writer.write(page));
    let said = SAID.take();
    written?;
    Ok(said)
}

fn hear(event: TraceEvent<'_>) {
    let TraceEvent::Stmt(statement, text) = event else { return };
    // A trigger's own statements come as comments.
    if !CHANGES.iter().any(|verb| text.starts_with(verb)) {
        return;
    }
    let text = statement.expanded_sql().unwrap_or_else(|| text.to_owned());
    SAID.with_borrow_mut(|said| said.push(text));
}

/// A database in memory with the table as it is in the file, without rows and triggers.
fn copy(config: &SqliteSinkConfig) -> rusqlite::Result<Connection> {
    let copy = Connection::open_in_memory()?;
    if !config.path.exists() {
        return Ok(copy);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let file = Connection::open_with_flags(&config.path, flags)?;
    file.busy_timeout(config.busy_timeout.duration())?;
    let mut statement = file.prepare(
        "SELECT sql FROM sqlite_schema WHERE tbl_name = ?1 COLLATE NOCASE AND type IN ('table', 'index') \
         AND sql IS NOT NULL ORDER BY type = 'index'",
    )?;
    let texts = statement.query_map([&config.table_name], |row| row.get(0))?;
    let texts: Vec<String> = texts.collect::<rusqlite::Result<_>>()?;
    copy.execute_batch(&texts.join(";\n"))?;
    Ok(copy)
}
