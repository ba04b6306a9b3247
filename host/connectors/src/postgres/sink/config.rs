//! The `config:` block of sink `postgres`.

use faucet_core::error::Problem;
use faucet_core::ports::WriteMode;
use schemars::JsonSchema;
use serde::Deserialize;

use super::session::Triggers;
use crate::postgres::{ConnectionUrl, Endpoint, TlsConfig};
use crate::sql::{DeleteMarker, OnTruncate};

/// Configuration of sink `postgres`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SinkConfig {
    /// Where to connect: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=...`
    pub connection_url: ConnectionUrl,
    /// TLS settings that replace those in the URL.
    #[serde(default)]
    pub tls: Option<TlsConfig>,
    /// The table, as one name: a dot in it is a part of the name. Its schema is `schema`.
    pub table_name: String,
    /// The table's schema. Without it the table is found along the role's `search_path`.
    #[serde(default)]
    pub schema: Option<String>,
    /// `auto_map`: each column goes to the table's column of the same name. `jsonb`: the whole row goes into one column,
    /// beside the columns of `key`.
    #[serde(default)]
    pub column_mapping: ColumnMapping,
    /// The column that holds the row under `column_mapping: jsonb`. Default: `data`.
    #[serde(default)]
    pub jsonb_column: Option<String>,
    /// Create the table from the first page if there is none: columns with their types at the source, and a primary key
    /// on `key` (not under `append`).
    #[serde(default)]
    pub create_table: bool,
    /// `append` adds every row; `upsert` replaces the row with the same `key`; `overwrite` replaces the whole table when
    /// the run ends.
    #[serde(default)]
    pub write_mode: WriteMode,
    /// The columns that tell rows apart, in the order of the index. Required by `upsert`.
    #[serde(default)]
    pub key: Vec<String>,
    /// Which rows delete the row with their key. Only under `upsert`.
    #[serde(default)]
    pub delete_marker: Option<DeleteMarker>,
    /// What to do when the source table was truncated (a row that `cdc_unwrap` marked `t`). Default: `truncate`, so that
    /// both stay equal. Only with `delete_marker`.
    #[serde(default)]
    pub on_truncate: Option<OnTruncate>,
    /// What the destination's triggers do about copied rows. Default: `replica` where the role may set
    /// `session_replication_role` (a superuser, or after `GRANT SET ON PARAMETER`), else `fire`, with a warning if there
    /// are any. Under `replica` foreign keys are neither checked nor acted upon: the source has done that.
    #[serde(default)]
    pub triggers: Option<Triggers>,
    /// Most rows per `COPY` and merge. Default: a page at a time.
    #[serde(default)]
    pub batch_size: Option<usize>,
}

/// How a row's columns meet the table's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnMapping {
    /// By name.
    #[default]
    AutoMap,
    /// The row as one JSON object.
    Jsonb,
}

impl SinkConfig {
    /// The column that holds rows under `column_mapping: jsonb`.
    pub fn jsonb_column(&self) -> &str {
        self.jsonb_column.as_deref().unwrap_or("data")
    }

    /// What is wrong with the block; no I/O.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Endpoint::problems(&self.connection_url, self.tls.as_ref());
        self.check_names(&mut problems);
        self.check_key(&mut problems);
        self.check_marker(&mut problems);
        self.check_mapping(&mut problems);
        if self.batch_size == Some(0) {
            let problem = Problem::error("batch_size", "a batch needs at least one row");
            problems.push(problem.hint("leave it out to write a page at a time"));
        }
        problems
    }

    fn check_names(&self, problems: &mut Vec<Problem>) {
        if self.table_name.is_empty() {
            problems.push(Problem::error("table_name", "a table's name can't be empty"));
        }
        if self.schema.as_deref() == Some("") {
            let problem = Problem::error("schema", "a schema's name can't be empty");
            problems.push(problem.hint("leave it out to use the role's search_path"));
        }
        if let (None, Some((schema, table))) = (&self.schema, self.table_name.split_once('.')) {
            let text = format!("the dot makes this a table called \"{}\", not one in a schema", self.table_name);
            let problem = Problem::warning("table_name", text);
            problems.push(problem.hint(format!("write `schema: {schema}` and `table_name: {table}`")));
        }
    }

    fn check_key(&self, problems: &mut Vec<Problem>) {
        for (index, column) in self.key.iter().enumerate() {
            let path = format!("key[{index}]");
            if column.is_empty() {
                problems.push(Problem::error(path, "a column's name can't be empty"));
            } else if self.key[..index].contains(column) {
                problems.push(Problem::error(path, format!("\"{column}\" is named twice")));
            }
        }
        match self.write_mode {
            WriteMode::Upsert if self.key.is_empty() => {
                let problem = Problem::error("key", "`write_mode: upsert` needs the columns that tell rows apart");
                problems.push(problem.hint("write `key: [id]` with the columns of the table's primary key"));
            }
            WriteMode::Append if !self.key.is_empty() && self.column_mapping == ColumnMapping::AutoMap => {
                let problem = Problem::warning("key", "`key` has no effect under `write_mode: append`");
                problems.push(problem.hint("use `write_mode: upsert`, or leave `key` out"));
            }
            WriteMode::Append | WriteMode::Upsert | WriteMode::Overwrite => {}
        }
    }

    fn check_marker(&self, problems: &mut Vec<Problem>) {
        match &self.delete_marker {
            Some(_) if self.write_mode != WriteMode::Upsert => {
                let text = "deletes can be applied only under `write_mode: upsert`";
                problems.push(Problem::error("delete_marker", text).hint("set `write_mode: upsert`, or leave it out"));
            }
            Some(marker) => problems.extend(marker.problems(&self.key)),
            None if self.on_truncate.is_some() => {
                let text = "`on_truncate` has no effect without `delete_marker`, which names the column that tells";
                let problem = Problem::error("on_truncate", text);
                problems.push(problem.hint("add `delete_marker: { field: __op, values: [d] }`"));
            }
            None => {}
        }
    }

    fn check_mapping(&self, problems: &mut Vec<Problem>) {
        match (&self.jsonb_column, self.column_mapping) {
            (Some(_), ColumnMapping::AutoMap) => {
                let problem = Problem::error("jsonb_column", "`jsonb_column` has no effect under `auto_map`");
                problems.push(problem.hint("set `column_mapping: jsonb`, or leave it out"));
            }
            (Some(name), ColumnMapping::Jsonb) if name.is_empty() => {
                problems.push(Problem::error("jsonb_column", "a column's name can't be empty"));
            }
            (_, ColumnMapping::Jsonb) if self.key.iter().any(|k| k == self.jsonb_column()) => {
                let text = format!("\"{}\" can't hold the row and be a key column", self.jsonb_column());
                problems.push(Problem::error("key", text).hint("name another column in `jsonb_column`"));
            }
            (_, ColumnMapping::AutoMap | ColumnMapping::Jsonb) => {}
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use faucet_core::error::Severity;
    use serde_json::{Value, json};

    fn problems(extra: Value) -> Vec<(Severity, String)> {
        let mut config = json!({ "connection_url": "postgres://me@localhost/db", "table_name": "t" });
        config.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let config: SinkConfig = serde_json::from_value(config).unwrap();
        config.problems().into_iter().map(|p| (p.severity, p.path)).collect()
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let marker = json!({ "field": "__op", "values": ["d"] });
        for (extra, path) in [
            (json!({ "write_mode": "upsert" }), "key"),
            (json!({ "write_mode": "upsert", "key": ["id", "id"] }), "key[1]"),
            (json!({ "delete_marker": marker }), "delete_marker"),
            (json!({ "write_mode": "overwrite", "delete_marker": marker }), "delete_marker"),
            (json!({ "on_truncate": "fail" }), "on_truncate"),
            (json!({ "jsonb_column": "data" }), "jsonb_column"),
            (json!({ "column_mapping": "jsonb", "key": ["data"] }), "key"),
            (json!({ "batch_size": 0 }), "batch_size"),
            (json!({ "table_name": "" }), "table_name"),
            (json!({ "write_mode": "upsert", "key": ["__op"], "delete_marker": marker }), "delete_marker.field"),
        ] {
            assert_eq!(problems(extra.clone()), [(Severity::Error, path.to_owned())], "{extra}");
        }
    }

    #[test]
    fn what_is_likely_meant_otherwise_is_warned_about() {
        assert_eq!(problems(json!({ "table_name": "public.t" })), [(Severity::Warning, "table_name".to_owned())]);
        assert_eq!(problems(json!({ "key": ["id"] })), [(Severity::Warning, "key".to_owned())]);
        assert_eq!(problems(json!({ "schema": "a", "table_name": "b.c" })), []);
    }

    #[test]
    fn a_mirror_needs_no_more_than_this() {
        let mirror = json!({
            "write_mode": "upsert", "key": ["id"], "delete_marker": { "field": "__op", "values": ["d"] }, "batch_size": 1000
        });
        assert_eq!(problems(mirror), []);
    }
}
