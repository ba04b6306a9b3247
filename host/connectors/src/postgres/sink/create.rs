//! `create_table`: the destination made from the first page's schema.

use faucet_core::error::{Error, Result};
use faucet_core::model::{Field, Kind, Schema};
use faucet_core::ports::WriteMode;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::{ColumnMapping, SinkConfig, labels};
use crate::postgres::error::{CONFLICT, OBJECT_MISSING, from_driver};
use crate::postgres::name::{list, qualified, quoted};
use crate::sql::KEY_NULL;

/// Creates the table that `config` names for rows of `schema`. Columns that come from PostgreSQL keep their type; the
/// others get the type of their kind. All but the key may be null.
///
/// # Errors
/// `postgres.object_missing` when a type does not exist at the destination; failures of the server.
pub async fn create(client: &Client, config: &SinkConfig, schema: &Schema) -> Result<()> {
    let statement = statement(client, config, schema).await?;
    client.batch_execute(&statement).await.map_err(|e| {
        // `IF NOT EXISTS` does not see a table that another session is just making.
        let raced = [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT];
        let error = match e.code().is_some_and(|code| raced.contains(code)) {
            true => Error::new(&CONFLICT, "another session made the table at the same moment"),
            false => from_driver(&e),
        };
        error.context(format!("creating table {}", qualified(config.schema.as_deref(), &config.table_name)))
    })
}

/// The statement that creates it.
///
/// # Errors
/// As [`create`].
pub async fn statement(client: &Client, config: &SinkConfig, schema: &Schema) -> Result<String> {
    let mut columns = Vec::new();
    for field in written(config, schema)? {
        columns.push(format!("{} {}", quoted(&field.name), column_type(client, field).await?));
    }
    if config.column_mapping == ColumnMapping::Jsonb {
        columns.push(format!("{} jsonb NOT NULL", quoted(config.jsonb_column())));
    }
    if config.write_mode != WriteMode::Append && !config.key.is_empty() {
        columns.push(format!("PRIMARY KEY ({})", list(config.key.iter().map(String::as_str))));
    }
    let table = qualified(config.schema.as_deref(), &config.table_name);
    Ok(format!("CREATE TABLE IF NOT EXISTS {table} ({})", columns.join(", ")))
}

/// The fields that get a column of their own.
pub(super) fn written<'a>(config: &SinkConfig, schema: &'a Schema) -> Result<Vec<&'a Field>> {
    let marker = config.delete_marker.as_ref().map(|m| m.field.as_str());
    match config.column_mapping {
        ColumnMapping::AutoMap => Ok(schema.fields.iter().filter(|f| Some(&*f.name) != marker).collect()),
        ColumnMapping::Jsonb => config.key.iter().map(|name| key_field(schema, name)).collect(),
    }
}

fn key_field<'a>(schema: &'a Schema, name: &str) -> Result<&'a Field> {
    schema.index_of(name).map(|index| &schema.fields[index]).ok_or_else(|| {
        Error::new(&KEY_NULL, format!("the rows of {} have no column \"{name}\", which `key` names", schema.table))
    })
}

/// The type of a column for values of `field`, as SQL.
///
/// # Errors
/// `postgres.object_missing`.
pub(super) async fn column_type(client: &Client, field: &Field) -> Result<String> {
    let Some(native) = field.native_of("postgres") else { return Ok(type_of(field.kind).to_owned()) };
    // What the server reads as one whole type name can be put into a statement; nothing else is.
    let known: bool = client
        .query_one("SELECT pg_catalog.to_regtype($1::pg_catalog.text) IS NOT NULL", &[&native])
        .await
        .map_err(|e| from_driver(&e).context(format!("looking up the type of column \"{}\"", field.name)))?
        .get(0);
    if known {
        return Ok(native.to_owned());
    }
    let what = format!("column \"{}\" has the type {native}, which does not exist at the destination", field.name);
    Err(Error::new(&OBJECT_MISSING, what).hint(match &field.labels {
        Some(labels) => format!("run at the destination: {};", labels::create(native, labels)),
        None => "create the type there, or create the table yourself with a text column".to_owned(),
    }))
}

fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "boolean",
        Kind::I64 => "bigint",
        Kind::U64 => "numeric(20,0)",
        Kind::F32 => "real",
        Kind::F64 => "double precision",
        Kind::Decimal => "numeric",
        Kind::Text | Kind::Native => "text",
        Kind::Bytes => "bytea",
        Kind::Date => "date",
        Kind::Time => "time",
        Kind::Timestamp => "timestamp",
        Kind::TimestampTz => "timestamptz",
        Kind::Interval => "interval",
        Kind::Uuid => "uuid",
        Kind::Json => "jsonb",
    }
}
