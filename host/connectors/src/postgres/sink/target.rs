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
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its columns in order.
    pub columns: Vec<TargetColumn>,
    /// The columns of each index that `ON CONFLICT` can use.
    unique: Vec<Vec<String>>,
    /// Nothing makes the order of rows with different keys matter: no second index that keeps rows apart, no reference of
    /// the table to itself, no trigger.
    pub order_free: bool,
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
        let order_free = kind as u8 == b'r' && row.get(3);
        Ok(Some(Self { schema, name: name.to_owned(), columns, unique, order_free }))
    }

    /// Its name as SQL.
    pub fn sql(&self) -> String {
        qualified(Some(&self.schema), &self.name)
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
SELECT c.oid, n.nspname::pg_catalog.text, c.relkind, (
  SELECT pg_catalog.count(*) FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND (i.indisunique OR i.indisexclusion)
) <= 1 AND NOT EXISTS (
  SELECT FROM pg_catalog.pg_constraint f WHERE f.conrelid = c.oid AND f.confrelid = c.oid AND f.contype = 'f'
) AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal)
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = pg_catalog.to_regclass($1::pg_catalog.text)";

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
