//! `csv`: comma-separated values with a header, as [RFC 4180](https://www.rfc-editor.org/rfc/rfc4180) has them.
//!
//! A null and an empty text are told apart as PostgreSQL's COPY does it: a field that reads `null_value` *without quotes*
//! is a null, with quotes it is that text. The sink writes values as `model::push_text` spells them; the source reads
//! them back under `columns`. What CSV can't say: which slots were absent (they are nulls), and the difference between a
//! JSON null and a null is kept only because JSON's is the text `null`.

mod config;
pub mod error;
mod record;
mod sink;
mod source;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use async_trait::async_trait;
use faucet_core::error::{Error, Problem, Result, UNCHECKED_CONFIG};
use faucet_core::model::Page;
use faucet_core::ports::{
    Capture, SetAside, Sink, SinkCapabilities, SinkConnector, SinkContext, Source, SourceCapabilities, SourceConnector,
    SourceContext, WriteMode,
};

pub(crate) use self::config::dialect;
pub use self::config::{CsvSinkConfig, CsvSourceConfig};
pub(crate) use self::sink::CsvRows;
use self::sink::Writer;
use self::source::Reader;
pub(crate) use self::source::table_of;
use crate::blocking::{PageReader, Worker};
use crate::file::lines;
use faucet_core::ports::refuse_token;

/// The source `csv`.
pub struct CsvSource;

#[async_trait]
impl SourceConnector for CsvSource {
    type Config = CsvSourceConfig;
    const NAME: &'static str = "csv";
    const SUMMARY: &'static str = "Rows of a CSV file";

    fn capabilities(_: &CsvSourceConfig) -> SourceCapabilities {
        SourceCapabilities::default()
    }

    fn validate(config: &CsvSourceConfig) -> Vec<Problem> {
        config.check()
    }

    async fn open(config: CsvSourceConfig, _: SourceContext) -> Result<Box<dyn Source>> {
        let dialect = config.dialect().map_err(unchecked)?;
        let open = move || Ok((Reader::open(config, dialect)?, None));
        Ok(Box::new(PageReader::start("csv source", open, Reader::read).await?))
    }

    fn capture(_: CsvSourceConfig) -> Option<Box<dyn Capture>> {
        None
    }
}

/// The sink `csv`.
pub struct CsvSink;

#[async_trait]
impl SinkConnector for CsvSink {
    type Config = CsvSinkConfig;
    const NAME: &'static str = "csv";
    const SUMMARY: &'static str = "A CSV file";

    fn capabilities(config: &CsvSinkConfig) -> SinkCapabilities {
        SinkCapabilities {
            write_mode: config.write_mode.into(),
            modes: vec![WriteMode::Append, WriteMode::Overwrite],
            ..SinkCapabilities::default()
        }
    }

    fn validate(config: &CsvSinkConfig) -> Vec<Problem> {
        config.check()
    }

    async fn open(config: CsvSinkConfig, context: SinkContext) -> Result<Box<dyn Sink>> {
        let dialect = config.dialect().map_err(unchecked)?;
        Ok(Box::new(OpenSink {
            writer: Worker::start("csv sink", move || Writer::open(config, dialect, context.schema.on_drift)).await?,
        }))
    }

    async fn explain(config: CsvSinkConfig, context: SinkContext, page: Page) -> Result<Vec<String>> {
        let dialect = config.dialect().map_err(unchecked)?;
        Ok(lines(&sink::explain(config, dialect, context.schema.on_drift, &page)?))
    }
}

fn unchecked(problems: Vec<Problem>) -> Error {
    let what = problems.into_iter().map(|p| p.message).collect::<Vec<_>>().join("; ");
    Error::new(&UNCHECKED_CONFIG, what)
}

struct OpenSink {
    writer: Worker<Writer>,
}

#[async_trait]
impl Sink for OpenSink {
    async fn last_token(&mut self, _: &str) -> Result<Option<String>> {
        Ok(None)
    }

    async fn holds_rows(&mut self) -> Result<Option<bool>> {
        self.writer.run(|writer| Ok(writer.output().holds_bytes())).await
    }

    async fn clear(&mut self) -> Result<()> {
        self.writer.run(|writer| writer.output().clear()).await
    }

    async fn write(&mut self, page: Page) -> Result<()> {
        self.writer.run(move |writer| writer.write(&page)).await
    }

    fn set_aside(&mut self) -> Vec<SetAside> {
        Vec::new()
    }

    async fn commit(&mut self, token: Option<(&str, &str)>) -> Result<()> {
        refuse_token(token)?;
        self.writer.run(|writer| writer.output().commit()).await
    }

    async fn finish(&mut self) -> Result<()> {
        self.writer.run(|writer| writer.output().finish()).await
    }

    async fn close(&mut self) -> Result<()> {
        self.writer.run(|writer| writer.output().discard()).await
    }
}
