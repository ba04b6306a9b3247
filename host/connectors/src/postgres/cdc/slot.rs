//! The replication slot: what it is, whether it can serve this stream, how it is made and dropped.

use faucet_core::error::{Error, Result};
use std::time::Duration;
use tokio_postgres::Client;

use super::error::{
    SLOT_ACTIVE, SLOT_AHEAD, SLOT_LOST, SLOT_MISSING, SLOT_PLUGIN, SLOT_WRONG_DATABASE, STREAM_UNEXPECTED,
};
use super::lsn::Lsn;
use super::wire::Wire;
use crate::postgres::error::{CONFLICT, from_driver};
use crate::postgres::name::quoted;

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

    /// Whether it can serve a stream of `database`; the position it has kept its log from.
    pub(super) fn check(&self, database: &str) -> Result<Lsn> {
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
        if self.two_phase {
            return Err(Error::new(&STREAM_UNEXPECTED, format!("slot \"{name}\" was made with two_phase = true"))
                .hint("choose another `slot_name`, and let faucet create the slot"));
        }
        match self.confirmed.filter(|_| self.wal_status.as_deref() != Some("lost")) {
            Some(confirmed) => Ok(confirmed),
            None => Err(lost(name, self.invalidated.as_deref())),
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
        Err(Error::new(&SLOT_AHEAD, text).hint("remove the pipeline's stored state and mirror again"))
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
    Error::new(&SLOT_LOST, format!("the server has given slot \"{name}\" up{reason}: {why}"))
        .hint("drop the slot, remove the pipeline's stored state and mirror again")
}

/// The error for a slot that isn't there and must not be created.
pub(super) fn missing(name: &str, with_bookmark: bool) -> Error {
    let error = Error::new(&SLOT_MISSING, format!("replication slot \"{name}\" does not exist"));
    if with_bookmark {
        error.hint(
            "a bookmark is stored, so a new slot would skip the changes since: remove the pipeline's stored state and \
             mirror again",
        )
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
pub(super) async fn create(wire: &mut Wire, name: &str, life: Life) -> Result<Lsn> {
    let quoted = quoted(name);
    let sql = match life {
        Life::Temporary => format!("CREATE_REPLICATION_SLOT {quoted} TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT"),
        Life::Permanent => format!("CREATE_REPLICATION_SLOT {quoted} LOGICAL pgoutput NOEXPORT_SNAPSHOT"),
        // Options in this form came with PostgreSQL 15, and this one with 17.
        Life::Failover => format!("CREATE_REPLICATION_SLOT {quoted} LOGICAL pgoutput (SNAPSHOT 'nothing', FAILOVER)"),
    };
    let create = wire.query(&sql);
    tokio::pin!(create);
    let rows = loop {
        match tokio::time::timeout(Duration::from_secs(10), &mut create).await {
            Ok(rows) => break rows?,
            Err(_) => tracing::warn!(
                slot = name,
                "creating the slot waits for transactions that are still open on the source"
            ),
        }
    };
    let position = rows.first().and_then(|row| row.get(1)).and_then(Option::as_deref);
    position.and_then(|text| text.parse().ok()).ok_or_else(|| lost(name, None))
}

/// Drops the slot of exactly that name; whether there was one. A slot that is in use stays.
///
/// # Errors
/// `postgres.slot_active`, or failures of the connection.
pub(super) async fn drop_slot(client: &Client, name: &str) -> Result<bool> {
    let Some(slot) = Slot::find(client, name).await? else {
        return Ok(false);
    };
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
        assert_eq!(code(Slot { two_phase: true, ..slot() }), "postgres.stream_unexpected");
    }

    #[test]
    fn a_slot_past_the_bookmark_is_refused() {
        assert!(slot().check_holds(Lsn(100), Lsn(100)).is_ok());
        let error = slot().check_holds(Lsn(101), Lsn(100)).unwrap_err();
        assert_eq!(error.code().id, "postgres.slot_ahead");
    }
}
