//! What a query reads, for comparing it with what a change stream covers.

use faucet_core::error::{Error, Result};
use serde::{Deserialize, Serialize};
use tokio_postgres::{Client, Column};

use super::lex;
use super::plan::failed;
use super::selection::Selection;
use super::table::{Relation, Tree};
use crate::postgres::error::{TABLE_MISSING, from_driver};

/// What a query reads, by the server's own numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reads {
    /// The cluster's number, where the role may ask for it.
    pub system: Option<String>,
    /// The database's OID and name.
    pub database: (u32, String),
    /// The table that the columns come from; `None` when they come from several or from none.
    pub table: Option<ReadTable>,
    /// Why rows of that table may be left out or computed, where that is so or can't be told.
    pub doubt: Option<String>,
}

/// The table that a query reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTable {
    /// Its OID.
    pub oid: u32,
    /// The partitioned table it belongs to, or itself.
    pub root: u32,
    /// Its name.
    pub name: String,
    /// Tables that inherit from it and are read with it; partitions are not among them.
    pub heirs: Vec<String>,
    /// The columns that are selected as they are, under their own names.
    pub columns: Vec<String>,
}

/// What `query` reads.
///
/// # Errors
/// When it can't be described, such as one of a table that isn't there.
pub async fn of(client: &Client, query: &str) -> Result<Reads> {
    let statement = client.prepare(query).await.map_err(|e| failed(&e))?;
    let sql = "SELECT d.oid, d.datname::text FROM pg_catalog.pg_database d \
               WHERE d.datname = pg_catalog.current_database()";
    let row = client.query_one(sql, &[]).await.map_err(|e| from_driver(&e))?;
    let selection = Selection::parse(query);
    let (oid, only) = match &selection {
        Ok(selection) => (named(client, &selection.table).await?, selection.only),
        Err(_) => (common(statement.columns()), false),
    };
    let table = match oid {
        Some(oid) => table(client, oid, only, statement.columns()).await?,
        None => None,
    };
    let system = super::split::system(client).await;
    let doubt = selection.err().filter(|_| !only_sorts(query)).map(str::to_owned);
    Ok(Reads { system, database: (row.get(0), row.get(1)), table, doubt })
}

/// Whether all that keeps a query from being a plain selection is the order of its rows.
fn only_sorts(query: &str) -> bool {
    let tokens = lex::tokens(lex::body(query));
    let Some(order) = tokens.iter().position(|token| token.is("order")) else { return false };
    let limits = ["limit", "offset", "fetch", "for"];
    let ends = tokens[order..].iter().all(|token| limits.iter().all(|word| !token.is(word)));
    ends && Selection::parse(&query[..tokens[order].start]).is_ok()
}

async fn named(client: &Client, name: &str) -> Result<Option<u32>> {
    match Relation::find(client, name).await? {
        Some(relation) => Ok(relation.is_table.then_some(relation.oid)),
        None => Err(Error::new(&TABLE_MISSING, format!("there is no table {name}"))),
    }
}

/// The table that all columns with an origin have it in.
fn common(columns: &[Column]) -> Option<u32> {
    let mut origins = columns.iter().filter_map(Column::table_oid);
    let first = origins.next()?;
    origins.all(|origin| origin == first).then_some(first)
}

const TABLE: &str = "\
SELECT n.nspname::text, c.relname::text, COALESCE(pg_catalog.pg_partition_root(c.oid)::pg_catalog.oid, c.oid),
  c.relkind IN ('r', 'p'), c.relkind = 'p',
  ARRAY(SELECT a.attnum FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum),
  ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1";

async fn table(client: &Client, oid: u32, only: bool, columns: &[Column]) -> Result<Option<ReadTable>> {
    let row = client.query_opt(TABLE, &[&oid]).await.map_err(|e| from_driver(&e))?;
    let Some(row) = row.filter(|row| row.get(3)) else { return Ok(None) };
    let (numbers, names): (Vec<i16>, Vec<String>) = (row.get(5), row.get(6));
    let is_own = |number: i16, name: &str| {
        columns.iter().any(|c| c.table_oid() == Some(oid) && c.column_id() == Some(number) && c.name() == name)
    };
    let own = numbers.into_iter().zip(names).filter(|(number, name)| is_own(*number, name)).map(|(_, name)| name);
    let heirs = match row.get::<_, bool>(4) {
        true => Vec::new(),
        false => {
            let tree = Tree::load(client, oid, only).await?;
            let below = tree.members.iter().zip(&tree.names).filter(|(member, _)| **member != oid);
            below.map(|(_, name)| name.to_string()).collect()
        }
    };
    let name = format!("{}.{}", row.get::<_, &str>(0), row.get::<_, &str>(1));
    Ok(Some(ReadTable { oid, root: row.get(2), name, heirs, columns: own.collect() }))
}
