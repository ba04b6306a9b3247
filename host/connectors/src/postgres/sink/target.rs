//! The destination as its catalog describes it.

use faucet_core::error::{Error, Result};
use faucet_core::ports::WriteMode;
use tokio_postgres::Client;

use super::{NO_UNIQUE_KEY, NOT_A_TABLE};
use crate::postgres::error::from_driver;
use crate::postgres::name::{list, qualified};
use crate::postgres::types::{ColumnType, NO_MODIFIER, Types};

/// A table that rows are written to.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its number in the catalog.
    pub oid: u32,
    /// Its rows are kept elsewhere.
    pub is_foreign: bool,
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its columns in order.
    pub columns: Vec<TargetColumn>,
    /// The columns of each index that `ON CONFLICT` can use.
    unique: Vec<Vec<String>>,
    /// What makes the order of rows matter.
    pub order: Order,
}

/// What makes the order matter in which rows with different keys are written.
#[derive(Debug, Clone, Default)]
pub struct Order {
    /// Nothing: no second index that keeps rows apart, no reference of the table to itself, no trigger, no partitions.
    pub free: bool,
    /// Rows can be refused by what other rows hold: a second index that keeps rows apart, or a reference to itself.
    pub strict: bool,
    /// A row that is written or deleted does more than that: a trigger fires, or what references it changes with it.
    pub effects: bool,
    /// Another table references this one, so TRUNCATE is refused.
    referenced: bool,
    /// The constraints, as SQL, that are checked at the end of a statement unless they are deferred.
    pub deferrable: Vec<String>,
}

/// A column of it.
#[derive(Debug, Clone)]
pub struct TargetColumn {
    /// Its name.
    pub name: String,
    /// Its type, with the kind of what lies under a domain.
    pub column_type: ColumnType,
    /// The type without domains, as SQL: what a stage holds, whatever a domain's constraints say about nulls.
    pub stage_type: String,
    /// The server computes it.
    pub generated: bool,
    /// `GENERATED ALWAYS AS IDENTITY`.
    pub identity_always: bool,
    /// Its collation takes different texts for equal.
    pub nondeterministic: bool,
}

impl Target {
    /// Reads the table called `name` from the catalog; `None` when there is none.
    ///
    /// # Errors
    /// `postgres.not_a_table`, and failures of the connection.
    pub async fn find(client: &Client, schema: Option<&str>, name: &str, mode: WriteMode) -> Result<Option<Self>> {
        let wanted = qualified(schema, name);
        let found = client.query_opt(RELATION, &[&wanted]).await.map_err(|e| from_driver(&e))?;
        let Some(row) = found else { return Ok(None) };
        let (oid, schema, kind): (u32, String, i8) = (row.get(0), row.get(1), row.get(2));
        match (kind as u8, mode) {
            (b'r' | b'p', _) | (b'f', WriteMode::Append) => {}
            _ => return Err(Error::new(&NOT_A_TABLE, format!("{wanted} is no table that rows can be written to"))),
        }
        let columns = columns(client, oid).await?;
        let unique = client.query(UNIQUE, &[&oid]).await.map_err(|e| from_driver(&e))?;
        let unique = unique.iter().map(|row| row.get(0)).collect();
        let order = order(client, oid, kind as u8 == b'r').await?;
        let is_foreign = kind as u8 == b'f';
        Ok(Some(Self { oid, is_foreign, schema, name: name.to_owned(), columns, unique, order }))
    }

    /// Its name as SQL.
    pub fn sql(&self) -> String {
        qualified(Some(&self.schema), &self.name)
    }

    /// Empties it. TRUNCATE is refused where another table references this one, even if that has no row.
    pub fn emptying(&self) -> String {
        let how = if self.order.referenced { "DELETE FROM" } else { "TRUNCATE" };
        format!("{how} {}", self.sql())
    }

    /// The column called exactly `name`.
    pub fn column(&self, name: &str) -> Option<&TargetColumn> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// Checks that rows can be found by `key`.
    ///
    /// # Errors
    /// `postgres.no_unique_key`.
    pub fn check_key(&self, key: &[String]) -> Result<()> {
        let fits = |index: &Vec<String>| index.len() == key.len() && key.iter().all(|column| index.contains(column));
        if self.unique.iter().any(fits) {
            return Ok(());
        }
        let columns = list(key.iter().map(String::as_str));
        let table = self.sql();
        let what = format!("{table} has no primary key or unique constraint on ({columns})");
        Err(Error::new(&NO_UNIQUE_KEY, what).hint(format!("run: CREATE UNIQUE INDEX ON {table} ({columns});")))
    }
}

async fn order(client: &Client, table: u32, is_plain: bool) -> Result<Order> {
    let row = client.query_one(ORDER, &[&table]).await.map_err(|e| from_driver(&e))?;
    let (strict, effects, triggers): (bool, bool, bool) = (row.get(0), row.get(1), row.get(2));
    let free = is_plain && !strict && !effects && !triggers;
    Ok(Order { free, strict, effects, referenced: row.get(3), deferrable: row.get(4) })
}

async fn columns(client: &Client, table: u32) -> Result<Vec<TargetColumn>> {
    let rows = client.query(COLUMNS, &[&table]).await.map_err(|e| from_driver(&e))?;
    let mut types = Types::default();
    types.load(client, rows.iter().map(|row| (row.get(1), row.get(2)))).await?;
    let column_type = |row: &tokio_postgres::Row| types.get_or_text(row.get(1), row.get(2));
    let column_types: Vec<_> = rows.iter().map(column_type).collect();
    types.load(client, column_types.iter().map(|t| (t.base, NO_MODIFIER))).await?;
    let column = |(row, column_type): (&tokio_postgres::Row, ColumnType)| {
        let is_domain = column_type.base != row.get::<_, u32>(1);
        let stage_type =
            if is_domain { types.get_or_text(column_type.base, NO_MODIFIER).name } else { column_type.name.clone() };
        TargetColumn {
            name: row.get(0),
            stage_type: stage_type.to_string(),
            column_type,
            generated: row.get(3),
            identity_always: row.get(4),
            nondeterministic: row.get(5),
        }
    };
    Ok(rows.iter().zip(column_types).map(column).collect())
}

const RELATION: &str = "\
SELECT c.oid, n.nspname::pg_catalog.text, c.relkind
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = pg_catalog.to_regclass($1::pg_catalog.text)";

/// A partition can have indexes, triggers and constraints of its own. Which triggers fire depends on the session's role.
const ORDER: &str = "\
WITH tree AS (
  SELECT $1::pg_catalog.oid AS oid UNION SELECT relid::pg_catalog.oid FROM pg_catalog.pg_partition_tree($1::pg_catalog.oid)
), bound AS (
  SELECT f.* FROM pg_catalog.pg_constraint f
  WHERE f.conrelid IN (SELECT oid FROM tree) OR f.contype = 'f' AND f.confrelid IN (SELECT oid FROM tree)
), firing AS (
  SELECT g.tgisinternal, f.contype = 'f' AND f.confrelid = g.tgrelid
    AND (f.confdeltype IN ('c', 'n', 'd') OR f.confupdtype IN ('c', 'n', 'd')) AS acts
  FROM pg_catalog.pg_trigger g LEFT JOIN pg_catalog.pg_constraint f ON f.oid = g.tgconstraint
  WHERE g.tgrelid IN (SELECT oid FROM tree) AND g.tgenabled = ANY (
    CASE pg_catalog.current_setting('session_replication_role')
    WHEN 'replica' THEN '{R,A}'::pg_catalog.\"char\"[] ELSE '{O,A}'::pg_catalog.\"char\"[] END)
)
SELECT EXISTS (
  SELECT FROM tree JOIN pg_catalog.pg_index i ON i.indrelid = tree.oid WHERE i.indisunique OR i.indisexclusion
  GROUP BY tree.oid HAVING pg_catalog.count(*) > 1
) OR EXISTS (SELECT FROM bound WHERE contype = 'f' AND conrelid = confrelid),
EXISTS (SELECT FROM firing WHERE NOT tgisinternal OR acts),
EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgrelid IN (SELECT oid FROM tree) AND NOT g.tgisinternal),
EXISTS (SELECT FROM bound WHERE contype = 'f' AND confrelid IN (SELECT oid FROM tree) AND conrelid NOT IN (SELECT oid FROM tree)),
ARRAY (
  SELECT pg_catalog.format('%I.%I', n.nspname, b.conname) FROM bound b
  JOIN pg_catalog.pg_namespace n ON n.oid = b.connamespace WHERE b.condeferrable AND NOT b.condeferred
)";

const COLUMNS: &str = "\
SELECT attname::pg_catalog.text, atttypid, atttypmod, attgenerated <> '', attidentity = 'a', EXISTS (
  SELECT FROM pg_catalog.pg_collation l
  WHERE l.oid = attcollation AND pg_catalog.to_jsonb(l) OPERATOR(pg_catalog.->>) 'collisdeterministic' = 'false'
)
FROM pg_catalog.pg_attribute WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped ORDER BY attnum";

const UNIQUE: &str = "\
SELECT pg_catalog.array_agg(a.attname::pg_catalog.text ORDER BY k.place)
FROM pg_catalog.pg_index i
CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::pg_catalog.int2[]) WITH ORDINALITY AS k (number, place)
JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indimmediate
  AND i.indpred IS NULL AND i.indexprs IS NULL AND k.place <= i.indnkeyatts
GROUP BY i.indexrelid";
