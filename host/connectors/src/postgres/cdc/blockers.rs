//! Who is waited for: transactions that are open at the source while a slot is made, or before a snapshot begins.
//!
//! Statements are never shown: they hold values.

use faucet_core::error::Result;
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::{Client, Row};

use crate::postgres::error::from_driver;
use crate::postgres::name::literal;

/// How long others are waited for without a word.
pub(super) const FIRST_WORD: Duration = Duration::from_secs(2);
/// How often it is said again.
pub(super) const NEXT_WORD: Duration = Duration::from_secs(10);
/// How long looking at them may take.
const LOOK: Duration = Duration::from_secs(5);

/// Numbers of the transactions that the process waits for, and whether this is a standby.
const AWAITED: &str = "SELECT COALESCE(pg_catalog.array_agg(transactionid::text), '{}'), \
                       pg_catalog.pg_is_in_recovery() FROM pg_catalog.pg_locks \
                       WHERE pid = $1 AND locktype = 'transactionid' AND NOT granted";

/// Each transaction holds a lock on its own number until it has ended, a prepared one without a process.
const HOLDERS: &str = "\
SELECT DISTINCT l.pid, COALESCE(a.usename, p.owner)::text, a.application_name, a.state,
  (SELECT pg_catalog.upper(pg_catalog.substring(a.query, '^\\s*([A-Za-z]+)'))), p.gid,
  extract(epoch FROM pg_catalog.now() - COALESCE(a.xact_start, p.prepared))::float8
FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
LEFT JOIN pg_catalog.pg_prepared_xacts p ON p.transaction = l.transactionid
WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted AND l.transactionid::text = ANY ($1)
ORDER BY 7 DESC NULLS LAST LIMIT 5";

/// On a standby a slot waits for a record of its primary, which no lock tells of.
const OF_A_STANDBY: &str = "the primary of this standby to log which transactions run there, as it does every 15 s while \
                            something is written: `SELECT pg_log_standby_snapshot()` on the primary does it at once";

/// What to say about the transactions that the process `pid` waits for to make a slot.
pub(super) async fn of_process(client: &Client, pid: i32) -> String {
    let look = async {
        let row = client.query_one(AWAITED, &[&pid]).await.map_err(|e| from_driver(&e))?;
        match row.get(1) {
            true => Ok(vec![OF_A_STANDBY.to_owned()]),
            false => holders(client, &row.get::<_, Vec<String>>(0)).await,
        }
    };
    words(timeout(LOOK, look).await.ok())
}

/// What to say about the transactions of these numbers.
pub(super) async fn of_transactions(client: &Client, numbers: &[String]) -> String {
    words(timeout(LOOK, holders(client, numbers)).await.ok())
}

async fn holders(client: &Client, numbers: &[String]) -> Result<Vec<String>> {
    let rows = client.query(HOLDERS, &[&numbers]).await.map_err(|e| from_driver(&e))?;
    Ok(rows.iter().map(holder).collect())
}

fn words(found: Option<Result<Vec<String>>>) -> String {
    match found {
        Some(Ok(holders)) if !holders.is_empty() => holders.join("; "),
        _ => "transactions that are open at the source (pg_stat_activity, pg_prepared_xacts)".to_owned(),
    }
}

fn holder(row: &Row) -> String {
    let text = |index: usize| row.get::<_, Option<&str>>(index).filter(|text| !text.is_empty());
    let age = row.get::<_, Option<f64>>(6).map(|seconds| format!("open for {}", age(seconds)));
    let role = text(1).map(|role| format!("role \"{role}\""));
    if let Some(gid) = text(5) {
        let known: Vec<String> = role.into_iter().chain(age).collect();
        let gid = literal(gid);
        return format!(
            "prepared transaction {gid} ({}; end it with ROLLBACK PREPARED or COMMIT PREPARED)",
            known.join(", ")
        );
    }
    let pid = row.get::<_, Option<i32>>(0).unwrap_or_default();
    let application = text(2).map(|name| format!("application \"{name}\""));
    let command = text(4).map(|word| format!("last command {word}"));
    let state = text(3).map(str::to_owned);
    let known: Vec<String> = [role, application, state, command, age].into_iter().flatten().collect();
    format!("server process {pid} ({}; end it there, or with pg_terminate_backend({pid}))", known.join(", "))
}

fn age(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
