//! What a session at the destination is set to, whatever the role, the database or the server prefer.
//!
//! | setting | set to | because otherwise |
//! |---|---|---|
//! | `synchronous_commit` | `on` where it is `off` | a commit is reported before it is durable, and a crash takes it back |
//! | `session_replication_role` | `replica` or `origin`, as `triggers` says | triggers change copied rows |
//! | `default_transaction_isolation` | `read committed` | a commit that waited for a claim would not see it |
//! | `array_nulls` | `on` | a null in an array becomes the text `NULL` |
//! | `plan_cache_mode` | `force_custom_plan` | a plan made for an empty table is used for a full one |
//!
//! `statement_timeout`, `transaction_timeout` and the timeouts of idle sessions are off in every session (`postgres/connect.rs`). Left as they
//! are: `lock_timeout`, because the attempt that it ends has written nothing and is made again;
//! `default_transaction_read_only`, because it is how a server is closed for writing; `synchronous_commit` with a value
//! that is durable here; `search_path`, because functions of the destination may go by it.

use faucet_core::error::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_postgres::Client;

use super::target::Target;
use crate::postgres::error::{PERMISSION_DENIED, from_driver};

const SETTINGS: &str = "\
SET plan_cache_mode = force_custom_plan; SET default_transaction_isolation = 'read committed'; SET array_nulls = on; \
SELECT pg_catalog.set_config('synchronous_commit', 'on', false)
  WHERE pg_catalog.current_setting('synchronous_commit') = 'off'";

/// What the destination's triggers do about copied rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Triggers {
    /// Only those that are made for it (`ENABLE REPLICA`, `ENABLE ALWAYS`) fire. Foreign keys are not checked and have
    /// no actions, and unique constraints are not checked where they are deferrable: the source has done that.
    Replica,
    /// They fire as for anybody's rows, and foreign keys are checked.
    Fire,
}

impl Triggers {
    fn role(self) -> &'static str {
        match self {
            Self::Replica => "replica",
            Self::Fire => "origin",
        }
    }
}

/// Sets the session, and says what triggers do in it: what is `wanted`, or `replica` where the role may.
///
/// # Errors
/// `postgres.permission_denied` when the role may not have what is wanted; failures of the server.
pub async fn set(client: &Client, wanted: Option<Triggers>) -> Result<Triggers> {
    client.batch_execute(SETTINGS).await.map_err(|e| from_driver(&e))?;
    let query = "SELECT pg_catalog.current_setting('session_replication_role')";
    let current: String = client.query_one(query, &[]).await.map_err(|e| from_driver(&e))?.get(0);
    let triggers = wanted.unwrap_or(Triggers::Replica);
    if current == triggers.role() {
        return Ok(triggers);
    }
    let set = format!("SET session_replication_role = {}", triggers.role());
    match client.batch_execute(&set).await.map_err(|e| from_driver(&e)) {
        Ok(()) => Ok(triggers),
        Err(error) if error.code() == &PERMISSION_DENIED && wanted.is_none() => Ok(Triggers::Fire),
        Err(error) if error.code() == &PERMISSION_DENIED => Err(may_not(error)),
        Err(error) => Err(error),
    }
}

fn may_not(error: Error) -> Error {
    error.context("setting what `triggers` asks for").hint(
        "as a superuser: GRANT SET ON PARAMETER session_replication_role TO the role (PostgreSQL 15 or newer), or leave \
         `triggers` out",
    )
}

/// The triggers that fire on rows copied into `target`, as `trigger on table`.
///
/// # Errors
/// Failures of the server.
pub async fn firing(client: &Client, target: &Target, triggers: Triggers) -> Result<Vec<String>> {
    let enabled = match triggers {
        Triggers::Replica => "'R', 'A'",
        Triggers::Fire => "'O', 'A'",
    };
    let query = format!(
        "SELECT g.tgname::pg_catalog.text || ' on ' || g.tgrelid::pg_catalog.regclass::pg_catalog.text
         FROM pg_catalog.pg_trigger g
         WHERE (g.tgrelid = $1 OR g.tgrelid IN (SELECT relid FROM pg_catalog.pg_partition_tree($1::pg_catalog.oid)))
           AND NOT g.tgisinternal AND g.tgenabled IN ({enabled}) ORDER BY 1 LIMIT 20"
    );
    let rows = client.query(&query, &[&target.oid]).await.map_err(|e| from_driver(&e))?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Says which triggers fire although nobody asked for it.
///
/// # Errors
/// Failures of the server.
pub async fn warn_of_triggers(client: &Client, target: &Target, triggers: Triggers) -> Result<()> {
    let firing = firing(client, target, triggers).await?;
    if firing.is_empty() {
        return Ok(());
    }
    let firing = firing.join(", ");
    match triggers {
        Triggers::Replica => tracing::warn!(firing, "triggers that are enabled for replicas fire on copied rows"),
        Triggers::Fire => tracing::warn!(
            firing,
            "triggers fire on copied rows and may change them: the role may not set session_replication_role. GRANT SET \
             ON PARAMETER session_replication_role TO it (PostgreSQL 15 or newer), or say `triggers: fire`"
        ),
    }
    Ok(())
}
