//! Of which tables a publication covers only a part: row filters, column lists, and generated columns, which the stream
//! doesn't carry unless they are published.

use faucet_core::error::Result;
use faucet_core::model::TableId;
use faucet_core::ports::Coverage;
use tokio_postgres::{Client, Row};

use super::preflight;
use crate::postgres::error::from_driver;

/// Row filters and column lists came with PostgreSQL 15, published generated columns with 18. Servers before that name
/// generated columns here and don't send them.
fn query(limits: bool) -> String {
    let (columns, filter) = match limits {
        true => ("p.attnames::text[]", "p.rowfilter"),
        false => ("NULL::text[]", "NULL::text"),
    };
    format!(
        "SELECT n.nspname::text, c.relname::text, {columns}, {filter}, \
           pg_catalog.array_agg(a.attname::text ORDER BY a.attnum), \
           pg_catalog.array_agg(a.attgenerated <> '' ORDER BY a.attnum), \
           pg_catalog.current_setting('server_version_num')::int4 >= 180000 \
         FROM pg_catalog.pg_publication_tables p \
         JOIN pg_catalog.pg_namespace n ON n.nspname = p.schemaname \
         JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = p.tablename \
         JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
         WHERE p.pubname = $1::text GROUP BY 1, 2, 3, 4 ORDER BY 1, 2"
    )
}

/// The tables of `publication` that it doesn't cover whole.
pub(super) async fn coverage(client: &Client, publication: &str) -> Result<Vec<Coverage>> {
    let limits = preflight::has_column(client, "pg_catalog.pg_publication_tables", "rowfilter").await?;
    let rows = client.query(&query(limits), &[&publication]).await.map_err(|e| from_driver(&e))?;
    Ok(rows.iter().filter_map(partial).collect())
}

/// The table, unless it is covered whole.
fn partial(row: &Row) -> Option<Coverage> {
    let (published, filter): (Option<Vec<String>>, Option<String>) = (row.get(2), row.get(3));
    let (all, generated): (Vec<String>, Vec<bool>) = (row.get(4), row.get(5));
    let usual: Vec<String> = all.iter().zip(generated).filter(|(_, g)| !g).map(|(name, _)| name.clone()).collect();
    // In the table's order.
    let may_be_sent = if row.get(6) { &all } else { &usual };
    let columns = match published {
        Some(published) => may_be_sent.iter().filter(|name| published.contains(name)).cloned().collect(),
        None => usual.clone(),
    };
    let listed = columns != usual;
    let whole = columns == all && filter.is_none();
    let table = TableId::new(row.get::<_, String>(0), row.get::<_, String>(1));
    (!whole).then_some(Coverage { table, columns, filter, listed })
}
