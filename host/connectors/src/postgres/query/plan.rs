//! What a query returns and how its rows are read, decided before it runs.

use faucet_core::error::{Error, Result};
use faucet_core::model::{Schema, TableId};
use std::sync::Arc;
use tokio_postgres::{Client, Column};

use super::{DUPLICATE_COLUMN, NOT_A_QUERY, QUERY_WRITES, lex};
use crate::postgres::error::from_driver;
use crate::postgres::name::quoted;
use crate::postgres::types::{ColumnType, Timestamps, Types, Wire};

/// A described query.
#[derive(Debug)]
pub struct Plan {
    /// Columns, table and key of the rows.
    pub schema: Arc<Schema>,
    /// How they are read.
    pub read: Read,
}

/// The statement that carries the rows.
#[derive(Debug)]
pub enum Read {
    /// `COPY .. TO STDOUT` in binary format, with the form of each column.
    Copy {
        /// The COPY statement.
        statement: String,
        /// One form per column; the server casts to text what has no other.
        wires: Vec<Wire>,
    },
    /// The query itself, whose rows come as text.
    Rows {
        /// The query without its final semicolon.
        query: String,
    },
}

impl Plan {
    /// Describes `sql` inside the transaction that will run it.
    pub async fn describe(client: &Client, sql: &str, timestamps: Timestamps, pipeline: &str) -> Result<Self> {
        let statement = client.prepare(sql).await.map_err(|e| failed(&e))?;
        if !statement.params().is_empty() {
            return Err(Error::new(&NOT_A_QUERY, "the query has parameters (`$1`)").hint("write the values into it"));
        }
        let columns = statement.columns();
        check_names(columns)?;
        let mut types = Types::new(timestamps);
        let wanted = || columns.iter().map(|c| (c.type_().oid(), c.type_modifier()));
        types.load(client, wanted()).await?;
        let types: Vec<_> = wanted().map(|(oid, modifier)| types.get_or_text(oid, modifier)).collect();
        let (table, key) = origin(client, columns, pipeline).await?;
        let fields = columns.iter().zip(&types).map(|(c, t)| t.field(c.name())).collect();
        let schema = Arc::new(Schema::new(table, fields).with_key(key));
        Ok(Self { schema, read: read(sql, columns, &types) })
    }
}

/// The error behind a failure of the query itself.
pub fn failed(error: &tokio_postgres::Error) -> Error {
    match error.code().map(tokio_postgres::error::SqlState::code) {
        Some("25006") => Error::new(&QUERY_WRITES, "the query writes, and a source runs in a read-only transaction")
            .hint("leave out what writes: INSERT, UPDATE, DELETE, nextval(), FOR UPDATE"),
        _ => from_driver(error),
    }
}

fn check_names(columns: &[Column]) -> Result<()> {
    if columns.is_empty() {
        return Err(Error::new(&NOT_A_QUERY, "the query returns no columns").hint("write a SELECT"));
    }
    for (index, column) in columns.iter().enumerate() {
        if columns[..index].iter().any(|c| c.name() == column.name()) {
            let what = format!("two columns of the query are called \"{}\"", column.name());
            return Err(Error::new(&DUPLICATE_COLUMN, what).hint("give one of them another name with AS"));
        }
    }
    Ok(())
}

fn read(sql: &str, columns: &[Column], types: &[ColumnType]) -> Read {
    let query = lex::body(sql);
    if !matches!(lex::first_word(query).as_str(), "select" | "with" | "values" | "table") {
        return Read::Rows { query: query.to_owned() };
    }
    let wires = types.iter().map(|t| t.wire.unwrap_or(Wire::Text)).collect();
    // The line breaks end a comment that the query may end with.
    let statement = if types.iter().all(|t| t.wire.is_some()) {
        format!("COPY (\n{query}\n) TO STDOUT (FORMAT BINARY)")
    } else {
        let columns: Vec<_> = columns.iter().zip(types).map(|(c, t)| selected(c.name(), t)).collect();
        format!("COPY (SELECT {} FROM (\n{query}\n) AS q) TO STDOUT (FORMAT BINARY)", columns.join(", "))
    };
    Read::Copy { statement, wires }
}

/// The column as it is, or its output text where it has no binary form here.
fn selected(name: &str, column_type: &ColumnType) -> String {
    let name = format!("q.{}", quoted(name));
    match (column_type.wire, column_type.cast_differs) {
        (Some(_), _) => name,
        (None, false) => format!("{name}::pg_catalog.text"),
        // `format` calls the output function, where the cast would call another one. It turns null into an empty text.
        (None, true) => {
            format!("CASE pg_catalog.num_nulls({name}) WHEN 0 THEN pg_catalog.format('%s', {name}) END")
        }
    }
}

/// The table that all columns come from with its key among them, or the pipeline's own name.
async fn origin(client: &Client, columns: &[Column], pipeline: &str) -> Result<(TableId, Vec<usize>)> {
    let bare = || TableId::bare(if pipeline.is_empty() { "query" } else { pipeline });
    let first = columns.first().and_then(Column::table_oid);
    let Some(oid) = first.filter(|_| columns.iter().all(|c| c.table_oid() == first)) else {
        return Ok((bare(), Vec::new()));
    };
    let Some(row) = client.query_opt(ORIGIN, &[&oid]).await.map_err(|e| from_driver(&e))? else {
        return Ok((bare(), Vec::new()));
    };
    let (schema, name, key): (String, String, Vec<i16>) = (row.get(0), row.get(1), row.get(2));
    let selected = |number: &i16| columns.iter().position(|c| c.column_id() == Some(*number));
    // A key with a column that isn't selected is no key of these rows.
    let key: Option<Vec<_>> = key.iter().map(selected).collect();
    Ok((TableId::new(schema, name), key.unwrap_or_default()))
}

const ORIGIN: &str = "\
SELECT n.nspname::pg_catalog.text, c.relname::pg_catalog.text, COALESCE((
  SELECT pg_catalog.array_agg(k.number ORDER BY k.place)
  FROM pg_catalog.pg_index i, pg_catalog.unnest(i.indkey::pg_catalog.int2[]) WITH ORDINALITY AS k (number, place)
  WHERE i.indrelid = c.oid AND i.indisprimary AND k.place <= i.indnkeyatts), '{}')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1";
