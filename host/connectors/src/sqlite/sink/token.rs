//! Tokens: written in the transaction of the rows they belong to.

use rusqlite::{Connection, OptionalExtension, params};

/// The table of tokens.
pub(super) const TABLE: &str = "_faucet_commit_token";

/// The token of the last commit under `scope`.
pub(super) fn read(connection: &Connection, scope: &str) -> rusqlite::Result<Option<String>> {
    let exists = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
    if connection.query_row(exists, [TABLE], |_| Ok(())).optional()?.is_none() {
        return Ok(None);
    }
    let sql = format!("SELECT token FROM {TABLE} WHERE scope = ?1");
    connection.query_row(&sql, [scope], |row| row.get(0)).optional()
}

/// Stores `token` in the open transaction.
pub(super) fn write(connection: &Connection, scope: &str, token: &str) -> rusqlite::Result<()> {
    connection.execute(
        &format!("CREATE TABLE IF NOT EXISTS {TABLE} (scope TEXT NOT NULL PRIMARY KEY, token TEXT NOT NULL)"),
        [],
    )?;
    let sql = format!(
        "INSERT INTO {TABLE} (scope, token) VALUES (?1, ?2) ON CONFLICT (scope) DO UPDATE SET token = excluded.token"
    );
    connection.prepare_cached(&sql)?.execute(params![scope, token]).map(drop)
}
