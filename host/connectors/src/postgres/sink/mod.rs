//! Sink `postgres`: pages into one table.
//!
//! | `write_mode` | how a page gets there |
//! |---|---|
//! | `append` | one `COPY` into the table |
//! | `upsert` | one `COPY` into a temporary stage, then one `INSERT .. ON CONFLICT (key) DO UPDATE`; deletes by a join |
//! | `overwrite` | `COPY` into a side table, which replaces the table's rows when the run ends ([`overwrite`]) |
//!
//! Values are copied in binary where every column has a direct form for its destination type, else in text, which the
//! server's own input functions parse. Rows are written one by one only where their order matters ([`ways`]).
//!
//! * **K1** A transaction is open from the first write to the commit; the commit is the server's COMMIT. After any error
//!   the sink refuses everything, so that half a page is never committed.
//! * **K2** The catalog is read and statements are prepared once per schema of pages.
//! * **K3** A column that a page has and the table lacks follows the pipeline's `schema` block ([`drift`]); one that the table has and the page lacks keeps its
//!   default, or the value that is there. So does an absent slot.
//! * **K4** Generated columns are never written. A value for an identity column is written as it is (`OVERRIDING SYSTEM
//!   VALUE`); an update leaves `GENERATED ALWAYS AS IDENTITY` alone, as PostgreSQL demands.
//! * **K5** What a page does equals its changes one by one, in the order of the source ([`ways`]).

mod aside;
mod claim;
mod config;
mod copy;
mod create;
mod drift;
mod examine;
mod explain;
mod fit;
mod in_order;
mod labels;
mod left;
mod merge;
mod merge_sql;
mod overwrite;
mod plan;
mod proof;
mod rows;
mod session;
mod target;
mod token;
mod ways;
mod writer;

use async_trait::async_trait;
use faucet_core::error::{Blame, Code, Problem, Result, Retry};
use faucet_core::model::Page;
use faucet_core::ports::{Finding, Sink, SinkCapabilities, SinkConnector, SinkContext, WriteMode};

pub use config::{ColumnMapping, SinkConfig};
pub use labels::LABEL_MISSING;
pub use proof::VALUE_WOULD_CHANGE;
pub use session::Triggers;
use writer::PostgresSink;

/// The destination has no unique constraint to upsert by.
pub static NO_UNIQUE_KEY: Code = Code {
    id: "postgres.no_unique_key",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the destination has no primary key or unique constraint on the columns of `key`",
    help: "`write_mode: upsert` finds a row by `key`, and PostgreSQL does that only through a unique index over exactly \
           these columns, valid, not deferrable, without a WHERE clause or expressions. Add one: `CREATE UNIQUE INDEX ON \
           t (id)`, or a primary key where there is none, or set `key` to the columns of the one that is there.",
};

/// What the configuration names is no table.
pub static NOT_A_TABLE: Code = Code {
    id: "postgres.not_a_table",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the destination is something that rows can't be written to this way",
    help: "Rows are written to tables and partitioned tables; `append` also writes to foreign tables. Views, sequences \
           and materialized views can't be destinations: name the table itself.",
};

/// The column that should hold rows as JSON does not.
pub static NOT_JSONB: Code = Code {
    id: "postgres.not_jsonb",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "`column_mapping: jsonb` needs a column of type jsonb",
    help: "Each row becomes one JSON object in the column that `jsonb_column` names, `data` by default. Make that column \
           `jsonb`, or name another one.",
};

/// Two runs replace one table at once.
pub static OVERWRITE_BUSY: Code = Code {
    id: "postgres.overwrite_busy",
    blame: Blame::Environment,
    retry: Retry::Backoff,
    title: "another run is overwriting the same table",
    help: "A run with `write_mode: overwrite` collects its rows beside the table and swaps them in at its end. Two at \
           once would mix. Wait for the other one, or stop it.",
};

/// The sink is used after it failed.
pub static UNUSABLE: Code = Code {
    id: "postgres.sink_unusable",
    blame: Blame::Bug,
    retry: Retry::Backoff,
    title: "the sink was used after it had failed",
    help: "After an error a sink is opened anew, because its transaction is gone. This is a fault of faucet; the error \
           before this one is the cause.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&NO_UNIQUE_KEY, &NOT_A_TABLE, &NOT_JSONB, &OVERWRITE_BUSY, &UNUSABLE];

/// The connector behind `type: postgres` of a sink.
#[derive(Debug)]
pub struct Table;

#[async_trait]
impl SinkConnector for Table {
    type Config = SinkConfig;
    const NAME: &'static str = "postgres";
    const SUMMARY: &'static str = "A PostgreSQL table: append, upsert or overwrite";

    fn capabilities(config: &SinkConfig) -> SinkCapabilities {
        SinkCapabilities {
            write_mode: config.write_mode,
            key: config.key.clone(),
            delete_marker: config.delete_marker.as_ref().map(|m| m.field.clone()),
            modes: vec![WriteMode::Append, WriteMode::Upsert, WriteMode::Overwrite],
            transactional: true,
            // Rows of an overwrite are visible at the end only, so a commit before it has nothing to vouch for.
            tokens: config.write_mode != WriteMode::Overwrite,
            claims: config.write_mode != WriteMode::Overwrite,
            evolves: true,
            sets_aside: true,
            // An overwrite replaces the table at the end of one run of one writer.
            parallel: config.write_mode != WriteMode::Overwrite,
        }
    }

    fn validate(config: &SinkConfig) -> Vec<Problem> {
        config.problems()
    }

    async fn open(config: SinkConfig, context: SinkContext) -> Result<Box<dyn Sink>> {
        Ok(Box::new(PostgresSink::open(config, &context).await?))
    }

    async fn examine(config: SinkConfig, pipeline: &str) -> Result<Vec<Finding>> {
        examine::examine(&config, pipeline).await
    }

    async fn explain(config: SinkConfig, context: SinkContext, page: Page) -> Result<Vec<String>> {
        PostgresSink::open(config, &context).await?.explain(&page).await
    }
}
