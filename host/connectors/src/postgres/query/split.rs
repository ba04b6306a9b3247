//! Reads the query in ranges: all of a run as of one snapshot, which an idle session holds.
//!
//! The session locks the table against changes of its shape, takes the snapshot, plans the ranges and exports the
//! snapshot; each range is then read by a session of its own that imports it. The plan holds what has to be the same for
//! a later run to trust what an earlier one finished: the statement, the table with its partitions, the columns, the
//! key. Ranges that were finished are then searched for row versions that were written since.
//!
//! A row version seen by this run's snapshot was seen by the earlier one too, in the same range, or its transaction is
//! not older than the oldest one that ran then (the earlier snapshot's xmin, which is the stamp). So reading the rows
//! of transactions from the stamp on, in the finished ranges, finds all that the earlier run can't have seen.

use async_trait::async_trait;
use faucet_core::error::{Blame, Code, Error, Result, Retry, UNCHECKED_CONFIG};
use faucet_core::ports::{Earlier, Part, Parts, Split, Wanted};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_postgres::Client;

use super::estimate;
use super::limits::{self, Limits};
use super::plan::failed;
use super::range::{self, Cuts, KeyColumn};
use super::selection::Selection;
use super::table::{self, Relation, Tree};
use super::{QueryConfig, lex, reads};
use crate::postgres::error::{CONFLICT, from_driver};
use crate::postgres::name::{list, quoted};
use crate::postgres::{Endpoint, Session};

/// Ranges were asked for and can't be had.
pub static NOT_SPLITTABLE: Code = Code {
    id: "postgres.not_splittable",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the snapshot's query can't be read in ranges",
    help: "Ranges need a plain `SELECT .. FROM table WHERE ..` from one table, because a range is a further condition on \
           the table's rows, and a key or a plain table to cut by. Without `shards`, faucet reads such a query as a \
           whole.",
};

/// One range for each so many bytes of a table, unless a number is given.
const RANGE_BYTES: u64 = 256 << 20;
/// No more ranges than this, unless a number is given.
const MOST_RANGES: u64 = 256;
/// Blocks that are read to find bounds.
const SAMPLE_BLOCKS: u64 = 2000;
/// Transactions between a stamp and now from which on their order can't be told by 32-bit numbers; with a margin for
/// those that begin while the ranges are read.
const STAMP_LASTS: u64 = 2_000_000_000;

/// The session that holds the snapshot is gone.
pub static SNAPSHOT_GONE: Code = Code {
    id: "postgres.snapshot_gone",
    blame: Blame::Source,
    retry: Retry::Backoff,
    title: "the snapshot that all ranges are read under is gone",
    help: "One idle session holds the snapshot while the others read under it. It was ended (by the server, a pooler or a \
           firewall), or the others reached another server: with several hosts in `connection_url`, all sessions have to \
           come to the same one. faucet plans the rest anew under a new snapshot; `shards: 1` does without one.",
};

/// What a source is opened with to read one part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartSpec {
    /// The statement.
    pub query: String,
    /// The exported snapshot to read it under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
}

impl PartSpec {
    /// Reads what [`QuerySplit`] wrote.
    ///
    /// # Errors
    /// When it wrote no such thing.
    pub fn read(value: &Value) -> Result<Self> {
        Self::deserialize(value).map_err(|_| Error::new(&UNCHECKED_CONFIG, "the part to read is none of this source"))
    }
}

/// What has to be the same for ranges of an earlier run to count, and where they are cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Plan {
    statement: String,
    system: Option<String>,
    members: Vec<u32>,
    columns: Vec<String>,
    /// For ranges of blocks: the file they are in.
    file: Option<u32>,
    cuts: Cuts,
}

impl Plan {
    fn fits(&self, earlier: &Self) -> bool {
        let same = |plan: &Self| {
            (plan.statement.clone(), plan.system.clone(), plan.members.clone(), plan.columns.clone(), plan.file)
        };
        same(self) == same(earlier) && self.cuts.alike(&earlier.cuts) && earlier.cuts.is_sound()
    }
}

/// The query source's ability to be read in parts.
pub struct QuerySplit {
    pub(super) config: QueryConfig,
    pub(super) pipeline: String,
    /// Holds the snapshot and the lock.
    pub(super) session: Option<Session>,
}

#[async_trait]
impl Split for QuerySplit {
    async fn plan(&mut self, wanted: Wanted) -> Result<Parts> {
        let endpoint = Endpoint::new(&self.config.connection_url, self.config.tls.as_ref())?;
        let session = endpoint.connect_source(&self.pipeline).await?;
        let planned = Planner { client: &session, wanted }.plan(&self.config.query).await;
        match planned.map_err(|e| e.context("planning the snapshot"))? {
            (parts, true) => {
                self.session = Some(session);
                Ok(parts)
            }
            (parts, false) => {
                session.close().await;
                Ok(parts)
            }
        }
    }

    async fn reads(&mut self) -> Result<Option<Value>> {
        let endpoint = Endpoint::new(&self.config.connection_url, self.config.tls.as_ref())?;
        let session = endpoint.connect_source(&self.pipeline).await?;
        let reads = reads::of(&session, &self.config.query).await;
        session.close().await;
        Ok(Some(json!(reads?)))
    }

    async fn close(&mut self) {
        if let Some(session) = self.session.take() {
            session.close().await;
        }
    }
}

/// The moment a run's rows are from.
struct Moment {
    /// Every transaction before it had ended.
    oldest: u64,
    /// The first that had not begun.
    next: u64,
}

struct Planner<'a> {
    client: &'a Client,
    wanted: Wanted,
}

impl Planner<'_> {
    /// The parts, and whether the session has to live as long as they.
    async fn plan(&self, query: &str) -> Result<(Parts, bool)> {
        let selection = match Selection::parse(query) {
            Ok(selection) => selection,
            Err(why) => return self.unlimited(query, why).await,
        };
        let relation = match Relation::find(self.client, &selection.table).await? {
            Some(relation) if relation.is_table => relation,
            Some(_) => return self.unlimited(query, "it reads from a view or a foreign table").await,
            // Opening it says what is missing.
            None => return self.unlimited(query, "there is no such table").await,
        };
        let limits = limits::of(self.client, &selection, &relation, &self.wanted.coverage).await?;
        limits::refuse_if_narrower(self.client, &selection, &limits).await?;
        let statement = statement(&selection, &limits, &[]);
        // Outside of a transaction, which a failure would end.
        let rows = estimate::of_selection(self.client, &selection, &limits, relation.oid, &statement).await;
        if self.wanted.shards == Some(1) {
            return Ok(whole(&statement, rows));
        }
        let why = match relation.readable {
            true => computes(self.client, query).await?,
            false => Some("this role may read only some of the table's columns"),
        };
        if let Some(why) = why {
            self.refuse_if_asked(why)?;
            return Ok(whole(&statement, rows));
        }
        let system = system(self.client).await;
        self.ranges(&Cutting { selection, relation, limits, statement, system, rows }).await
    }

    /// A query that is no plain selection.
    async fn unlimited(&self, query: &str, why: &str) -> Result<(Parts, bool)> {
        limits::refuse_if_limited(&self.wanted.coverage, why)?;
        self.refuse_if_asked(why)?;
        Ok(whole(query, estimate::of_query(self.client, query).await))
    }

    fn refuse_if_asked(&self, why: &str) -> Result<()> {
        if self.wanted.shards.unwrap_or(1) <= 1 {
            return Ok(());
        }
        let what = format!("`shards` asks for ranges, and the snapshot's query can't be cut: {why}");
        Err(Error::new(&NOT_SPLITTABLE, what).hint("remove `shards`, or write `SELECT .. FROM table WHERE ..`"))
    }

    async fn ranges(&self, cutting: &Cutting<'_>) -> Result<(Parts, bool)> {
        let tree = begin(self.client, &cutting.selection, &cutting.relation).await?;
        let cuts = match self.plan_cuts(cutting, &tree).await? {
            Ok(plan) => plan,
            Err(why) => {
                self.client.batch_execute("COMMIT").await.map_err(|e| from_driver(&e))?;
                if let Some(why) = why {
                    self.refuse_if_asked(why)?;
                }
                return Ok(whole(&cutting.statement, cutting.rows));
            }
        };
        let moment = moment(self.client).await?;
        let snapshot: String = one(self.client, "SELECT pg_catalog.pg_export_snapshot()").await?;
        let finished = self.trusted(&cuts, &moment);
        let part = |number: usize| {
            let mut conditions: Vec<String> = cuts.cuts.condition(number).into_iter().collect();
            conditions.extend(finished(number).map(written_since));
            let query = statement(&cutting.selection, &cutting.limits, &conditions);
            let spec = PartSpec { query, snapshot: Some(snapshot.clone()) };
            Part { number: u32::try_from(number).unwrap_or(u32::MAX), spec: json!(spec) }
        };
        let parts = (0..cuts.cuts.ranges()).map(part).collect();
        // Where a row may come or go without being written, what was finished can't be completed later.
        let plan = if cutting.selection.is_fleeting() { Value::Null } else { json!(cuts) };
        Ok((Parts { plan, stamp: moment.oldest.to_string().into(), parts, rows: cutting.rows }, true))
    }

    /// Where to cut: as before if that still fits, else by key, else by blocks. Without a reason there is just one range.
    async fn plan_cuts(
        &self,
        cutting: &Cutting<'_>,
        tree: &Tree,
    ) -> Result<std::result::Result<Plan, Option<&'static str>>> {
        if !tree.local {
            return Ok(Err(Some("some of its partitions are foreign tables")));
        }
        let inherited = !cutting.relation.partitioned && !tree.is_single();
        let key = table::key(self.client, cutting.relation.oid, inherited).await?;
        let empty = match key {
            Some((columns, nullable)) => Cuts::Key { columns, nullable, bounds: Vec::new() },
            None if tree.is_single() && !cutting.relation.partitioned => Cuts::Blocks { bounds: Vec::new() },
            None => return Ok(Err(Some("the table has no unique index on plain columns"))),
        };
        let mut plan = describe(self.client, cutting, tree, empty).await?;
        let earlier = self.wanted.earlier.as_ref().and_then(|earlier| Plan::deserialize(&earlier.plan).ok());
        if let Some(earlier) = earlier.filter(|earlier| plan.fits(earlier)) {
            return Ok(Ok(earlier));
        }
        let shards = self.wanted.shards.unwrap_or_else(|| by_size(tree.bytes));
        match &mut plan.cuts {
            Cuts::Key { columns, nullable, bounds } => {
                *bounds = cutting.sample(self.client, columns, *nullable, tree.blocks, shards).await?;
            }
            Cuts::Blocks { bounds } => *bounds = range::blocks(tree.blocks, shards),
        }
        Ok(if plan.cuts.ranges() > 1 { Ok(plan) } else { Err(None) })
    }

    /// For each range, the stamp it was finished under, if its rows need not all be read again.
    fn trusted(&self, plan: &Plan, moment: &Moment) -> impl Fn(usize) -> Option<u64> {
        let same = |earlier: &&Earlier| Plan::deserialize(&earlier.plan).is_ok_and(|earlier| earlier == *plan);
        let finished = self.wanted.earlier.as_ref().filter(same).map(|e| e.finished.clone()).unwrap_or_default();
        let next = moment.next;
        move |number| {
            let stamp = finished.get(&u32::try_from(number).ok()?)?.as_str()?.parse().ok()?;
            next.checked_sub(stamp).filter(|age| *age < STAMP_LASTS).map(|_| stamp)
        }
    }
}

/// What is to be cut.
struct Cutting<'q> {
    selection: Selection<'q>,
    relation: Relation,
    limits: Limits,
    statement: String,
    system: Option<String>,
    /// About how many rows it has.
    rows: Option<u64>,
}

impl Cutting<'_> {
    /// Bounds between `shards` ranges of about the same number of rows, from a sample of the table's blocks.
    async fn sample(
        &self,
        client: &Client,
        columns: &[KeyColumn],
        nullable: bool,
        blocks: u64,
        shards: u32,
    ) -> Result<Vec<Vec<String>>> {
        if shards <= 1 {
            return Ok(Vec::new());
        }
        let sql = self.sample_query(columns, nullable, blocks, shards);
        let rows = client.query(&sql, &[]).await.map_err(|e| failed(&e))?;
        let mut bounds: Vec<Vec<String>> =
            rows.iter().map(|row| (0..columns.len()).map(|index| row.get(index)).collect()).collect();
        bounds.dedup();
        Ok(bounds)
    }

    fn sample_query(&self, columns: &[KeyColumn], nullable: bool, blocks: u64, shards: u32) -> String {
        #[allow(clippy::cast_precision_loss, reason = "a share of a sample")]
        let percent = (100.0 * SAMPLE_BLOCKS as f64 / blocks.max(1) as f64).min(100.0);
        let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
        let key = list(columns.iter().map(|column| column.name.as_str()));
        let not_null = nullable.then(|| format!("{} IS NOT NULL", names[0]));
        let from = format!("{}\nTABLESAMPLE SYSTEM ({percent:.6})", self.selection.from.trim_end());
        let sampled = Selection { from: &from, ..self.selection.clone() };
        let picked = names.iter().enumerate().map(|(n, name)| format!("{name} AS c{n}"));
        let picked = picked.collect::<Vec<_>>().join(", ");
        let numbered = format!(
            "{picked}, pg_catalog.row_number() OVER (ORDER BY {key}) AS place, pg_catalog.count(*) OVER () AS total"
        );
        let conditions: Vec<String> = self.limits.filter.iter().cloned().chain(not_null).collect();
        let rows = sampled.statement(Some(&numbered), &conditions);
        // `format` calls a type's output function.
        let texts = (0..names.len()).map(|n| format!("pg_catalog.format('%s', c{n})"));
        format!(
            "SELECT {} FROM (\n{rows}\n) AS s WHERE place > 1 \
             AND (place - 1) * {shards} / total <> (place - 2) * {shards} / total ORDER BY place",
            texts.collect::<Vec<_>>().join(", ")
        )
    }
}

/// Everything by one query, which needs no session to live on.
fn whole(statement: &str, rows: Option<u64>) -> (Parts, bool) {
    let spec = PartSpec { query: statement.to_owned(), snapshot: None };
    let parts = vec![Part { number: 0, spec: json!(spec) }];
    (Parts { plan: Value::Null, stamp: Value::Null, parts, rows }, false)
}

/// The cluster's own number; a role may be kept from asking.
pub(in crate::postgres) async fn system(client: &Client) -> Option<String> {
    one(client, "SELECT system_identifier::text FROM pg_catalog.pg_control_system()").await.ok()
}

fn by_size(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(RANGE_BYTES).clamp(1, MOST_RANGES)).unwrap_or(1)
}

/// The selection within its limits, under further conditions.
fn statement(selection: &Selection<'_>, limits: &Limits, conditions: &[String]) -> String {
    let all: Vec<String> = conditions.iter().chain(&limits.filter).cloned().collect();
    selection.statement(limits.list.as_deref(), &all)
}

/// Holds for row versions of the transaction `stamp` and those after it.
///
/// `age` counts back from the next transaction, modulo 2^32; a version so old that its number comes round again looks
/// younger and is read once more, which does no harm.
fn written_since(stamp: u64) -> String {
    format!("pg_catalog.age(xmin) <= pg_catalog.age('{}'::pg_catalog.xid)", stamp as u32)
}

/// Whether a row of the result may stand for more than one row of the table. The server says so when asked to lock them.
async fn computes(client: &Client, query: &str) -> Result<Option<&'static str>> {
    let locking = format!("{}\nFOR KEY SHARE", lex::body(query));
    match client.prepare(&locking).await {
        Ok(_) => Ok(None),
        Err(error) if error.code() == Some(&tokio_postgres::error::SqlState::FEATURE_NOT_SUPPORTED) => {
            Ok(Some("it computes its rows from several (aggregates, window functions, functions that return sets)"))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Begins the transaction whose snapshot all ranges share. The lock keeps rows where they are; it comes first, because
/// a snapshot from before a rewrite of the table would see none of them.
async fn begin(client: &Client, selection: &Selection<'_>, relation: &Relation) -> Result<Tree> {
    let only = if selection.only { "ONLY " } else { "" };
    let sql = format!(
        "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; LOCK TABLE {only}{} IN ACCESS SHARE MODE",
        selection.table
    );
    client.batch_execute(&sql).await.map_err(|e| failed(&e))?;
    let now = Relation::find(client, &selection.table).await?;
    if now.is_none_or(|now| now.oid != relation.oid) {
        return Err(Error::new(&CONFLICT, "the table was replaced by another one of its name just now"));
    }
    Tree::load(client, relation.oid, selection.only).await
}

async fn moment(client: &Client) -> Result<Moment> {
    let sql = "SELECT pg_catalog.pg_snapshot_xmin(s)::text || ' ' || pg_catalog.pg_snapshot_xmax(s)::text \
               FROM pg_catalog.pg_current_snapshot() s";
    let text: String = one(client, sql).await?;
    let mut numbers = text.split(' ').filter_map(|number| number.parse().ok());
    let (oldest, next) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    Ok(Moment { oldest, next })
}

/// What a later run compares.
async fn describe(client: &Client, cutting: &Cutting<'_>, tree: &Tree, cuts: Cuts) -> Result<Plan> {
    let prepared = client.prepare(&cutting.statement).await.map_err(|e| failed(&e))?;
    let column = |c: &tokio_postgres::Column| format!("{} {} {}", c.name(), c.type_().oid(), c.type_modifier());
    Ok(Plan {
        statement: Selection::parse(&cutting.statement).map(|s| s.normal).unwrap_or_else(|_| cutting.statement.clone()),
        system: cutting.system.clone(),
        members: tree.members.clone(),
        columns: prepared.columns().iter().map(column).collect(),
        file: tree.file.filter(|_| matches!(cuts, Cuts::Blocks { .. })),
        cuts,
    })
}

async fn one<T>(client: &Client, sql: &str) -> Result<T>
where
    T: for<'a> tokio_postgres::types::FromSql<'a>,
{
    Ok(client.query_one(sql, &[]).await.map_err(|e| from_driver(&e))?.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_for_each_256_mib() {
        assert_eq!([0, 1, RANGE_BYTES, RANGE_BYTES + 1, u64::MAX].map(by_size), [1, 1, 1, 2, 256]);
    }

    #[test]
    fn stamps_are_compared_by_their_lower_half() {
        assert!(written_since((5 << 32) + 700).ends_with("age('700'::pg_catalog.xid)"));
    }
}
