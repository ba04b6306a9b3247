//! What of a table the change stream covers, applied to the query that reads the table's rows.
//!
//! A snapshot has to select exactly what the stream goes on to deliver: a row outside of the publication's filter or a
//! column outside of its list would reach the destination once and never change again.

use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::model::TableId;
use faucet_core::ports::{Coverage, QUERY_DIFFERS};
use tokio_postgres::Client;

use super::plan::failed;
use super::selection::Selection;
use super::table::{Relation, Tree};
use crate::postgres::name::list;

/// The query can't be made to select what the stream covers.
pub static NOT_COVERED: Code = Code {
    id: "postgres.not_covered",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the snapshot would hold what the publication leaves out",
    help: "The publication has a row filter or a column list, or the table has generated columns, which a stream doesn't \
           carry. What the snapshot copies beyond that would never change again at the destination. faucet limits a \
           plain `SELECT * FROM table WHERE ..` by itself; a list of columns has to name published ones, and other \
           queries can't be limited. Write a plain selection, or change the publication.",
};

/// What a plain selection is limited to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// The columns to select instead of all.
    pub list: Option<String>,
    /// The rows.
    pub filter: Option<String>,
}

/// Refuses a query that can't be limited though the stream is.
pub fn refuse_if_limited(coverage: &[Coverage], why: &str) -> Result<()> {
    let Some(limited) = coverage.iter().find(|c| c.listed || c.filter.is_some()) else { return Ok(()) };
    let what = format!(
        "the publication covers only a part of {}, and the snapshot's query can't be limited to it: {why}",
        limited.table
    );
    Err(Error::new(&NOT_COVERED, what).hint("write the query as `SELECT * FROM table`, with a WHERE clause if need be"))
}

/// Refuses a condition that leaves out rows which the stream goes on to carry. Those that come later are in the stream.
pub async fn refuse_if_narrower(client: &Client, selection: &Selection<'_>, limits: &Limits) -> Result<()> {
    let Some(condition) = selection.condition else { return Ok(()) };
    let covered = limits.filter.as_ref().map(|filter| format!("({filter}) AND ")).unwrap_or_default();
    let from = selection.from.trim_end();
    let sql = format!("SELECT EXISTS (SELECT\n{from}\nWHERE {covered}(\n{condition}\n) IS NOT TRUE)");
    let narrower: bool = client.query_one(&sql, &[]).await.map_err(|e| failed(&e))?.get(0);
    if !narrower {
        return Ok(());
    }
    let what = format!("the snapshot's query leaves out rows of {}, which the change stream carries", selection.table);
    Err(Error::new(&QUERY_DIFFERS, what).hint(
        "remove its WHERE; to leave rows out use a row filter of the publication, or a `filter` transform, which both \
         phases go through",
    ))
}

/// The limits of `selection` from `relation`.
pub async fn of(
    client: &Client,
    selection: &Selection<'_>,
    relation: &Relation,
    coverage: &[Coverage],
) -> Result<Limits> {
    let Some(covered) = covering(client, relation, coverage).await? else { return Ok(Limits::default()) };
    let columns = relation.columns(client).await?;
    let published = |name: &String| covered.columns.contains(name);
    let list = match (selection.star, columns.iter().all(|(_, name)| published(name))) {
        (_, true) => None,
        (true, false) => {
            Some(list(columns.iter().map(|(_, name)| name.as_str()).filter(|n| published(&(*n).to_owned()))))
        }
        (false, false) => {
            check_list(client, selection, relation, covered, &columns).await?;
            None
        }
    };
    Ok(Limits { list, filter: covered.filter.clone() })
}

/// What is covered of the relation: by its own name, or by that of a table it is a partition of.
async fn covering<'c>(client: &Client, relation: &Relation, coverage: &'c [Coverage]) -> Result<Option<&'c Coverage>> {
    if coverage.is_empty() {
        return Ok(None);
    }
    let named = |table: &TableId| coverage.iter().find(|c| c.table == *table);
    let above = relation.above(client).await?;
    if let Some(found) = named(&relation.name).or_else(|| above.iter().find_map(named)) {
        return Ok(Some(found));
    }
    if !relation.partitioned {
        return Ok(None);
    }
    let below = Tree::load(client, relation.oid, false).await?;
    let mut partitions = below.names.iter().filter_map(named);
    let first = partitions.clone().next();
    match partitions.find(|c| c.listed || c.filter.is_some()) {
        None => Ok(first),
        Some(partition) => Err(Error::new(
            &NOT_COVERED,
            format!("the publication covers only a part of {}, a partition of {}", partition.table, relation.name),
        )
        .hint("publish the partitioned table itself, WITH (publish_via_partition_root = true)")),
    }
}

/// A column of the list that comes from the table is a published one; where a list of columns is published, an
/// expression over unknown ones is none.
async fn check_list(
    client: &Client,
    selection: &Selection<'_>,
    relation: &Relation,
    covered: &Coverage,
    columns: &[(i16, String)],
) -> Result<()> {
    let statement = client.prepare(&selection.statement(None, &[])).await.map_err(|e| failed(&e))?;
    for column in statement.columns() {
        let number = column.column_id().filter(|_| column.table_oid() == Some(relation.oid));
        let source = columns.iter().find(|(attnum, _)| Some(*attnum) == number).map(|(_, name)| name);
        let what = match source {
            Some(name) if covered.columns.contains(name) => continue,
            Some(name) => format!("the snapshot's query selects column \"{name}\" of {}, which", relation.name),
            None if !covered.listed => continue,
            None => format!("the snapshot's query computes column \"{}\", and what it is computed from", column.name()),
        };
        let what = format!("{what} the change stream may not carry");
        return Err(Error::new(&NOT_COVERED, what).hint("leave it out, or write `SELECT *` for all published columns"));
    }
    Ok(())
}
