//! About how many rows a query gives, for those who wait for its end.
//!
//! The planner knows where the table was analyzed. Where it was not, the planner's guess can be several times too high
//! or too low; then some blocks of the table are read and their rows counted.

use serde_json::Value;
use tokio_postgres::{Client, SimpleQueryMessage};

use super::lex;
use super::limits::Limits;
use super::selection::Selection;
use super::table::Tree;

/// Blocks that are read to count rows.
const SAMPLE_BLOCKS: u64 = 1000;

/// Whether one of the tables has rows, as its size says, and was never analyzed.
const UNKNOWN: &str = "\
SELECT COALESCE(pg_catalog.bool_or(c.reltuples < 0 OR c.relpages = 0
  OR COALESCE(pg_catalog.pg_stat_get_last_analyze_time(c.oid), pg_catalog.pg_stat_get_last_autoanalyze_time(c.oid)) IS NULL),
  false)
FROM pg_catalog.pg_class c WHERE c.relkind = 'r' AND pg_catalog.pg_relation_size(c.oid) > 0 AND c.oid = ANY ($1)";

/// The rows of `statement`, as the planner has it; nothing where it would have to guess.
pub(super) async fn of_query(client: &Client, statement: &str) -> Option<u64> {
    let plan = explain(client, statement).await?;
    let mut names = Vec::new();
    tables(&plan, &mut names);
    let sql = "SELECT COALESCE(pg_catalog.array_agg(pg_catalog.to_regclass(name)::pg_catalog.oid), '{}') \
               FROM pg_catalog.unnest($1::text[]) AS name";
    let found: Vec<Option<u32>> = client.query_one(sql, &[&names]).await.ok()?.get(0);
    let found: Vec<u32> = found.into_iter().flatten().collect();
    if unknown(client, &found).await? { None } else { plan.pointer("/Plan Rows")?.as_u64() }
}

/// The rows of a plain selection within its limits.
pub(super) async fn of_selection(
    client: &Client,
    selection: &Selection<'_>,
    limits: &Limits,
    oid: u32,
    statement: &str,
) -> Option<u64> {
    let tree = Tree::load(client, oid, selection.only).await.ok()?;
    if !unknown(client, &tree.members).await? {
        return explain(client, statement).await?.pointer("/Plan Rows")?.as_u64();
    }
    #[allow(clippy::cast_precision_loss, reason = "a share of a sample")]
    let percent = (100.0 * SAMPLE_BLOCKS as f64 / tree.blocks.max(1) as f64).min(100.0);
    let from = format!("{}\nTABLESAMPLE SYSTEM ({percent:.6})", selection.from.trim_end());
    let sampled = Selection { from: &from, ..selection.clone() };
    let conditions: Vec<String> = limits.filter.iter().cloned().collect();
    let count = client.query_one(&sampled.statement(Some("pg_catalog.count(*)"), &conditions), &[]).await.ok()?;
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate"
    )]
    Some((count.try_get::<_, i64>(0).ok()? as f64 * 100.0 / percent) as u64)
}

async fn unknown(client: &Client, tables: &[u32]) -> Option<bool> {
    client.query_one(UNKNOWN, &[&tables]).await.ok()?.try_get(0).ok()
}

/// The topmost node of the plan.
async fn explain(client: &Client, statement: &str) -> Option<Value> {
    if !matches!(lex::first_word(statement).as_str(), "select" | "with" | "values" | "table") {
        return None;
    }
    let explain = format!("EXPLAIN (VERBOSE, FORMAT JSON) {}", lex::body(statement));
    let messages = client.simple_query(&explain).await.ok()?;
    let text = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    })?;
    let mut plans: Value = serde_json::from_str(text).ok()?;
    plans.pointer_mut("/0/Plan").map(Value::take)
}

/// The tables that the node and those below it read, as SQL writes them.
fn tables(node: &Value, names: &mut Vec<String>) {
    if let (Some(schema), Some(name)) = (node["Schema"].as_str(), node["Relation Name"].as_str()) {
        names.push(crate::postgres::name::qualified(Some(schema), name));
    }
    for below in node["Plans"].as_array().into_iter().flatten() {
        tables(below, names);
    }
}
