//! Claims: one run of a pipeline takes the destination over from the one before.
//!
//! Every session of a run holds a shared advisory lock made of the scope. So the next run finds what an earlier one left:
//! a process that was frozen with rows locked, or a COMMIT that outlived its process because it waits for a synchronous
//! standby. It ends those sessions where the role may; what they had committed is there then, the rest is rolled back.
//! Whether it may or not, a commit and a claim both lock the claim's row, so one of them waits for the other.

use faucet_core::error::Result;
use faucet_core::ports::{Claim, Standing};
use std::future::Future;
use std::time::{Duration, Instant};
use tokio::time::interval_at;
use tokio_postgres::Client;

use super::token::Tokens;
use crate::postgres::error::{PERMISSION_DENIED, from_driver};
use crate::postgres::{Endpoint, Session};

/// How long to see sessions go that were told to.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// When to say first what a claim waits for, and how often then.
const SILENT: Duration = Duration::from_secs(1);
const EVERY: Duration = Duration::from_secs(10);

/// Shows the session to later runs under the claim's scope.
///
/// # Errors
/// Failures of the server.
pub async fn show(client: &Client, tokens: &Tokens) -> Result<()> {
    let Some(claim) = tokens.claim() else { return Ok(()) };
    let lock = "SELECT pg_catalog.pg_advisory_lock_shared(pg_catalog.hashtextextended($1, 0))";
    client.execute(lock, &[&lock_name(tokens, claim)]).await.map(drop).map_err(|e| from_driver(&e))
}

fn lock_name(tokens: &Tokens, claim: &Claim) -> String {
    format!("faucet {} {}", tokens.name(), claim.scope)
}

/// Ends the sessions of earlier runs, and says who claimed last. Makes the table of tokens.
///
/// # Errors
/// Failures of the server.
pub async fn standing(client: &Client, tokens: &Tokens, claim: &Claim) -> Result<Standing> {
    end_others(client, &lock_name(tokens, claim)).await?;
    let writer = match tokens.create(client).await {
        Ok(()) => tokens.read(client, &claim.writer_scope()).await,
        Err(error) => Err(error),
    };
    match writer {
        Ok(writer) => Ok(Standing::Kept { writer, changed: None }),
        Err(error) if error.code() == &PERMISSION_DENIED => Ok(Standing::Unkept(Some(error.hint(format!(
            "grant the role SELECT, INSERT and UPDATE on {0}; where it isn't there, CREATE on the schema, or make it: \
             CREATE TABLE {0} (scope text PRIMARY KEY, token text NOT NULL)",
            tokens.name()
        ))))),
        Err(error) => Err(error),
    }
}

/// Tells other sessions of the scope to end, and waits a while for them. Those that stay can't commit any more once the
/// claim is made.
async fn end_others(client: &Client, lock: &str) -> Result<()> {
    let since = Instant::now();
    loop {
        let others = client.query(OTHERS, &[&lock]).await.map_err(|e| from_driver(&e))?;
        if others.is_empty() || since.elapsed() > PATIENCE {
            return Ok(());
        }
        for pid in others.iter().map(|row| row.get::<_, i32>(0)) {
            match client.execute("SELECT pg_catalog.pg_terminate_backend($1)", &[&pid]).await {
                Ok(_) => tracing::info!(pid, "ended a session that an earlier run left at the destination"),
                Err(error) => tracing::debug!(pid, error = %from_driver(&error), "could not end an earlier session"),
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

const OTHERS: &str = "\
SELECT pid FROM pg_catalog.pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid <> pg_catalog.pg_backend_pid()
  AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
  AND ((classid::pg_catalog.int8 << 32) | objid::pg_catalog.int8) = pg_catalog.hashtextextended($1, 0)";

/// Takes the scope over from `from`, in a transaction of its own; `false` if somebody else has it now. `anew` forgets
/// its token and its table.
///
/// # Errors
/// Failures of the server.
pub async fn claim(client: &Client, tokens: &Tokens, claim: &Claim, from: Option<&str>, anew: bool) -> Result<bool> {
    let (table, scope, writer) = (tokens.name(), claim.writer_scope(), &claim.writer);
    let failed = |e: tokio_postgres::Error| tokens.failed(&e);
    client.batch_execute("BEGIN").await.map_err(failed)?;
    let taken = match from {
        Some(from) => {
            let sql = format!("UPDATE {table} SET token = $2 WHERE scope = $1 AND token = $3");
            client.execute(&sql, &[&scope, writer, &from]).await
        }
        None => {
            let sql = format!("INSERT INTO {table} (scope, token) VALUES ($1, $2) ON CONFLICT (scope) DO NOTHING");
            client.execute(&sql, &[&scope, writer]).await
        }
    };
    let is_ours = taken.map_err(failed)? > 0;
    if is_ours && anew {
        let forget = format!("DELETE FROM {table} WHERE scope IN ($1, $2)");
        client.execute(&forget, &[&claim.scope, &claim.table_scope()]).await.map_err(failed)?;
    }
    client.batch_execute(if is_ours { "COMMIT" } else { "ROLLBACK" }).await.map_err(failed)?;
    Ok(is_ours)
}

/// Does `work` on `client`, and says now and again what it waits for: another transaction's locks, or a standby that
/// doesn't confirm its own commit.
///
/// # Errors
/// Those of `work`.
pub async fn watched<T>(
    client: &Client,
    (endpoint, pipeline): (&Endpoint, &str),
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let row = client.query_one("SELECT pg_catalog.pg_backend_pid()", &[]).await.map_err(|e| from_driver(&e))?;
    let pid: i32 = row.get(0);
    let mut looks = interval_at(tokio::time::Instant::now() + SILENT, EVERY);
    let mut observer = None;
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            _ = looks.tick() => {
                let looked = look(&mut observer, endpoint, pipeline, pid);
                if let Ok(Err(error)) = tokio::time::timeout(PATIENCE, looked).await {
                    tracing::warn!(pid, %error, "waits for other sessions at the destination, and can't see which");
                }
            }
        }
    }
}

/// Names the sessions that `pid` waits for, or itself when it waits for none.
async fn look(observer: &mut Option<Session>, endpoint: &Endpoint, pipeline: &str, pid: i32) -> Result<()> {
    let session = match observer {
        Some(session) => session,
        None => observer.insert(endpoint.connect(pipeline).await?),
    };
    for row in session.query(WAITED_FOR, &[&pid]).await.map_err(|e| from_driver(&e))? {
        let (pid, name, state): (i32, String, String) = (row.get(0), row.get(1), row.get(2));
        let (wait_event, seconds): (String, f64) = (row.get(3), row.get(4));
        tracing::warn!(pid, name, state, wait_event, seconds, "waits for a session at the destination");
    }
    Ok(())
}

const WAITED_FOR: &str = "\
WITH blocking AS (SELECT pg_catalog.unnest(pg_catalog.pg_blocking_pids($1)) AS pid)
SELECT a.pid, COALESCE(a.application_name, ''), COALESCE(a.state, 'unknown'), COALESCE(a.wait_event, 'none'),
  COALESCE(EXTRACT(epoch FROM pg_catalog.clock_timestamp() - a.xact_start), 0)::pg_catalog.float8
FROM pg_catalog.pg_stat_activity a
WHERE a.pid IN (SELECT pid FROM blocking) OR (a.pid = $1 AND NOT EXISTS (SELECT FROM blocking))";
