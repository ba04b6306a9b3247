//! `overwrite`: rows gather in a side table and replace the destination's at the end of the run.
//!
//! The swap is `TRUNCATE` and `INSERT .. SELECT` in one transaction rather than a rename, because the table itself stays:
//! its grants, views, indexes, foreign keys, publications and OID. It costs a second write of the rows, and readers wait
//! for its length. Until then nothing is visible.
//!
//! The side table is like the destination with its indexes and checks, so that a row it would refuse is refused early. It
//! is unlogged: a crash of the server ends the run anyway. A lock held by the session tells a crashed run's side table,
//! which the next run drops, from one that is being filled.

use faucet_core::error::{Error, Result};
use std::time::{Duration, Instant};
use tokio_postgres::Client;

use super::OVERWRITE_BUSY;
use super::target::Target;
use crate::postgres::error::from_driver;
use crate::postgres::name::{list, qualified};

/// The side table of a destination.
#[derive(Debug)]
pub struct Side {
    sql: String,
}

/// Longest name of a table, in bytes.
const MOST_NAME: usize = 63;
const PREFIX: &str = "_faucet_overwrite_";

/// How long to ask for the lock.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
const LOCK_PAUSE: Duration = Duration::from_millis(50);

impl Side {
    /// Creates it, in the place of one that a crashed run left.
    ///
    /// # Errors
    /// `postgres.overwrite_busy`, and what the server refuses.
    pub async fn create(client: &Client, target: &Target) -> Result<Self> {
        let sql = qualified(Some(&target.schema), &side_name(&target.name));
        if !lock(client, &sql).await? {
            let what = format!("another run is overwriting {}", target.sql());
            return Err(Error::new(&OVERWRITE_BUSY, what).hint("wait for it to end, or stop it"));
        }
        let create =
            format!("DROP TABLE IF EXISTS {sql}; CREATE UNLOGGED TABLE {sql} (LIKE {} INCLUDING ALL)", target.sql());
        client.batch_execute(&create).await.map_err(|e| from_driver(&e))?;
        Ok(Self { sql })
    }

    /// Its name as SQL.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Puts its rows in the place of the destination's, durably.
    ///
    /// # Errors
    /// What the server refuses; the destination is unchanged then.
    pub async fn swap(self, client: &Client, target: &Target) -> Result<()> {
        let swap = format!("BEGIN; {}; COMMIT; {}", self.replacing(target).join("; "), self.unlock());
        let failed = |e| from_driver(&e).context(format!("replacing the rows of {}", target.sql()));
        client.batch_execute(&swap).await.map_err(failed)
    }

    /// The statements that put its rows in the place of the destination's.
    pub fn replacing(&self, target: &Target) -> [String; 3] {
        let (table, side) = (target.sql(), &self.sql);
        let names = list(target.columns.iter().filter(|c| !c.generated).map(|c| c.name.as_str()));
        [
            target.emptying(),
            format!("INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM {side}"),
            format!("DROP TABLE {side}"),
        ]
    }

    /// Drops it.
    ///
    /// # Errors
    /// What the server refuses.
    pub async fn discard(self, client: &Client) -> Result<()> {
        let discard = format!("DROP TABLE IF EXISTS {}; {}", self.sql, self.unlock());
        client.batch_execute(&discard).await.map_err(|e| from_driver(&e))
    }

    /// Lets go of the lock as SQL, so that the next run needn't wait for the end of this session.
    fn unlock(&self) -> String {
        let name = self.sql.replace('\'', "''");
        format!("SELECT pg_catalog.pg_advisory_unlock(pg_catalog.hashtextextended('{name}', 0))")
    }
}

/// Takes the lock of the side table `sql`. A session that was broken off holds it until the server notices, so it is
/// asked for a while.
async fn lock(client: &Client, sql: &str) -> Result<bool> {
    let lock = "SELECT pg_catalog.pg_try_advisory_lock(pg_catalog.hashtextextended($1, 0))";
    let start = Instant::now();
    loop {
        let locked: bool = client.query_one(lock, &[&sql]).await.map_err(|e| from_driver(&e))?.get(0);
        if locked || start.elapsed() > LOCK_PATIENCE {
            return Ok(locked);
        }
        tokio::time::sleep(LOCK_PAUSE).await;
    }
}

/// The side table's name. One that would be too long is cut and told apart by a hash.
fn side_name(table: &str) -> String {
    if PREFIX.len() + table.len() <= MOST_NAME {
        return format!("{PREFIX}{table}");
    }
    // FNV-1a: it has to be the same in every build.
    let hash = table.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let room = MOST_NAME - PREFIX.len() - 17;
    let cut = (0..=room).rev().find(|at| table.is_char_boundary(*at)).unwrap_or(0);
    format!("{PREFIX}{}_{hash:016x}", &table[..cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_stay_within_the_limit_and_apart() {
        let (a, b) = ("ü".repeat(30) + "a", "ü".repeat(30) + "b");
        assert!(side_name(&a).len() <= MOST_NAME);
        assert_ne!(side_name(&a), side_name(&b));
        assert_eq!(side_name("orders"), "_faucet_overwrite_orders");
    }
}
