//! Looks before the stream is opened, in an order that names the real cause first: server, publication, identity.

use faucet_core::error::{Error, Result};
use faucet_core::mirror::RESYNC;
use faucet_core::model::TableId;
use faucet_core::ports::Discovered;
use std::time::Duration;
use tokio_postgres::Client;

use super::error::{OTHER_SERVER, PUBLICATION_EMPTY, PUBLICATION_MISSING, VERSION_UNSUPPORTED, WAL_LEVEL};
use super::lsn::{Lsn, Place};
use super::wire::Wire;
use crate::postgres::error::{PROTOCOL, from_driver};
use crate::postgres::name::quoted;

/// What the server says of itself.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) database: String,
    /// As `server_version_num` has it: 150004 for 15.4.
    pub(super) version: i32,
    /// Zero when it is switched off.
    pub(super) wal_sender_timeout: Duration,
    /// Whether it follows another server.
    pub(super) standby: bool,
}

const SERVER: &str = "SELECT pg_catalog.current_setting('server_version_num')::int4, \
                      pg_catalog.current_setting('server_version'), pg_catalog.current_setting('wal_level'), \
                      pg_catalog.current_database()::text, (SELECT setting::int8 FROM pg_catalog.pg_settings \
                      WHERE name = 'wal_sender_timeout'), pg_catalog.pg_is_in_recovery()";

/// Checks version and log level.
pub(super) async fn server(client: &Client) -> Result<Server> {
    let row = client.query_one(SERVER, &[]).await.map_err(|e| from_driver(&e))?;
    let (number, version, level): (i32, &str, &str) = (row.get(0), row.get(1), row.get(2));
    check_version(number, version)?;
    check_wal_level(level)?;
    let timeout = u64::try_from(row.get::<_, i64>(4)).unwrap_or_default();
    let wal_sender_timeout = Duration::from_millis(timeout);
    Ok(Server { database: row.get(3), version: number, wal_sender_timeout, standby: row.get(5) })
}

/// Checks that the log has what a stream is made of.
pub(super) fn check_wal_level(level: &str) -> Result<()> {
    if level == "logical" {
        return Ok(());
    }
    let text = format!("the server's wal_level is \"{level}\", a stream needs \"logical\"");
    Err(Error::new(&WAL_LEVEL, text)
        .hint("run `ALTER SYSTEM SET wal_level = 'logical'` as superuser and restart the server"))
}

/// Checks that slots of this server can fail over.
pub(super) fn check_failover(number: i32) -> Result<()> {
    if number >= 170_000 {
        return Ok(());
    }
    let (major, text) = (number / 10_000, "`failover: true` needs PostgreSQL 17 or newer");
    Err(Error::new(&VERSION_UNSUPPORTED, format!("{text}, and this is {major}")).hint("remove `failover`"))
}

/// Checks that the server is new enough.
pub(super) fn check_version(number: i32, version: &str) -> Result<()> {
    if number >= 140_000 {
        return Ok(());
    }
    let text = format!("the server is PostgreSQL {version}; a change stream needs version 14 or newer");
    Err(Error::new(&VERSION_UNSUPPORTED, text).hint("upgrade the server"))
}

/// Checks that the publication is there and covers something.
pub(super) async fn publication(client: &Client, name: &str) -> Result<()> {
    let sql = "SELECT p.puballtables, p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate, p.oid, \
               EXISTS (SELECT FROM pg_catalog.pg_publication_rel r WHERE r.prpubid = p.oid) \
               FROM pg_catalog.pg_publication p WHERE p.pubname = $1::text";
    let row = client.query_opt(sql, &[&name]).await.map_err(|e| from_driver(&e))?;
    let row = row.ok_or_else(|| {
        let create = format!("CREATE PUBLICATION {} FOR TABLE schema.table", quoted(name));
        Error::new(&PUBLICATION_MISSING, format!("publication \"{name}\" does not exist"))
            .hint(format!("run `{create}` in the source database, naming the tables to stream"))
    })?;
    let (all, every_kind, oid, listed): (bool, bool, u32, bool) = (row.get(0), row.get(1), row.get(2), row.get(3));
    if !every_kind {
        tracing::warn!(publication = name, "the publication leaves some kinds of change out (its `publish` parameter)");
    }
    if all || listed || covers_schemas(client, oid).await? {
        return Ok(());
    }
    Err(Error::new(&PUBLICATION_EMPTY, format!("publication \"{name}\" covers no table"))
        .hint(format!("run `ALTER PUBLICATION {} ADD TABLE schema.table`", quoted(name))))
}

/// The same error once something was streamed: a publication made anew doesn't bring back what happened without one.
pub(super) fn gone(error: Error, name: &str, begun: bool) -> Error {
    let mend = match error.code() {
        code if code == &PUBLICATION_MISSING => format!("CREATE PUBLICATION {} FOR TABLE schema.table", quoted(name)),
        code if code == &PUBLICATION_EMPTY => format!("ALTER PUBLICATION {} ADD TABLE schema.table", quoted(name)),
        _ => return error,
    };
    match begun {
        true => error.hint(format!("run `{mend}`; what changed meanwhile is in no stream, so then {RESYNC}")),
        false => error,
    }
}

/// Whether this server's catalog has `column` in `table`.
pub(super) async fn has_column(client: &Client, table: &str, column: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_attribute \
               WHERE attrelid = pg_catalog.to_regclass($1::text) AND attname = $2::text AND NOT attisdropped)";
    Ok(client.query_one(sql, &[&table, &column]).await.map_err(|e| from_driver(&e))?.get(0))
}

/// Publications of whole schemas came with PostgreSQL 15.
async fn covers_schemas(client: &Client, publication: u32) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_class WHERE oid = \
               pg_catalog.to_regclass('pg_catalog.pg_publication_namespace'))";
    let known: bool = client.query_one(sql, &[]).await.map_err(|e| from_driver(&e))?.get(0);
    if !known {
        return Ok(false);
    }
    let sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_publication_namespace WHERE pnpubid = $1)";
    Ok(client.query_one(sql, &[&publication]).await.map_err(|e| from_driver(&e))?.get(0))
}

/// The tables of a publication, partitions as the partitioned table they belong to.
pub(super) async fn tables(client: &Client, publication: &str) -> Result<Vec<Discovered>> {
    let sql = "WITH published AS (
                 SELECT DISTINCT COALESCE(pg_catalog.pg_partition_root(c.oid)::pg_catalog.oid, c.oid) AS oid
                 FROM pg_catalog.pg_publication_tables p
                 JOIN pg_catalog.pg_namespace n ON n.nspname = p.schemaname
                 JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = p.tablename
                 WHERE p.pubname = $1::text)
               SELECT n.nspname::text, c.relname::text, ARRAY(
                 SELECT a.attname::text FROM pg_catalog.pg_index i
                 CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::pg_catalog.int2[]) WITH ORDINALITY AS k (attnum, place)
                 JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
                 WHERE i.indrelid = c.oid AND i.indisprimary AND k.place <= i.indnkeyatts ORDER BY k.place)
               FROM published JOIN pg_catalog.pg_class c ON c.oid = published.oid
               JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace ORDER BY 1, 2";
    let rows = client.query(sql, &[&publication]).await.map_err(|e| from_driver(&e))?;
    let found = |row: &tokio_postgres::Row| Discovered {
        table: TableId::new(row.get::<_, String>(0), row.get::<_, String>(1)),
        key: row.get(2),
    };
    Ok(rows.iter().map(found).collect())
}

/// Who the server is, and where its log ends.
pub(super) async fn identify(wire: &mut Wire) -> Result<Place> {
    let rows = wire.query("IDENTIFY_SYSTEM").await?;
    let read = || {
        let [system, timeline, end, ..] = rows.first()?.as_slice() else { return None };
        Some(Place {
            lsn: end.as_deref()?.parse().ok()?,
            system: system.clone()?,
            timeline: timeline.as_deref()?.parse().ok()?,
        })
    };
    read().ok_or_else(|| Error::new(&PROTOCOL, "the server's answer to IDENTIFY_SYSTEM is not understood"))
}

/// Checks that `bookmark` is a place in the log of the server, whose log ends at `server.lsn`.
pub(super) async fn same_log(wire: &mut Wire, server: &Place, bookmark: &Place) -> Result<()> {
    if server.system != bookmark.system {
        let text = format!("the bookmark is one of server {}, and this is server {}", bookmark.system, server.system);
        return Err(other_server(&text));
    }
    if server.timeline < bookmark.timeline {
        let (ours, theirs) = (bookmark.timeline, server.timeline);
        return Err(other_server(&format!("the bookmark is on timeline {ours}, the server only on {theirs}")));
    }
    if server.timeline > bookmark.timeline {
        let rows = wire.query(&format!("TIMELINE_HISTORY {}", server.timeline)).await?;
        let history = rows.first().and_then(|row| row.get(1)).cloned().flatten().unwrap_or_default();
        check_history(&history, bookmark)?;
    }
    if bookmark.lsn > server.lsn {
        let text = format!("the bookmark is at {}, and the server's log ends at {}", bookmark.lsn, server.lsn);
        return Err(other_server(&text));
    }
    Ok(())
}

/// A history file names, for each timeline before, the position where it was left.
fn check_history(history: &str, bookmark: &Place) -> Result<()> {
    let left = history.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let timeline: u32 = words.next()?.parse().ok()?;
        let left: Lsn = words.next()?.parse().ok()?;
        (timeline == bookmark.timeline).then_some(left)
    });
    match left {
        Some(left) if bookmark.lsn <= left => Ok(()),
        Some(left) => {
            let (timeline, lsn) = (bookmark.timeline, bookmark.lsn);
            Err(other_server(&format!("timeline {timeline} was left at {left}, before the bookmark at {lsn}")))
        }
        None => Err(other_server(&format!("timeline {} is not in the server's history", bookmark.timeline))),
    }
}

fn other_server(text: &str) -> Error {
    Error::new(&OTHER_SERVER, text).hint(format!("check `connection_url`; if it is right, {RESYNC}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn servers_before_14_are_refused() {
        assert!(check_version(140_000, "14.0").is_ok());
        let error = check_version(130_014, "13.14").unwrap_err();
        assert_eq!(error.code().id, "postgres.version_unsupported");
        assert!(error.to_string().contains("13.14"));
        assert!(check_failover(170_000).is_ok());
        assert_eq!(check_failover(160_010).unwrap_err().code().id, "postgres.version_unsupported");
    }

    #[test]
    fn a_bookmark_past_the_fork_is_refused() {
        let history = "1\t0/3000000\tno recovery target specified\n\n2\t0/5000000\tbefore 2026\n";
        let at = |timeline, lsn| Place { lsn: Lsn(lsn), system: "1".into(), timeline };
        assert!(check_history(history, &at(1, 0x300_0000)).is_ok());
        assert!(check_history(history, &at(2, 0x400_0000)).is_ok());
        for place in [at(1, 0x300_0001), at(2, 0x500_0001), at(7, 1)] {
            assert_eq!(check_history(history, &place).unwrap_err().code().id, "postgres.other_server");
        }
    }
}
