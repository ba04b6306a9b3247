//! A mirror's configuration for a table and a sink of the test's own.

use faucet_tests::Database;

/// Copies what `query` reads and follows `pub`, once, into the sink whose YAML lines are `sink`.
pub fn mirror(database: &Database, query: &str, sink: &[&str], options: &str) -> String {
    let url = serde_json::json!(database.url());
    let query = serde_json::json!(query);
    let sink: String = sink.iter().map(|line| format!("    {line}\n")).collect();
    format!(
        "version: 1
name: m
pipeline:
  source:
    type: postgres-cdc
    config:
      connection_url: {url}
      slot_name: {}_slot
      publication_name: pub
      status_update_interval: 1
      idle_timeout: 300ms
  transforms:
    - type: cdc_unwrap
  sink:
{sink}  state: {{ type: file, config: {{ path: ./state }} }}
mirror:
  continuous: false
  snapshot:
    source: {{ type: postgres, config: {{ connection_url: {url}, query: {query} }} }}
{options}",
        database.name()
    )
}

/// The lines of a PostgreSQL sink that makes its table and is written by key.
pub fn postgres_sink(database: &Database, table: &str, key: &[&str]) -> Vec<String> {
    upsert("postgres", &format!("connection_url: {}", serde_json::json!(database.url())), table, key)
}

/// The same in the SQLite file `mirror.db`.
pub fn sqlite_sink(table: &str, key: &[&str]) -> Vec<String> {
    upsert("sqlite", "path: ./mirror.db", table, key)
}

fn upsert(kind: &str, place: &str, table: &str, key: &[&str]) -> Vec<String> {
    let (table, key) = (serde_json::json!(table), serde_json::json!(key));
    [
        format!("type: {kind}"),
        "config:".to_owned(),
        format!("  {place}"),
        format!("  table_name: {table}"),
        "  create_table: true".to_owned(),
        "  write_mode: upsert".to_owned(),
        format!("  key: {key}"),
        "  delete_marker: { field: __op, values: [d] }".to_owned(),
    ]
    .to_vec()
}
