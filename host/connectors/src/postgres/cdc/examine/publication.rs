//! The publication: what it covers and what it leaves out.

use faucet_core::error::Result;
use faucet_core::mirror::RESYNC;
use faucet_core::ports::Finding;
use tokio_postgres::{Client, Row};

use super::{one, preflight};
use crate::postgres::error::from_driver;
use crate::postgres::name::{qualified, quoted};

/// Kinds of change, and what a copy is like that doesn't get them.
const KINDS: [(&str, &str); 4] = [
    ("insert", "new rows don't arrive"),
    ("update", "changed rows keep their old values"),
    ("delete", "deleted rows stay"),
    ("truncate", "the rows of a truncated table stay"),
];

/// Examines the publication called `name`; `begun` says that something was streamed already.
pub(super) async fn examine(client: &Client, name: &str, begun: bool) -> Result<Vec<Finding>> {
    let subject = format!("publication \"{name}\"");
    if let Err(error) = preflight::publication(client, name).await {
        return Ok(vec![Finding::error(subject, &preflight::gone(error, name, begun))]);
    }
    let sql = "SELECT pubinsert, pubupdate, pubdelete, pubtruncate \
               FROM pg_catalog.pg_publication WHERE pubname = $1";
    let row = one(client, sql, &[&name]).await?;
    let mut findings = vec![kinds(&subject, name, &row)];
    findings.extend(filters(client, name).await?.iter().map(|row| filtered(&subject, row)));
    Ok(findings)
}

fn kinds(subject: &str, name: &str, row: &Row) -> Finding {
    let left_out: Vec<&(&str, &str)> = (0..4).filter(|at| !row.get::<_, bool>(*at)).map(|at| &KINDS[at]).collect();
    if left_out.is_empty() {
        return Finding::fine(subject, "publishes every kind of change");
    }
    let list = |words: Vec<&str>, between: &str| words.join(between);
    let what = format!(
        "leaves out: {}. At the destination {}",
        list(left_out.iter().map(|(kind, _)| *kind).collect(), ", "),
        list(left_out.iter().map(|(_, follows)| *follows).collect(), ", ")
    );
    let all = list(KINDS.iter().map(|(kind, _)| *kind).collect(), ", ");
    let alter = format!("run `ALTER PUBLICATION {} SET (publish = '{all}')`", quoted(name));
    Finding::warning(
        subject,
        what,
        format!("{alter}; a copy that has begun already lacks what was left out: then {RESYNC}"),
    )
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
