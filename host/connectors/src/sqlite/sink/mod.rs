//! Writing to SQLite.
//!
//! * **Q1** All rows from the first write to the commit are one transaction, with the token in it. A commit returns when
//!   the write-ahead log is synced (`journal_mode = WAL`, `synchronous = FULL`): what it wrote survives a power loss.
//! * **Q2** Rows are applied one by one, in their order, so that constraints meet them as the source's did.
//! * **Q3** A value is stored exactly or refused; see `bind.rs` and `kinds.rs`.

mod bind;
mod config;
mod examine;
mod explain;
mod moves;
mod overwrite;
mod plan;
mod rows;
mod statements;
mod target;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod token;
mod writer;

use async_trait::async_trait;
use faucet_core::error::{Blame, Code, Problem, Result, Retry};
use faucet_core::model::Page;
use faucet_core::ports::{Finding, SetAside, Sink, SinkCapabilities, SinkConnector, SinkContext, Standing, WriteMode};

pub use self::config::SqliteSinkConfig;
use self::writer::Writer;
use crate::blocking::Worker;
use faucet_core::ports::refuse_token;

/// There is no such table.
pub static TABLE_MISSING: Code = Code {
    id: "sqlite.table_missing",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "the table to write to does not exist",
    help: "Create the table, correct `table_name`, or let faucet create it with `create_table: true`.",
};

/// The table lacks a column.
pub static COLUMN_MISSING: Code = Code {
    id: "sqlite.column_missing",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "rows have a column that the SQLite table lacks",
    help: "Every column of a row has to have a place in the table, so that nothing is lost in silence. Add the column \
           with the statement in the message, or drop it on the way (in the query, or in a transform). The column that \
           `delete_marker` names needs no place.",
};

/// Two columns have one name for SQLite.
pub static COLUMN_TWICE: Code = Code {
    id: "sqlite.column_twice",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "two columns differ only by the case of letters, which SQLite ignores",
    help: "SQLite takes `Name` and `name` for one column. Rename one of the two on the way.",
};

/// Nothing keeps rows with one key from being two.
pub static KEY_NOT_UNIQUE: Code = Code {
    id: "sqlite.key_not_unique",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "the SQLite table has no unique index over the key",
    help: "`write_mode: upsert` finds a row by its key, which needs a PRIMARY KEY or a UNIQUE index over exactly the \
           columns of `key`, without a WHERE. The message has the statement that creates one. It fails while there are \
           two rows with one key: remove one of them first.",
};

/// The column's affinity would change a value.
pub static VALUE_WOULD_CHANGE: Code = Code {
    id: "sqlite.value_would_change",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "SQLite would change a value, because of how its column is declared",
    help: "A column's declaration gives it an affinity: a text `007` in an INTEGER column becomes 7, a decimal of 20 \
           digits in a NUMERIC column becomes a rounded float. faucet does not write what would come back as something \
           else. The column has to be declared TEXT (or with no type). SQLite can't alter a declaration: drop the table, let \
           faucet make it with `create_table: true`, and copy anew (`faucet mirror drop CONFIG`, then `faucet mirror \
           --replace CONFIG`).",
};

/// Used after an error.
pub static AFTER_ERROR: Code = Code {
    id: "sqlite.used_after_error",
    blame: Blame::Bug,
    retry: Retry::Backoff,
    title: "the SQLite sink was used after it had failed",
    help: "After an error the transaction is rolled back and the sink has to be opened anew. Please report this.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] =
    &[&TABLE_MISSING, &COLUMN_MISSING, &COLUMN_TWICE, &KEY_NOT_UNIQUE, &VALUE_WOULD_CHANGE, &AFTER_ERROR];

/// The sink `sqlite`.
pub struct SqliteSink;

#[async_trait]
impl SinkConnector for SqliteSink {
    type Config = SqliteSinkConfig;
    const NAME: &'static str = "sqlite";
    const SUMMARY: &'static str = "A table in a SQLite database: append, upsert or overwrite";

    fn capabilities(config: &SqliteSinkConfig) -> SinkCapabilities {
        SinkCapabilities {
            write_mode: config.write_mode,
            key: config.key.clone(),
            delete_marker: config.marker_column().map(str::to_owned),
            modes: vec![WriteMode::Append, WriteMode::Upsert, WriteMode::Overwrite],
            transactional: true,
            tokens: config.write_mode != WriteMode::Overwrite,
            claims: config.write_mode != WriteMode::Overwrite,
            evolves: true,
            sets_aside: true,
            // A database file has one writer at a time.
            parallel: false,
        }
    }

    fn validate(config: &SqliteSinkConfig) -> Vec<Problem> {
        config.check()
    }

    async fn open(config: SqliteSinkConfig, context: SinkContext) -> Result<Box<dyn Sink>> {
        let keeps_tokens = Self::capabilities(&config).tokens;
        let writer = Worker::start("sqlite sink", move || Writer::open(config, &context)).await?;
        Ok(Box::new(OpenSink { writer, keeps_tokens, aside: Vec::new() }))
    }

    async fn examine(config: SqliteSinkConfig, _: &str) -> Result<Vec<Finding>> {
        let examine = move || Ok(examine::examine(&config));
        Worker::start("sqlite examine", examine).await?.run(|found| Ok(std::mem::take(found))).await
    }

    async fn explain(config: SqliteSinkConfig, context: SinkContext, page: Page) -> Result<Vec<String>> {
        let explain = move || explain::explain(config, &context, page);
        Worker::start("sqlite explain", explain).await?.run(|said| Ok(std::mem::take(said))).await
    }
}

struct OpenSink {
    writer: Worker<Writer>,
    /// An overwrite that did not end leaves no rows, so it can't leave a token either.
    keeps_tokens: bool,
    /// Rows of pages written that were refused.
    aside: Vec<SetAside>,
}

#[async_trait]
impl Sink for OpenSink {
    async fn last_token(&mut self, scope: &str) -> Result<Option<String>> {
        let scope = scope.to_owned();
        self.writer.run(move |writer| writer.last_token(&scope)).await
    }

    async fn holds_rows(&mut self) -> Result<Option<bool>> {
        match self.keeps_tokens {
            true => self.writer.run(|writer| writer.holds_rows()).await,
            false => Ok(None),
        }
    }

    async fn clear(&mut self) -> Result<()> {
        self.writer.run(Writer::clear).await
    }

    async fn standing(&mut self) -> Result<Standing> {
        self.writer.run(Writer::standing).await
    }

    async fn claim(&mut self, from: Option<&str>, anew: bool) -> Result<bool> {
        let from = from.map(str::to_owned);
        self.writer.run(move |writer| writer.claim(from.as_deref(), anew)).await
    }

    async fn write(&mut self, page: Page) -> Result<()> {
        self.aside.extend(self.writer.run(move |writer| writer.write(page)).await?);
        Ok(())
    }

    fn set_aside(&mut self) -> Vec<SetAside> {
        std::mem::take(&mut self.aside)
    }

    async fn commit(&mut self, token: Option<(&str, &str)>) -> Result<()> {
        if !self.keeps_tokens {
            refuse_token(token)?;
        }
        let token = token.map(|(scope, token)| (scope.to_owned(), token.to_owned()));
        let pair = move |writer: &mut Writer| {
            writer.commit(token.as_ref().map(|(scope, token)| (scope.as_str(), token.as_str())))
        };
        self.writer.run(pair).await
    }

    async fn finish(&mut self) -> Result<()> {
        self.writer.run(Writer::finish).await
    }

    async fn close(&mut self) -> Result<()> {
        self.writer.run(Writer::close).await
    }
}
