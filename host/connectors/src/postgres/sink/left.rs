//! The table as this run finds and leaves it ([`Written`]).

use faucet_core::error::{Error, Result};
use faucet_core::ports::{Claim, EMPTIED, WriteMode};
use tokio_postgres::Client;

use super::target::Target;
use super::token::Tokens;
use crate::postgres::error::{PERMISSION_DENIED, from_driver};
use crate::sql::Written;

/// Why the table is not as the last run left it, if it isn't. Rows that were appended may be taken away by whoever they
/// are for: that is worth a word, but no error.
///
/// # Errors
/// Failures of the server.
pub async fn changed(
    client: &Client,
    (tokens, claim): (&Tokens, &Claim),
    (target, database): (Option<&Target>, Option<&String>),
    mode: WriteMode,
) -> Result<Option<Error>> {
    let kept = tokens.read(client, &claim.table_scope()).await?;
    let Some(before) = kept.as_deref().and_then(Written::parse) else { return Ok(None) };
    let now = match target {
        Some(target) => {
            let token = tokens.read(client, &claim.scope).await?;
            Some(Written { empty: is_empty(client, target).await?, token, ..of(target, database) })
        }
        None => None,
    };
    match before.changed(now.as_ref(), claim) {
        Some(error) if error.code() == &EMPTIED && mode == WriteMode::Append => {
            tracing::warn!(%error, "rows that this pipeline appended are gone");
            Ok(None)
        }
        changed => Ok(changed),
    }
}

/// The table, with nothing said about its rows.
pub fn of(target: &Target, database: Option<&String>) -> Written {
    let (table, number) = (target.sql(), Some(target.oid));
    Written { table, database: database.cloned(), number, empty: None, token: None }
}

/// The server and the database; `None` where the role may not ask. Outside of a transaction, which a refusal would end.
///
/// # Errors
/// Failures of the server.
pub async fn database(client: &Client) -> Result<Option<String>> {
    match client.query_one(DATABASE, &[]).await {
        Ok(row) => Ok(Some(row.get(0))),
        Err(error) => none_if_denied(&error),
    }
}

/// Whether it has no row; `None` where that can't be told at little cost.
///
/// # Errors
/// Failures of the server.
pub async fn is_empty(client: &Client, target: &Target) -> Result<Option<bool>> {
    if target.is_foreign {
        return Ok(None);
    }
    match client.query_one(&format!("SELECT NOT EXISTS (SELECT FROM {})", target.sql()), &[]).await {
        Ok(row) => Ok(Some(row.get(0))),
        Err(error) => none_if_denied(&error),
    }
}

fn none_if_denied<T>(error: &tokio_postgres::Error) -> Result<Option<T>> {
    let error = from_driver(error);
    if error.code() == &PERMISSION_DENIED { Ok(None) } else { Err(error) }
}

const DATABASE: &str = "\
SELECT s.system_identifier::pg_catalog.text || ':' || d.oid::pg_catalog.text
FROM pg_catalog.pg_control_system() AS s, pg_catalog.pg_database AS d
WHERE d.datname = pg_catalog.current_database()";
