//! What the catalog knows of a table that is to be read in ranges.

use faucet_core::error::Result;
use faucet_core::model::TableId;
use tokio_postgres::Client;

use super::range::KeyColumn;
use crate::postgres::error::from_driver;

/// A relation that a query names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Its OID.
    pub oid: u32,
    /// Its schema and name.
    pub name: TableId,
    /// Whether it is a table, partitioned or not.
    pub is_table: bool,
    /// Whether it is partitioned.
    pub partitioned: bool,
    /// Whether this role may read all of it.
    pub readable: bool,
}

const RELATION: &str = "\
SELECT c.oid, n.nspname::text, c.relname::text, c.relkind, pg_catalog.has_table_privilege(c.oid, 'SELECT')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = pg_catalog.to_regclass($1::text)";

impl Relation {
    /// The relation called `name`, which is written as in a query.
    pub async fn find(client: &Client, name: &str) -> Result<Option<Self>> {
        let row = client.query_opt(RELATION, &[&name]).await.map_err(|e| from_driver(&e))?;
        Ok(row.map(|row| {
            let kind = row.get::<_, i8>(3) as u8;
            Self {
                oid: row.get(0),
                name: TableId::new(row.get::<_, String>(1), row.get::<_, String>(2)),
                is_table: matches!(kind, b'r' | b'p'),
                partitioned: kind == b'p',
                readable: row.get(4),
            }
        }))
    }

    /// Its columns by their numbers.
    pub async fn columns(&self, client: &Client) -> Result<Vec<(i16, String)>> {
        let sql = "SELECT attnum, attname::text FROM pg_catalog.pg_attribute \
                   WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
        let rows = client.query(sql, &[&self.oid]).await.map_err(|e| from_driver(&e))?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// The partitioned tables it belongs to.
    pub async fn above(&self, client: &Client) -> Result<Vec<TableId>> {
        let sql = "SELECT n.nspname::text, c.relname::text \
                   FROM pg_catalog.pg_partition_ancestors($1::pg_catalog.oid::pg_catalog.regclass) a (oid) \
                   JOIN pg_catalog.pg_class c ON c.oid = a.oid \
                   JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid <> $1";
        let rows = client.query(sql, &[&self.oid]).await.map_err(|e| from_driver(&e))?;
        Ok(rows.iter().map(|row| TableId::new(row.get::<_, String>(0), row.get::<_, String>(1))).collect())
    }
}

/// A table with all that is read with it: partitions, and tables that inherit from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// OIDs in order, its own among them.
    pub members: Vec<u32>,
    /// Names in the same order.
    pub names: Vec<TableId>,
    /// Whether none is a foreign table.
    pub local: bool,
    /// Bytes of all, with what is stored out of line.
    pub bytes: u64,
    /// Blocks of all.
    pub blocks: u64,
    /// The file of the table itself; another one after its rows were moved as a whole.
    pub file: Option<u32>,
}

const TREE: &str = "\
WITH RECURSIVE tree AS (
  SELECT $1::pg_catalog.oid AS oid
  UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree ON i.inhparent = tree.oid WHERE NOT $2
)
SELECT pg_catalog.array_agg(c.oid ORDER BY c.oid), pg_catalog.bool_and(c.relkind IN ('r', 'p')),
  COALESCE(pg_catalog.sum(pg_catalog.pg_table_size(c.oid)) FILTER (WHERE c.relkind = 'r'), 0)::int8,
  COALESCE(pg_catalog.sum(pg_catalog.pg_relation_size(c.oid)) FILTER (WHERE c.relkind = 'r'), 0)::int8
    / pg_catalog.current_setting('block_size')::int8,
  pg_catalog.pg_relation_filenode($1::pg_catalog.oid::pg_catalog.regclass),
  pg_catalog.array_agg(n.nspname::text ORDER BY c.oid), pg_catalog.array_agg(c.relname::text ORDER BY c.oid)
FROM tree JOIN pg_catalog.pg_class c USING (oid) JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace";

impl Tree {
    /// The table `oid` with what belongs to it, or alone with `only`.
    pub async fn load(client: &Client, oid: u32, only: bool) -> Result<Self> {
        let row = client.query_one(TREE, &[&oid, &only]).await.map_err(|e| from_driver(&e))?;
        let size = |index: usize| u64::try_from(row.get::<_, i64>(index)).unwrap_or_default();
        let (schemas, names): (Vec<String>, Vec<String>) = (row.get(5), row.get(6));
        Ok(Self {
            members: row.get(0),
            names: schemas.into_iter().zip(names).map(|(schema, name)| TableId::new(schema, name)).collect(),
            local: row.get::<_, Option<bool>>(1).unwrap_or_default(),
            bytes: size(2),
            blocks: size(3),
            file: row.get(4),
        })
    }

    /// Whether it is one plain table.
    pub fn is_single(&self) -> bool {
        self.members.len() == 1
    }
}

/// The best key: the primary key, the replica identity, or another unique index on columns whose order is the usual
/// one of their types.
const KEY: &str = "\
SELECT k.names, k.types, k.all_not_null
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid JOIN pg_catalog.pg_am m ON m.oid = x.relam
CROSS JOIN LATERAL (
  SELECT pg_catalog.array_agg(a.attname::text ORDER BY c.place) AS names,
    pg_catalog.array_agg(pg_catalog.format_type(a.atttypid, -1) ORDER BY c.place) AS types,
    pg_catalog.bool_and(a.attnotnull) AS all_not_null, pg_catalog.bool_and(o.opcdefault) AS usual,
    pg_catalog.count(*) AS columns
  FROM ROWS FROM (pg_catalog.unnest(i.indkey::pg_catalog.int2[]), pg_catalog.unnest(i.indclass::pg_catalog.oid[]))
    WITH ORDINALITY AS c (number, class, place)
  JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = c.number
  JOIN pg_catalog.pg_opclass o ON o.oid = c.class
  WHERE c.place <= i.indnkeyatts
) k
WHERE i.indrelid = $1 AND m.amname = 'btree' AND i.indisunique AND i.indisvalid AND i.indislive
  AND i.indpred IS NULL AND k.columns = i.indnkeyatts AND k.usual
ORDER BY i.indisprimary DESC, i.indisreplident DESC, k.all_not_null DESC, k.columns, i.indexrelid LIMIT 1";

/// The columns a table is cut by, and whether they may be null: then only the leading one counts.
///
/// `inherited` says that other tables' rows are read with it; a primary key doesn't bind those.
pub async fn key(client: &Client, oid: u32, inherited: bool) -> Result<Option<(Vec<KeyColumn>, bool)>> {
    let row = client.query_opt(KEY, &[&oid]).await.map_err(|e| from_driver(&e))?;
    Ok(row.map(|row| {
        let (names, types): (Vec<String>, Vec<String>) = (row.get(0), row.get(1));
        let nullable = inherited || !row.get::<_, bool>(2);
        let count = if nullable { 1 } else { names.len() };
        let columns = names.into_iter().zip(types).map(|(name, type_name)| KeyColumn { name, type_name });
        (columns.take(count).collect(), nullable)
    }))
}
