//! Reading from SQLite: the rows of one query, in one read transaction.
//!
//! A column's kind comes from `columns`, from its declaration (see `kinds.rs`), or for expressions from the values of
//! the first page. A value that the kind can't hold exactly stops the run: it is never turned into something near.

mod config;
mod reader;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod value;

use async_trait::async_trait;
use faucet_core::error::{Blame, Code, Problem, Result, Retry};
use faucet_core::ports::{Capture, Source, SourceCapabilities, SourceConnector, SourceContext};

pub use self::config::SqliteSourceConfig;
use self::reader::Reader;
use crate::blocking::PageReader;

/// A stored value is not of its column's kind.
pub static BAD_VALUE: Code = Code {
    id: "sqlite.bad_value",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "a value stored in SQLite is not of its column's kind",
    help: "SQLite lets any column hold any value, so a DATETIME column may hold numbers. Say what the column really holds \
           with `columns: { name: kind }`, or convert it in the query. For mixed values \
           `CAST(name AS TEXT) AS name` reads all of them as text.",
};

/// The query's columns can't be told apart.
pub static BAD_COLUMNS: Code = Code {
    id: "sqlite.bad_columns",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the columns of a query can't be used",
    help: "Every column of the query needs a name of its own (`SELECT a.id, b.id AS b_id`), and the names under `columns` \
           have to be among them. A statement that returns no columns is no query.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&BAD_VALUE, &BAD_COLUMNS];

/// The source `sqlite`.
pub struct SqliteSource;

#[async_trait]
impl SourceConnector for SqliteSource {
    type Config = SqliteSourceConfig;
    const NAME: &'static str = "sqlite";
    const SUMMARY: &'static str = "Rows of a query or a table in a SQLite database";

    fn capabilities(_: &SqliteSourceConfig) -> SourceCapabilities {
        SourceCapabilities::default()
    }

    fn validate(config: &SqliteSourceConfig) -> Vec<Problem> {
        config.check()
    }

    async fn open(config: SqliteSourceConfig, _: SourceContext) -> Result<Box<dyn Source>> {
        Ok(Box::new(PageReader::start("sqlite source", move || Reader::open(config), Reader::read).await?))
    }

    fn capture(_: SqliteSourceConfig) -> Option<Box<dyn Capture>> {
        None
    }
}
