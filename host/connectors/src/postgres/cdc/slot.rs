//! The replication slot: what it is, whether it can serve this stream, how it is made and dropped.

use faucet_core::error::{Error, Result};
use faucet_core::mirror::RESYNC;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::Client;

use super::blockers::{self, FIRST_WORD, NEXT_WORD};
use super::error::{
    SLOT_ACTIVE, SLOT_AHEAD, SLOT_LOST, SLOT_MISSING, SLOT_PLUGIN, SLOT_UNFINISHED, SLOT_WRONG_DATABASE,
    STREAM_UNEXPECTED,
};
use super::lsn::Lsn;
use super::wire::{self, Wire};
use crate::postgres::error::{CONFLICT, from_driver};
use crate::postgres::name::quoted;

/// How often a slot that somebody else makes is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// A slot as `pg_replication_slots` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) name: String,
    plugin: Option<String>,
    database: Option<String>,
    wal_status: Option<String>,
    two_phase: bool,
    active_pid: Option<i32>,
    /// Why the server gave it up, by the server's own word.
    invalidated: Option<String>,
    /// Every transaction that ends at or before it was given up.
    pub(super) confirmed: Option<Lsn>,
}

/// `two_phase` came with PostgreSQL 14, which is required anyway. Columns that only newer servers have are read as JSON.
const FIND: &str = "SELECT plugin::text, database::text, wal_status, two_phase, active_pid, confirmed_flush_lsn::text, \
                      COALESCE(pg_catalog.to_jsonb(s) ->> 'invalidation_reason', \
                        CASE pg_catalog.to_jsonb(s) ->> 'conflicting' WHEN 'true' THEN 'conflicting' END) \
                    FROM pg_catalog.pg_replication_slots s WHERE slot_name = $1::text";

impl Slot {
    /// The slot of exactly that name.
    pub(super) async fn find(client: &Client, name: &str) -> Result<Option<Self>> {
        let row = client.query_opt(FIND, &[&name]).await.map_err(|e| from_driver(&e))?;
        Ok(row.map(|row| Self {
            name: name.to_owned(),
            plugin: row.get(0),
            database: row.get(1),
            wal_status: row.get(2),
            two_phase: row.get(3),
            active_pid: row.get(4),
            confirmed: row.get::<_, Option<&str>>(5).and_then(|text| text.parse().ok()),
            invalidated: row.get(6),
        }))
    }

    /// Whether it is one for changes of `database` as this source asks for them.
    fn check_kind(&self, database: &str) -> Result<()> {
        let name = &self.name;
        if self.plugin.as_deref() != Some("pgoutput") {
            let what = self.plugin.as_deref().map_or("is a physical slot".into(), |p| format!("is for plugin {p}"));
            return Err(Error::new(&SLOT_PLUGIN, format!("slot \"{name}\" {what}, not for pgoutput"))
                .hint("choose another `slot_name`"));
        }
        if self.database.as_deref() != Some(database) {
            let other = self.database.as_deref().unwrap_or("?");
            let text = format!("slot \"{name}\" streams database \"{other}\", not \"{database}\"");
            return Err(Error::new(&SLOT_WRONG_DATABASE, text)
                .hint("choose another `slot_name`, or the other database in `connection_url`"));
        }
        Ok(())
    }

    /// Whether it can serve a stream of `database`; the position it has kept its log from.
    pub(super) fn check(&self, database: &str) -> Result<Lsn> {
        self.check_kind(database)?;
        let name = &self.name;
        if self.two_phase {
            return Err(Error::new(&STREAM_UNEXPECTED, format!("slot \"{name}\" was made with two_phase = true"))
                .hint("choose another `slot_name`, and let faucet create the slot"));
        }
        match (self.confirmed, self.active_pid) {
            _ if self.wal_status.as_deref() == Some("lost") => Err(lost(name, self.invalidated.as_deref())),
            (Some(confirmed), _) => Ok(confirmed),
            (None, Some(pid)) => Err(unfinished(name, pid)),
            (None, None) => Err(lost(name, self.invalidated.as_deref())),
        }
    }

    /// Whether its log still holds everything after `bookmark`.
    pub(super) fn check_holds(&self, confirmed: Lsn, bookmark: Lsn) -> Result<()> {
        if confirmed <= bookmark {
            return Ok(());
        }
        let text = format!(
            "slot \"{}\" stands at {confirmed}, after the stored bookmark {bookmark}: the changes in between are gone",
            self.name
        );
        Err(Error::new(&SLOT_AHEAD, text).hint(RESYNC))
    }

    /// The error that says who uses it.
    pub(super) fn active(name: &str, pid: Option<i32>) -> Error {
        let who = pid.map(|pid| format!(" (server process {pid})")).unwrap_or_default();
        Error::new(&SLOT_ACTIVE, format!("slot \"{name}\" is in use by another session{who}"))
            .hint("stop the other reader, or give each pipeline a `slot_name` of its own")
    }

    /// The process that streams from it.
    pub(super) fn active_pid(&self) -> Option<i32> {
        self.active_pid
    }
}

fn unfinished(name: &str, pid: i32) -> Error {
    let text = format!("slot \"{name}\" is still being created, by server process {pid}");
    Error::new(&SLOT_UNFINISHED, text).hint(format!(
        "end the transactions it waits for, or give up the creation with `SELECT pg_terminate_backend({pid})`"
    ))
}

fn lost(name: &str, reason: Option<&str>) -> Error {
    let why = match reason {
        Some("idle_timeout") => "nobody read it for as long as the server's idle_replication_slot_timeout says",
        Some("wal_level_insufficient") => "wal_level was lowered on the primary",
        // One word for both of the last in PostgreSQL 16.
        Some("rows_removed" | "conflicting") => {
            "its primary removed catalog rows that it needs, or doesn't log enough: a standby with logical slots needs \
             hot_standby_feedback = on and a slot at its primary, and a primary with wal_level = logical"
        }
        _ => "the log that it needs was removed; max_slot_wal_keep_size says how much is kept",
    };
    let reason = reason.map(|word| format!(" ({word})")).unwrap_or_default();
    Error::new(&SLOT_LOST, format!("the server has given slot \"{name}\" up{reason}: {why}")).hint(RESYNC)
}

/// The error for a slot that isn't there and must not be created.
pub(super) fn missing(name: &str, with_bookmark: bool) -> Error {
    let error = Error::new(&SLOT_MISSING, format!("replication slot \"{name}\" does not exist"));
    if with_bookmark {
        error.hint(format!("a bookmark is stored, and a new slot would skip the changes since: {RESYNC}"))
    } else {
        error.hint("set `create_slot_if_missing: true`, or create it with pg_create_logical_replication_slot")
    }
}

/// How long a slot lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// As long as its session.
    Temporary,
    /// Until it is dropped.
    Permanent,
    /// The same, on the standbys too.
    Failover,
}

/// Creates a slot; where its log begins.
///
/// The server waits until every transaction that runs now has ended, so a query that starts after this sees all of those
/// that end before the position.
/// Whom it waits for is asked of `session`.
pub(super) async fn create(wire: &mut Wire, session: &Client, name: &str, life: Life) -> Result<Lsn> {
    let quoted = quoted(name);
    let sql = match life {
        Life::Temporary => format!("CREATE_REPLICATION_SLOT {quoted} TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT"),
        Life::Permanent => format!("CREATE_REPLICATION_SLOT {quoted} LOGICAL pgoutput NOEXPORT_SNAPSHOT"),
        // Options in this form came with PostgreSQL 15, and this one with 17.
        Life::Failover => format!("CREATE_REPLICATION_SLOT {quoted} LOGICAL pgoutput (SNAPSHOT 'nothing', FAILOVER)"),
    };
    // So that a server whose client is gone ends the creation, rather than waits on and leaves a slot that nobody knows of.
    // Not every system that it runs on can look. The clock starts with a statement, which creating a slot is not.
    let _ = wire.query("SET client_connection_check_interval = '500ms'").await;
    let _ = wire.query("SELECT").await;
    let rows = name_who_is_waited_for(wire, session, name, &sql).await?;
    let _ = wire.query("SET client_connection_check_interval = 0").await;
    let position = rows.first().and_then(|row| row.get(1)).and_then(Option::as_deref);
    position.and_then(|text| text.parse().ok()).ok_or_else(|| lost(name, None))
}

async fn name_who_is_waited_for(wire: &mut Wire, session: &Client, name: &str, sql: &str) -> Result<Vec<wire::Row>> {
    let pid = wire.pid();
    let create = wire.query(sql);
    tokio::pin!(create);
    let mut patience = FIRST_WORD;
    loop {
        match timeout(patience, &mut create).await {
            Ok(rows) => return rows,
            Err(_) => {
                tracing::warn!(slot = name, "creating the slot waits for {}", blockers::of_process(session, pid).await)
            }
        }
        patience = NEXT_WORD;
    }
}

/// Waits until a slot that `error` says is still being created is made, or given up.
///
/// # Errors
/// `error`, if it says something else.
pub(super) async fn until_made(session: &Client, name: &str, error: Error) -> Result<()> {
    if error.code() != &SLOT_UNFINISHED {
        return Err(error);
    }
    let mut word = Instant::now() + FIRST_WORD;
    while let Some(Slot { confirmed: None, active_pid: Some(pid), .. }) = Slot::find(session, name).await? {
        if Instant::now() >= word {
            let others = blockers::of_process(session, pid).await;
            tracing::warn!(slot = name, "the slot is being created by server process {pid}, which waits for {others}");
            word = Instant::now() + NEXT_WORD;
        }
        sleep(LOOK_AGAIN).await;
    }
    Ok(())
}

/// Drops the slot of exactly that name; whether there was one. A slot that is in use stays.
///
/// # Errors
/// `postgres.slot_active`, for a slot of another kind or database what [`Slot::check`] says, or failures of the connection.
pub(super) async fn drop_slot(client: &Client, name: &str) -> Result<bool> {
    let Some(slot) = Slot::find(client, name).await? else {
        return Ok(false);
    };
    let database: String =
        client.query_one("SELECT pg_catalog.current_database()::text", &[]).await.map_err(|e| from_driver(&e))?.get(0);
    slot.check_kind(&database)?;
    let dropped = client.execute("SELECT pg_catalog.pg_drop_replication_slot($1)", &[&name]).await;
    match dropped.map_err(|e| from_driver(&e)) {
        Ok(_) => Ok(true),
        Err(error) if error.code() == &CONFLICT => Err(Slot::active(name, slot.active_pid)),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn slot() -> Slot {
        Slot {
            name: "s".into(),
            plugin: Some("pgoutput".into()),
            database: Some("shop".into()),
            wal_status: Some("reserved".into()),
            two_phase: false,
            active_pid: None,
            invalidated: None,
            confirmed: Some(Lsn(100)),
        }
    }

    #[test]
    fn a_slot_that_can_not_serve_says_why() {
        assert_eq!(slot().check("shop").unwrap(), Lsn(100));
        let code = |slot: Slot| slot.check("shop").unwrap_err().code().id;
        assert_eq!(code(Slot { plugin: None, ..slot() }), "postgres.slot_plugin");
        assert_eq!(code(Slot { plugin: Some("wal2json".into()), ..slot() }), "postgres.slot_plugin");
        assert_eq!(code(Slot { database: Some("other".into()), ..slot() }), "postgres.slot_wrong_database");
        assert_eq!(code(Slot { wal_status: Some("lost".into()), ..slot() }), "postgres.slot_lost");
        assert_eq!(code(Slot { confirmed: None, ..slot() }), "postgres.slot_lost");
        assert_eq!(code(Slot { confirmed: None, active_pid: Some(7), ..slot() }), "postgres.slot_unfinished");
        assert_eq!(code(Slot { two_phase: true, ..slot() }), "postgres.stream_unexpected");
    }

    #[test]
    fn a_slot_past_the_bookmark_is_refused() {
        assert!(slot().check_holds(Lsn(100), Lsn(100)).is_ok());
        let error = slot().check_holds(Lsn(101), Lsn(100)).unwrap_err();
        assert_eq!(error.code().id, "postgres.slot_ahead");
    }
}
