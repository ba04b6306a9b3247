//! Tokens and claims: rows of a table of their own, written in the transaction of the rows they belong to.
//!
//! SQLite lets one transaction write at a time, so what is compared in one stands until its end.

use faucet_core::ports::Claim;
use rusqlite::{Connection, OptionalExtension, params};

/// The table of tokens.
pub(super) const TABLE: &str = "_faucet_commit_token";

/// What is kept under `scope`.
pub(super) fn read(connection: &Connection, scope: &str) -> rusqlite::Result<Option<String>> {
    let exists = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
    if connection.prepare_cached(exists)?.query_row([TABLE], |_| Ok(())).optional()?.is_none() {
        return Ok(None);
    }
    let sql = format!("SELECT token FROM {TABLE} WHERE scope = ?1");
    connection.prepare_cached(&sql)?.query_row([scope], |row| row.get(0)).optional()
}

/// Keeps `token` under `scope`, in the open transaction.
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

/// Whether the claim is the one that stands.
pub(super) fn stands(connection: &Connection, claim: &Claim) -> rusqlite::Result<bool> {
    Ok(read(connection, &claim.writer_scope())?.as_ref() == Some(&claim.writer))
}

/// Takes the scope over from `from`, in the open transaction; `false` if somebody else has it now. `anew` forgets its
/// token and its table.
pub(super) fn claim(connection: &Connection, claim: &Claim, from: Option<&str>, anew: bool) -> rusqlite::Result<bool> {
    if read(connection, &claim.writer_scope())?.as_deref() != from {
        return Ok(false);
    }
    write(connection, &claim.writer_scope(), &claim.writer)?;
    if anew {
        let forget = format!("DELETE FROM {TABLE} WHERE scope IN (?1, ?2)");
        connection.execute(&forget, params![claim.scope, claim.table_scope()])?;
    }
    Ok(true)
}
