//! Source `postgres`: the rows of a query.
//!
//! The query is described before it runs, so that names and types are known and problems are found early. It runs in a
//! read-only transaction: a source that could write would do so again at every retry. `COPY (query) TO STDOUT` in
//! binary format carries the rows; columns of types without a binary decoder here are cast to text by the server inside
//! that COPY ([`plan`]). What COPY can't take (`SHOW`, `EXPLAIN`) streams as text rows. Memory is bounded by one page
//! whatever the size of the result.
//!
//! A plain selection from one table can be read in parts ([`split`]): [`selection`] takes it apart, [`table`] and [`range`]
//! say how it is cut, [`limits`] holds it to what a publication covers.
//!
//! When all columns come from one table, pages carry that table's name, and its primary key if the query selects it.

pub mod copy;
mod estimate;
mod lex;
mod limits;
mod plan;
mod range;
mod reader;
pub(in crate::postgres) mod reads;
mod selection;
mod split;
mod table;

use async_trait::async_trait;
use faucet_core::error::{Blame, Code, Problem, Result, Retry};
use faucet_core::ports::{Capture, Source, SourceCapabilities, SourceConnector, SourceContext, Split};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::Timestamps;
use super::{ConnectionUrl, Endpoint, TlsConfig};
use reader::QuerySource;
pub(super) use split::system;
use split::{PartSpec, QuerySplit};

/// Configuration of source `postgres`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueryConfig {
    /// Where to connect: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=...`
    pub connection_url: ConnectionUrl,
    /// TLS settings that replace those in the URL.
    #[serde(default)]
    pub tls: Option<TlsConfig>,
    /// The query whose rows are read, such as `SELECT * FROM public.orders`. It runs in a read-only transaction.
    pub query: String,
    /// Most rows in a page. A page is also cut at about 4 MiB.
    #[serde(default = "default_batch_size")]
    pub batch_size: usize,
    /// How timestamps travel. A mirror's stream and snapshot should agree.
    #[serde(default)]
    pub timestamps: Timestamps,
}

fn default_batch_size() -> usize {
    10_000
}

/// Two columns of the query have one name.
pub static DUPLICATE_COLUMN: Code = Code {
    id: "postgres.duplicate_column",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "two columns of the query have the same name",
    help: "Columns are told apart by name. A join of two tables with `SELECT *` often returns one name twice: list the \
           columns and give one of them another name (`b.id AS b_id`).",
};

/// The query can't be read from.
pub static NOT_A_QUERY: Code = Code {
    id: "postgres.not_a_query",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the statement is no query that rows can be read from",
    help: "The source reads the rows of one statement that returns columns and takes no parameters, such as `SELECT`, \
           `WITH .. SELECT`, `VALUES`, `TABLE` or `SHOW`.",
};

/// The query tried to write.
pub static QUERY_WRITES: Code = Code {
    id: "postgres.query_writes",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the query of a source tried to write",
    help: "A source runs its query in a read-only transaction, because a retry runs it again. `INSERT .. RETURNING`, \
           `nextval()`, `FOR UPDATE` and functions that write don't work there. Do the writing in a job of its own.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[
    &DUPLICATE_COLUMN,
    &NOT_A_QUERY,
    &QUERY_WRITES,
    &limits::NOT_COVERED,
    &split::NOT_SPLITTABLE,
    &split::SNAPSHOT_GONE,
];

/// The connector behind `type: postgres` of a source.
#[derive(Debug)]
pub struct Query;

#[async_trait]
impl SourceConnector for Query {
    type Config = QueryConfig;
    const NAME: &'static str = "postgres";
    const SUMMARY: &'static str = "Rows of a PostgreSQL query, read once";

    fn capabilities(_: &QueryConfig) -> SourceCapabilities {
        SourceCapabilities { split: true, ..SourceCapabilities::default() }
    }

    fn validate(config: &QueryConfig) -> Vec<Problem> {
        let mut problems = Endpoint::problems(&config.connection_url, config.tls.as_ref());
        if lex::first_word(&config.query).is_empty() {
            problems.push(
                Problem::error("query", "the query is empty").hint("write a statement such as `SELECT * FROM orders`"),
            );
        }
        if config.batch_size == 0 {
            problems.push(Problem::error("batch_size", "a page needs at least one row").hint("leave it out for 10000"));
        }
        problems
    }

    async fn open(config: QueryConfig, context: SourceContext) -> Result<Box<dyn Source>> {
        let endpoint = Endpoint::new(&config.connection_url, config.tls.as_ref())?;
        let session = endpoint.connect_source(&context.pipeline).await?;
        let part = match &context.part {
            None => PartSpec { query: config.query.clone(), snapshot: None },
            Some(part) => PartSpec::read(part)?,
        };
        Ok(Box::new(QuerySource::open(session, &part, &config, &context.pipeline).await?))
    }

    fn capture(_: QueryConfig) -> Option<Box<dyn Capture>> {
        None
    }

    fn split(config: QueryConfig, pipeline: &str) -> Option<Box<dyn Split>> {
        Some(Box::new(QuerySplit { config, pipeline: pipeline.to_owned(), session: None }))
    }
}
