//! Every native connector, by name.

use faucet_core::error::Code;
use faucet_core::ports::{AnySink, AnySource, erase_sink, erase_source};

use crate::file::csv::{self, CsvSink, CsvSource};
use crate::file::jsonl::{self, JsonlSink, JsonlSource};
use crate::postgres::cdc::PostgresCdc;
use crate::postgres::query::Query;
use crate::postgres::sink::Table;
use crate::sqlite::{self, SqliteSink, SqliteSource};
use crate::stdout::{self, StdoutSink};
use crate::{blocking, file, postgres, sql};

/// The sources, in the order `faucet list` shows them.
pub fn sources() -> Vec<Box<dyn AnySource>> {
    vec![
        erase_source::<PostgresCdc>(),
        erase_source::<Query>(),
        erase_source::<SqliteSource>(),
        erase_source::<CsvSource>(),
        erase_source::<JsonlSource>(),
    ]
}

/// The sinks, in the order `faucet list` shows them.
pub fn sinks() -> Vec<Box<dyn AnySink>> {
    vec![
        erase_sink::<Table>(),
        erase_sink::<SqliteSink>(),
        erase_sink::<CsvSink>(),
        erase_sink::<JsonlSink>(),
        erase_sink::<StdoutSink>(),
    ]
}

/// Every error code the connectors raise, for `faucet explain`.
pub fn codes() -> Vec<&'static Code> {
    let parts: [&[&'static Code]; 15] = [
        postgres::error::CODES,
        postgres::decode::CODES,
        postgres::cdc::error::CODES,
        postgres::encode::CODES,
        postgres::query::CODES,
        postgres::sink::CODES,
        blocking::CODES,
        sql::CODES,
        file::error::CODES,
        csv::error::CODES,
        jsonl::error::CODES,
        sqlite::error::CODES,
        sqlite::source::CODES,
        sqlite::sink::CODES,
        stdout::CODES,
    ];
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_and_codes_are_unique() {
        let unique = |names: Vec<&str>| names.iter().collect::<HashSet<_>>().len() == names.len();
        assert!(unique(sources().iter().map(|s| s.name()).collect()));
        assert!(unique(sinks().iter().map(|s| s.name()).collect()));
        assert!(unique(codes().iter().map(|c| c.id).collect()));
    }
}
