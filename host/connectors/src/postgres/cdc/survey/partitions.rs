//! Looks at the partitions of the published tables.
//!
//! Rows of an attached partition are older than its place in the table: their transaction is, or their command in the
//! same transaction. Rows written through the table are younger. After a TRUNCATE no row is older than the partition's
//! file; after a rewrite (`VACUUM FULL`) the rows are as old as before.

use faucet_core::error::Result;
use faucet_core::ports::{Difference, Weight};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tokio_postgres::{Client, Row};

use crate::postgres::error::from_driver;
use crate::postgres::name::qualified;

/// The partitions of a table, by their OIDs.
pub(in crate::postgres::cdc) type Partitions = BTreeMap<u32, Partition>;

/// A partition that holds rows itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::postgres::cdc) struct Partition {
    pub(super) name: String,
    /// The number of the file its rows are in, which is another one after they were replaced as a whole.
    file: Option<u32>,
    /// Whether it had rows: one that never had any can't lose them.
    #[serde(default)]
    held: bool,
}

/// Leaves of the partitioned tables that are published, by themselves or by their root.
const LEAVES: &str = "\
WITH published AS (
  SELECT c.oid FROM pg_catalog.pg_publication_tables p
  JOIN pg_catalog.pg_namespace n ON n.nspname = p.schemaname
  JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = p.tablename
  WHERE p.pubname = $1::text AND (c.relkind = 'p' OR c.relispartition)
), roots AS (SELECT DISTINCT pg_catalog.pg_partition_root(oid)::pg_catalog.oid AS oid FROM published)
SELECT c.oid, n.nspname::text, c.relname::text, pg_catalog.pg_relation_filenode(c.oid), r.oid,
  pg_catalog.has_table_privilege(c.oid, 'SELECT'), r.oid::pg_catalog.regclass::text,
  pg_catalog.pg_get_partition_constraintdef(c.oid)
FROM roots r CROSS JOIN LATERAL pg_catalog.pg_partition_tree(r.oid::pg_catalog.regclass) t
JOIN pg_catalog.pg_class c ON c.oid = t.relid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE t.isleaf AND c.relkind = 'r'
  AND (r.oid IN (SELECT oid FROM published) OR c.oid IN (SELECT oid FROM published))
ORDER BY c.oid";

/// The partitions now, and what came or went with them as a whole since they were those that are `known`: no change of the
/// stream tells of it. A partition that was made empty, and filled through the table, is no difference.
pub(super) async fn look(
    client: &Client,
    publication: &str,
    known: Option<&Partitions>,
) -> Result<(Partitions, Vec<Difference>)> {
    let rows = client.query(LEAVES, &[&publication]).await.map_err(|e| from_driver(&e))?;
    let mut leaves: Vec<Leaf> = rows.iter().map(Leaf::read).collect();
    for leaf in &mut leaves {
        let before = known.and_then(|known| known.get(&leaf.oid));
        let same = before.is_some_and(|before| before.held && before.file == leaf.partition.file);
        leaf.partition.held = same || holds_rows(client, leaf).await?;
    }
    let now: Partitions = leaves.iter().map(|leaf| (leaf.oid, leaf.partition.clone())).collect();
    let Some(known) = known else { return Ok((now, Vec::new())) };
    let gone = known.iter().filter(|(oid, _)| !now.contains_key(oid));
    let mut changes: Vec<_> = gone.map(|(_, partition)| went(&partition.name)).collect();
    let mut emptied = Vec::new();
    for leaf in &leaves {
        match known.get(&leaf.oid) {
            None if brought_rows(client, leaf).await? => {
                changes.push(came(&leaf.partition.name));
            }
            Some(before) if before.file != leaf.partition.file => emptied.extend(emptied_by(client, leaf).await?),
            None | Some(_) => {}
        }
    }
    let held = |leaf: &Leaf| known.get(&leaf.oid).is_some_and(|before| before.held);
    let alone = emptied_alone(&leaves, &emptied).filter(|leaf| held(leaf));
    changes.extend(alone.map(|leaf| emptied_one(&leaf.partition.name)));
    Ok((now, changes))
}

fn came(name: &str) -> Difference {
    let what = format!("partition {name} was attached with rows in it, which the destination lacks");
    Difference::new(Weight::Arrived, what)
}

fn went(name: &str) -> Difference {
    let what = format!("partition {name} was detached or dropped, and the destination has its rows");
    Difference::new(Weight::Missed, what)
}

fn emptied_one(name: &str) -> Difference {
    let what = format!("partition {name} was truncated alone, and the destination has its rows");
    Difference::new(Weight::Missed, what)
}

struct Leaf {
    oid: u32,
    root: u32,
    partition: Partition,
    /// A query of its rows, but for what is selected.
    rows: String,
}

impl Leaf {
    fn read(row: &Row) -> Self {
        let name = qualified(Some(row.get(1)), row.get(2));
        let (oid, readable): (u32, bool) = (row.get(0), row.get(5));
        let rows = match readable {
            true => format!("FROM ONLY {name}"),
            // The role may read it through the table above it; the constraint leads there.
            false => {
                let constraint = row.get::<_, Option<&str>>(7).unwrap_or("true");
                format!("FROM {} WHERE tableoid = {oid} AND ({constraint})", row.get::<_, &str>(6))
            }
        };
        Self { oid, root: row.get(4), partition: Partition { name, file: row.get(3), held: false }, rows }
    }
}

/// A leaf without rows from before its last TRUNCATE, and the transaction of that.
struct Emptied<'l> {
    leaf: &'l Leaf,
    by: String,
}

async fn holds_rows(client: &Client, leaf: &Leaf) -> Result<bool> {
    let sql = format!("SELECT EXISTS (SELECT {})", leaf.rows);
    Ok(client.query_one(&sql, &[]).await.map_err(|e| from_driver(&e))?.get(0))
}

/// Whether it holds rows that are older than its place in the table.
async fn brought_rows(client: &Client, leaf: &Leaf) -> Result<bool> {
    let sql = format!(
        "SELECT EXISTS (SELECT FROM (SELECT xmin AS born, cmin AS command {}) x
             JOIN pg_catalog.pg_inherits i ON i.inhrelid IN (
               SELECT relid FROM pg_catalog.pg_partition_ancestors($1::pg_catalog.oid::pg_catalog.regclass) a (relid))
           WHERE pg_catalog.age(x.born) > pg_catalog.age(i.xmin)
             OR (x.born = i.xmin AND x.command::text::int8 < i.cmin::text::int8))",
        leaf.rows
    );
    Ok(client.query_one(&sql, &[&leaf.oid]).await.map_err(|e| from_driver(&e))?.get(0))
}

/// Whether no row is older than its file.
async fn emptied_by<'l>(client: &Client, leaf: &'l Leaf) -> Result<Option<Emptied<'l>>> {
    let sql = format!(
        "SELECT c.xmin::text FROM pg_catalog.pg_class c WHERE c.oid = $1 AND NOT EXISTS (
           SELECT FROM (SELECT xmin AS born {}) x WHERE pg_catalog.age(x.born) > pg_catalog.age(c.xmin))",
        leaf.rows
    );
    let row = client.query_opt(&sql, &[&leaf.oid]).await.map_err(|e| from_driver(&e))?;
    Ok(row.map(|row| Emptied { leaf, by: row.get(0) }))
}

/// Those that were emptied without all others of their table: a TRUNCATE of the whole table is in the stream.
fn emptied_alone<'l>(leaves: &'l [Leaf], emptied: &'l [Emptied<'l>]) -> impl Iterator<Item = &'l Leaf> {
    let whole = |one: &Emptied<'_>| {
        let of_root = leaves.iter().filter(|leaf| leaf.root == one.leaf.root).count();
        emptied.iter().filter(|other| other.leaf.root == one.leaf.root && other.by == one.by).count() == of_root
    };
    emptied.iter().filter(move |one| !whole(one)).map(|one| one.leaf)
}
