//! What a publication covers, as the catalog has it now.

use faucet_core::error::Result;
use faucet_core::model::TableId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use tokio_postgres::{Client, Row};

use super::partitions::Partitions;
use crate::postgres::cdc::preflight;
use crate::postgres::error::from_driver;
use crate::postgres::name::qualified;
use crate::postgres::query::system;

/// What is kept in the marker. A record of an earlier release has partitions only.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::postgres::cdc) struct Record {
    /// The cluster's number, where the role may ask for it.
    pub(super) system: Option<String>,
    /// The database's OID.
    pub(super) database: Option<u32>,
    pub(super) publication: Option<Publication>,
    pub(in crate::postgres::cdc) table: Option<Table>,
    pub(in crate::postgres::cdc) partitions: Partitions,
    /// Partitions of the table that are gone: the log may still hold changes of theirs.
    pub(in crate::postgres::cdc) former: BTreeSet<u32>,
}

/// The publication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Publication {
    pub(super) oid: u32,
    pub(super) name: String,
    /// The transaction that altered it last.
    pub(super) altered: String,
    pub(super) owner: u32,
    pub(super) via_root: bool,
    /// The kinds of change that it publishes.
    pub(super) kinds: Vec<String>,
}

/// The mirrored table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::postgres::cdc) struct Table {
    pub(in crate::postgres::cdc) oid: u32,
    pub(super) schema: String,
    pub(super) name: String,
    /// By which rows of the catalog the publication covers it, with their OIDs.
    pub(super) entries: BTreeMap<String, u32>,
    /// Its columns by their numbers.
    pub(in crate::postgres::cdc) columns: BTreeMap<i16, String>,
    /// Whether its changes are logged.
    pub(super) logged: bool,
    /// The number of the file its rows are in.
    pub(super) file: Option<u32>,
}

impl Table {
    pub(super) fn id(&self) -> TableId {
        TableId::new(self.schema.as_str(), self.name.as_str())
    }
}

/// The parts of the catalog that don't depend on the table.
pub(super) struct Seen {
    system: Option<String>,
    database: u32,
    pub(super) published: Option<Published>,
}

/// A publication and the tables it covers, partitions as the table they belong to.
pub(super) struct Published {
    publication: Publication,
    all_tables: bool,
    pub(super) roots: Vec<(u32, TableId)>,
}

const PUBLICATION: &str = "\
SELECT oid, xmin::text, pubowner, pubviaroot, puballtables, pubinsert, pubupdate, pubdelete, pubtruncate
FROM pg_catalog.pg_publication WHERE pubname = $1::text";

const ROOTS: &str = "\
WITH published AS (
  SELECT DISTINCT COALESCE(pg_catalog.pg_partition_root(c.oid)::pg_catalog.oid, c.oid) AS oid
  FROM pg_catalog.pg_publication_tables p
  JOIN pg_catalog.pg_namespace n ON n.nspname = p.schemaname
  JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = p.tablename
  WHERE p.pubname = $1::text
)
SELECT c.oid, n.nspname::text, c.relname::text
FROM published JOIN pg_catalog.pg_class c USING (oid) JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
ORDER BY 2, 3";

/// The kinds of change, in the order of their columns.
pub(super) const KINDS: [&str; 4] = ["insert", "update", "delete", "truncate"];

impl Seen {
    pub(super) async fn load(client: &Client, name: &str) -> Result<Self> {
        let sql = "SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()";
        let database = client.query_one(sql, &[]).await.map_err(|e| from_driver(&e))?.get(0);
        let row = client.query_opt(PUBLICATION, &[&name]).await.map_err(|e| from_driver(&e))?;
        let published = match row {
            None => None,
            Some(row) => {
                let roots = client.query(ROOTS, &[&name]).await.map_err(|e| from_driver(&e))?;
                let root = |row: &Row| (row.get(0), TableId::new(row.get::<_, String>(1), row.get::<_, String>(2)));
                let roots = roots.iter().map(root).collect();
                Some(Published { publication: publication(name, &row), all_tables: row.get(4), roots })
            }
        };
        Ok(Self { system: system(client).await, database, published })
    }
}

fn publication(name: &str, row: &Row) -> Publication {
    let kinds = (0..4).filter(|at| row.get(5 + at)).map(|at| KINDS[at].to_owned()).collect();
    let (oid, altered, owner, via_root) = (row.get(0), row.get(1), row.get(2), row.get(3));
    Publication { oid, name: name.to_owned(), altered, owner, via_root, kinds }
}

const TABLE: &str = "\
SELECT n.nspname::text, c.relname::text, c.relpersistence = 'p', pg_catalog.pg_relation_filenode(c.oid),
  ARRAY(SELECT a.attnum FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum),
  ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1";

impl Record {
    /// What is to be recorded of the table `oid`, but for its partitions.
    pub(super) async fn of(client: &Client, seen: &Seen, oid: Option<u32>) -> Result<Self> {
        let published = seen.published.as_ref();
        let table = match (oid, published) {
            (Some(oid), Some(published)) => table(client, published, oid).await?,
            _ => None,
        };
        Ok(Self {
            system: seen.system.clone(),
            database: Some(seen.database),
            publication: published.map(|published| published.publication.clone()),
            table,
            ..Self::default()
        })
    }
}

/// The table `oid`; `None` when there is none of this number.
async fn table(client: &Client, published: &Published, oid: u32) -> Result<Option<Table>> {
    let row = client.query_opt(TABLE, &[&oid]).await.map_err(|e| from_driver(&e))?;
    let Some(row) = row else { return Ok(None) };
    let (numbers, names): (Vec<i16>, Vec<String>) = (row.get(4), row.get(5));
    Ok(Some(Table {
        oid,
        schema: row.get(0),
        name: row.get(1),
        entries: entries(client, published, oid).await?,
        columns: numbers.into_iter().zip(names).collect(),
        logged: row.get(2),
        file: row.get(3),
    }))
}

const LISTED: &str = "\
SELECT 'table ' || r.prrelid, r.oid FROM pg_catalog.pg_publication_rel r
WHERE r.prpubid = $1 AND COALESCE(pg_catalog.pg_partition_root(r.prrelid)::pg_catalog.oid, r.prrelid) = $2";

/// A schema covers a partitioned table with all its partitions, wherever they are.
const BY_SCHEMA: &str = "\
SELECT 'schema ' || s.pnnspid, s.oid FROM pg_catalog.pg_publication_namespace s
WHERE s.pnpubid = $1 AND s.pnnspid IN (SELECT c.relnamespace FROM pg_catalog.pg_class c
  WHERE c.oid = $2 OR c.oid IN (SELECT t.relid FROM pg_catalog.pg_partition_tree($2::pg_catalog.oid::pg_catalog.regclass) t))";

async fn entries(client: &Client, published: &Published, oid: u32) -> Result<BTreeMap<String, u32>> {
    if published.all_tables {
        return Ok([("all tables".to_owned(), 0)].into());
    }
    let publication = published.publication.oid;
    let mut rows = client.query(LISTED, &[&publication, &oid]).await.map_err(|e| from_driver(&e))?;
    // Publications of whole schemas came with PostgreSQL 15.
    if preflight::has_column(client, "pg_catalog.pg_publication_namespace", "pnnspid").await? {
        rows.extend(client.query(BY_SCHEMA, &[&publication, &oid]).await.map_err(|e| from_driver(&e))?);
    }
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// The OID of the table called exactly so.
pub(super) async fn named(client: &Client, table: &TableId) -> Result<Option<u32>> {
    let name = qualified(table.schema.as_deref(), &table.name);
    let sql = "SELECT pg_catalog.to_regclass($1::text)::pg_catalog.oid";
    Ok(client.query_one(sql, &[&name]).await.map_err(|e| from_driver(&e))?.get(0))
}
