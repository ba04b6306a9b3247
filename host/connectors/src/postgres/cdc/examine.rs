//! What `faucet doctor` looks at: server, role, publication, tables and slot. Nothing is changed.

use faucet_core::error::Result;
use faucet_core::ports::Finding;
use tokio_postgres::{Client, Row};

use super::capture::SHOWN;
use super::config::PostgresCdcConfig;
use super::lsn::Place;
use super::preflight;
use super::slot::Slot;
use super::wire::Wire;
use crate::postgres::endpoint::Endpoint;
use crate::postgres::error::from_driver;
use crate::postgres::name::qualified;
use crate::postgres::name::quoted;

/// Log kept for a slot from which on it is worth a word, in bytes.
const MUCH_LOG: i64 = 1 << 30;

/// Examines all that a stream of `config`, opened at `bookmark` or anew, depends on.
pub(super) async fn examine(
    config: &PostgresCdcConfig,
    endpoint: &Endpoint,
    client: &Client,
    bookmark: Option<&Place>,
) -> Result<Vec<Finding>> {
    let mut findings = server(client).await?;
    findings.push(role(client).await?);
    findings.push(log(endpoint, bookmark).await);
    findings.extend(publication(client, &config.publication_name).await?);
    findings.extend(tables(client, &config.publication_name).await?);
    findings.extend(slot(client, config, bookmark).await?);
    Ok(findings)
}

/// The log itself, over a replication connection, and whether the bookmark is a place in it.
async fn log(endpoint: &Endpoint, bookmark: Option<&Place>) -> Finding {
    let look = async {
        let mut wire = Wire::connect(endpoint, SHOWN).await?;
        let here = preflight::identify(&mut wire).await?;
        if let Some(bookmark) = bookmark {
            preflight::same_log(&mut wire, &here, bookmark).await?;
        }
        wire.close().await;
        Ok(here)
    };
    let looked: Result<Place> = look.await;
    match (looked, bookmark) {
        (Err(error), _) => Finding::error("replication connection", &error),
        (Ok(here), None) => Finding::fine("replication connection", format!("the log ends at {}", here.lsn)),
        (Ok(here), Some(bookmark)) => {
            let what = format!("the log ends at {}, the stored bookmark {} is in it", here.lsn, bookmark.lsn);
            Finding::fine("replication connection", what)
        }
    }
}

const SERVER: &str = "SELECT pg_catalog.current_setting('server_version_num')::int4, \
    pg_catalog.current_setting('server_version'), pg_catalog.current_setting('wal_level'), \
    pg_catalog.current_database()::text, pg_catalog.current_setting('max_replication_slots')::int4, \
    (SELECT pg_catalog.count(*)::int4 FROM pg_catalog.pg_replication_slots), \
    pg_catalog.current_setting('max_wal_senders')::int4, \
    (SELECT pg_catalog.count(*)::int4 FROM pg_catalog.pg_stat_replication), \
    pg_catalog.current_setting('max_slot_wal_keep_size')";

async fn server(client: &Client) -> Result<Vec<Finding>> {
    let row = one(client, SERVER, &[]).await?;
    let text = |index: usize| row.get::<_, &str>(index);
    let (version, database) = (text(1), text(3));
    let mut findings = vec![match preflight::check_version(row.get(0), version) {
        Ok(()) => Finding::fine("server", format!("PostgreSQL {version}, database \"{database}\"")),
        Err(error) => Finding::error("server", &error),
    }];
    findings.push(match preflight::check_wal_level(text(2)) {
        Ok(()) => Finding::fine("wal_level", "logical"),
        Err(error) => Finding::error("wal_level", &error),
    });
    findings.push(room("replication slots", "max_replication_slots", row.get(5), row.get(4)));
    findings.push(room("walsenders", "max_wal_senders", row.get(7), row.get(6)));
    findings.push(match text(8) {
        "-1" => Finding::warning(
            "max_slot_wal_keep_size",
            "not set: a slot that nobody reads keeps log until the disk is full",
            "set it to what the disk can spare; a slot that falls further behind is then lost instead",
        ),
        size => Finding::fine("max_slot_wal_keep_size", size),
    });
    Ok(findings)
}

fn room(subject: &str, setting: &str, used: i32, most: i32) -> Finding {
    let what = format!("{used} of {most} in use");
    match used < most {
        true => Finding::fine(subject, what),
        false => Finding::warning(subject, what, format!("raise `{setting}` and restart the server, or free one")),
    }
}

/// Superusers, roles with REPLICATION, and members of the role that managed services have instead.
async fn role(client: &Client) -> Result<Finding> {
    let sql = "SELECT current_user::text, r.rolsuper OR r.rolreplication OR EXISTS (
                 SELECT FROM pg_catalog.pg_roles m WHERE m.rolname = 'rds_replication'
                 AND pg_catalog.pg_has_role(m.oid, 'MEMBER'))
               FROM pg_catalog.pg_roles r WHERE r.rolname = current_user";
    let row = one(client, sql, &[]).await?;
    let (name, may): (&str, bool) = (row.get(0), row.get(1));
    Ok(match may {
        true => Finding::fine("role", format!("\"{name}\" may replicate")),
        false => Finding::failure(
            "role",
            format!("\"{name}\" may not replicate"),
            format!("run `ALTER ROLE {} REPLICATION` as superuser", quoted(name)),
        ),
    })
}

async fn publication(client: &Client, name: &str) -> Result<Vec<Finding>> {
    let subject = format!("publication \"{name}\"");
    if let Err(error) = preflight::publication(client, name).await {
        return Ok(vec![Finding::error(subject, &error)]);
    }
    let sql = "SELECT pubinsert, pubupdate, pubdelete, pubtruncate FROM pg_catalog.pg_publication WHERE pubname = $1";
    let row = one(client, sql, &[&name]).await?;
    let kinds = ["insert", "update", "delete", "truncate"];
    let left_out: Vec<&str> = (0..4).filter(|at| !row.get::<_, bool>(*at)).map(|at| kinds[at]).collect();
    let mut findings = vec![if left_out.is_empty() {
        Finding::fine(subject.clone(), "publishes every kind of change")
    } else {
        Finding::warning(
            subject.clone(),
            format!("leaves out: {}", left_out.join(", ")),
            format!("run `ALTER PUBLICATION {} SET (publish = '{}')`", quoted(name), kinds.join(", ")),
        )
    }];
    findings.extend(filters(client, name).await?.iter().map(|row| filtered(&subject, row)));
    Ok(findings)
}

/// Row filters and column lists, which came with PostgreSQL 15.
async fn filters(client: &Client, publication: &str) -> Result<Vec<Row>> {
    if !preflight::has_column(client, "pg_catalog.pg_publication_rel", "prqual").await? {
        return Ok(Vec::new());
    }
    let sql = "SELECT n.nspname::text, c.relname::text, pg_catalog.pg_get_expr(r.prqual, r.prrelid), (
                 SELECT pg_catalog.string_agg(a.attname, ', ' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
                 WHERE a.attrelid = c.oid AND a.attnum = ANY (r.prattrs::pg_catalog.int2[]))
               FROM pg_catalog.pg_publication_rel r JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid
               JOIN pg_catalog.pg_class c ON c.oid = r.prrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
               WHERE p.pubname = $1::text AND (r.prqual IS NOT NULL OR r.prattrs IS NOT NULL) ORDER BY 1, 2";
    client.query(sql, &[&publication]).await.map_err(|e| from_driver(&e))
}

fn filtered(subject: &str, row: &Row) -> Finding {
    let table = qualified(Some(row.get(0)), row.get(1));
    let (filter, columns): (Option<&str>, Option<&str>) = (row.get(2), row.get(3));
    let rows = filter.map(|filter| format!("rows of {table} WHERE {filter}"));
    let columns = columns.map(|columns| format!("columns ({columns}) of {table}"));
    let parts: Vec<String> = rows.into_iter().chain(columns).collect();
    let what = format!("covers only {}; a mirror's snapshot selects the same", parts.join(" and "));
    Finding::fine(subject, what)
}

const TABLES: &str = "\
SELECT DISTINCT n.nspname::text, c.relname::text, c.relreplident, EXISTS (
    SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisprimary),
  pg_catalog.has_table_privilege(c.oid, 'SELECT')
FROM pg_catalog.pg_publication_tables p
JOIN pg_catalog.pg_namespace n ON n.nspname = p.schemaname
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = p.tablename
WHERE p.pubname = $1::text ORDER BY 1, 2";

async fn tables(client: &Client, publication: &str) -> Result<Vec<Finding>> {
    let rows = client.query(TABLES, &[&publication]).await.map_err(|e| from_driver(&e))?;
    Ok(rows.iter().flat_map(table).collect())
}

fn table(row: &Row) -> Vec<Finding> {
    let table = qualified(Some(row.get(0)), row.get(1));
    let (identity, has_key, readable) = (row.get::<_, i8>(2) as u8, row.get::<_, bool>(3), row.get::<_, bool>(4));
    let subject = format!("table {table}");
    let mut findings = vec![match (identity, has_key) {
        (b'f', _) => Finding::fine(&subject, "replica identity full"),
        (b'i', _) => Finding::fine(&subject, "replica identity is an index"),
        (b'd', true) => Finding::fine(&subject, "replica identity is the primary key"),
        _ => Finding::warning(
            &subject,
            "has no replica identity: the server refuses its updates and deletes while it is published",
            format!("add a primary key, or run `ALTER TABLE {table} REPLICA IDENTITY FULL`"),
        ),
    }];
    if !readable {
        let what = "this role may not read it, so it can't be snapshotted";
        findings.push(Finding::failure(&subject, what, format!("run `GRANT SELECT ON {table} TO` the role")));
    }
    findings
}

/// Columns that only newer servers have are read as JSON.
const SLOT: &str = "\
SELECT s.wal_status, s.restart_lsn::text, pg_catalog.pg_wal_lsn_diff(here, s.restart_lsn)::int8,
  pg_catalog.pg_wal_lsn_diff(here, s.confirmed_flush_lsn)::int8, s.safe_wal_size,
  pg_catalog.to_jsonb(s) ->> 'invalidation_reason', pg_catalog.to_jsonb(s) ->> 'failover'
FROM pg_catalog.pg_replication_slots s, LATERAL (SELECT CASE WHEN pg_catalog.pg_is_in_recovery()
  THEN pg_catalog.pg_last_wal_receive_lsn() ELSE pg_catalog.pg_current_wal_lsn() END AS here) AS log
WHERE s.slot_name = $1::text";

async fn slot(client: &Client, config: &PostgresCdcConfig, bookmark: Option<&Place>) -> Result<Vec<Finding>> {
    let (name, subject) = (&config.slot_name, format!("slot \"{}\"", config.slot_name));
    let Some(slot) = Slot::find(client, name).await? else {
        return Ok(vec![no_slot(config, &subject, bookmark.is_some())]);
    };
    let database: String = one(client, "SELECT pg_catalog.current_database()::text", &[]).await?.get(0);
    let confirmed = match slot.check(&database) {
        Ok(confirmed) => confirmed,
        Err(error) => return Ok(vec![Finding::error(subject, &error)]),
    };
    let mut findings = vec![match bookmark.map(|bookmark| slot.check_holds(confirmed, bookmark.lsn)) {
        Some(Err(error)) => Finding::error(&subject, &error),
        Some(Ok(())) | None => Finding::fine(&subject, reader(&slot)),
    }];
    let row = one(client, SLOT, &[&name]).await?;
    findings.push(kept(&subject, &row));
    if config.failover && row.get::<_, Option<&str>>(6) != Some("true") {
        findings.push(Finding::warning(
            &subject,
            "was made without failover, so a promoted standby won't have it",
            "drop it with `faucet mirror drop` and mirror again, or alter it with ALTER_REPLICATION_SLOT",
        ));
    }
    Ok(findings)
}

fn no_slot(config: &PostgresCdcConfig, subject: &str, has_bookmark: bool) -> Finding {
    match (has_bookmark, config.create_slot_if_missing) {
        (false, true) => Finding::fine(subject, "does not exist yet; the first run makes it"),
        _ => Finding::error(subject, &super::slot::missing(&config.slot_name, has_bookmark)),
    }
}

fn reader(slot: &Slot) -> String {
    match slot.active_pid() {
        Some(pid) => format!("is being read, by server process {pid}"),
        None => "is not being read now".to_owned(),
    }
}

/// The log that the slot keeps: from its restart position on disk, from its confirmed position for the reader.
fn kept(subject: &str, row: &Row) -> Finding {
    let size = |index: usize| row.get::<_, Option<i64>>(index).unwrap_or_default();
    let status = row.get::<_, Option<&str>>(0).unwrap_or("unknown");
    let what = format!(
        "keeps {} of log on disk (restart_lsn {}), its reader is {} behind; wal_status {status}",
        mib(size(2)),
        row.get::<_, Option<&str>>(1).unwrap_or("?"),
        mib(size(3)),
    );
    if let Some(reason) = row.get::<_, Option<&str>>(5) {
        return Finding::failure(subject, format!("was invalidated ({reason})"), "drop it and mirror again");
    }
    let left = row.get::<_, Option<i64>>(4).map(|left| format!("; lost after {} more", mib(left)));
    match status {
        "unreserved" | "lost" => Finding::failure(
            subject,
            what + &left.unwrap_or_default(),
            "run the pipeline now, before the log is removed; raise `max_slot_wal_keep_size`",
        ),
        "extended" => {
            Finding::warning(subject, what + &left.unwrap_or_default(), "run the pipeline, so that it catches up")
        }
        _ if size(2) > MUCH_LOG => {
            Finding::warning(subject, what, "run the pipeline; end transactions that stay open for long at the source")
        }
        _ => Finding::fine(subject, what),
    }
}

fn mib(bytes: i64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let mib = bytes as f64 / f64::from(1 << 20);
    format!("{mib:.1} MiB")
}

async fn one(client: &Client, sql: &str, values: &[&(dyn tokio_postgres::types::ToSql + Sync)]) -> Result<Row> {
    client.query_one(sql, values).await.map_err(|e| from_driver(&e))
}
