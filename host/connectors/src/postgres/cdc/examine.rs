//! What `faucet doctor` looks at: server, role, [`publication`], [`tables`] and slot. Nothing is changed.

mod publication;
mod tables;

use faucet_core::error::{Error, Result};
use faucet_core::mirror::RESYNC;
use faucet_core::ports::{Finding, Grade};
use std::time::Duration;
use tokio_postgres::{Client, Row};

use super::blockers;
use super::capture::SHOWN;
use super::config::PostgresCdcConfig;
use super::error::{SLOT_UNFINISHED, decoding};
use super::lsn::Place;
use super::preflight;
use super::slot::Slot;
use super::wire::Wire;
use crate::postgres::endpoint::Endpoint;
use crate::postgres::error::{ServerError, from_driver};
use crate::postgres::name::quoted;

/// Log kept for a slot from which on it is worth a word, in bytes.
const MUCH_LOG: i64 = 1 << 30;

/// How long the log is read to see whether it can be.
const PEEK: Duration = Duration::from_secs(5);

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
    findings.extend(publication::examine(client, &config.publication_name, bookmark.is_some()).await?);
    findings.extend(tables::examine(client, &config.publication_name).await?);
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
        Err(error) if error.code() == &SLOT_UNFINISHED => {
            return Ok(vec![unfinished(client, &slot, subject, &error).await]);
        }
        Err(error) => return Ok(vec![Finding::error(subject, &error)]),
    };
    let mut findings = vec![match bookmark.map(|bookmark| slot.check_holds(confirmed, bookmark.lsn)) {
        Some(Err(error)) => Finding::error(&subject, &error),
        Some(Ok(())) | None => Finding::fine(&subject, reader(&slot)),
    }];
    let row = one(client, SLOT, &[&name]).await?;
    findings.push(kept(&subject, &row));
    if slot.active_pid().is_none() {
        findings.push(decodes(client, config, &subject).await);
    }
    if config.failover && row.get::<_, Option<&str>>(6) != Some("true") {
        findings.push(Finding::warning(
            &subject,
            "was made without failover, so a promoted standby won't have it",
            format!(
                "{RESYNC}; or alter it over a replication connection: `ALTER_REPLICATION_SLOT {} (FAILOVER)`",
                quoted(name)
            ),
        ));
    }
    Ok(findings)
}

/// Whether the server can read its log from the slot's position for this publication. Nothing is taken from the slot.
async fn decodes(client: &Client, config: &PostgresCdcConfig, subject: &str) -> Finding {
    let publication = &config.publication_name;
    let peek = "SELECT pg_catalog.count(*) FROM pg_catalog.pg_logical_slot_peek_binary_changes($1, NULL, 1, \
                'proto_version', '1', 'publication_names', $2)";
    let begin = format!("BEGIN READ ONLY; SET LOCAL statement_timeout = {}", PEEK.as_millis());
    let peeked = async {
        client.batch_execute(&begin).await?;
        client.query_one(peek, &[&config.slot_name, &quoted(publication)]).await
    };
    let peeked = peeked.await;
    let _ = client.batch_execute("ROLLBACK").await;
    match peeked.as_ref().err().and_then(tokio_postgres::Error::as_db_error).map(ServerError::of) {
        None => Finding::fine(subject, "the log can be read from its position on"),
        Some(said) if said.sqlstate == "57014" => {
            let seconds = PEEK.as_secs();
            Finding::fine(subject, format!("the log was read from its position on for {seconds} s, without a fault"))
        }
        Some(said) => Finding::error(subject, &decoding(said, publication)),
    }
}

/// A slot that somebody makes: the next run waits for it.
async fn unfinished(client: &Client, slot: &Slot, subject: String, error: &Error) -> Finding {
    let others = blockers::of_process(client, slot.active_pid().unwrap_or_default()).await;
    let finding = Finding::error(subject, error);
    Finding { grade: Grade::Warning, what: format!("{error}, which waits for {others}"), ..finding }
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
        return Finding::failure(subject, format!("was invalidated ({reason})"), RESYNC);
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
