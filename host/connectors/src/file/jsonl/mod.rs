//! `jsonl`: one JSON object per line.
//!
//! The sink writes each row as `model::json` has it; an absent slot is a member left out. The source reads members as
//! columns; see `shape.rs` for how kinds are found.

mod config;
pub mod error;
mod number;
mod shape;
mod sink;
mod source;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod token;

use async_trait::async_trait;
use faucet_core::error::{Problem, Result};
use faucet_core::model::Page;
use faucet_core::ports::{
    Capture, SetAside, Sink, SinkCapabilities, SinkConnector, SinkContext, Source, SourceCapabilities, SourceConnector,
    SourceContext, WriteMode,
};

pub use self::config::{JsonlSinkConfig, JsonlSourceConfig};
pub(crate) use self::sink::JsonLines;
use self::sink::Writer;
use self::source::Reader;
use super::{check_path, lines};
use crate::blocking::{PageReader, Worker};
use crate::pages::check_batch_size;
use faucet_core::ports::refuse_token;

/// The source `jsonl`.
pub struct JsonlSource;

#[async_trait]
impl SourceConnector for JsonlSource {
    type Config = JsonlSourceConfig;
    const NAME: &'static str = "jsonl";
    const SUMMARY: &'static str = "Rows of a file with one JSON object per line";

    fn capabilities(_: &JsonlSourceConfig) -> SourceCapabilities {
        SourceCapabilities::default()
    }

    fn validate(config: &JsonlSourceConfig) -> Vec<Problem> {
        check_path(&config.path).into_iter().chain(check_batch_size(config.batch_size)).collect()
    }

    async fn open(config: JsonlSourceConfig, _: SourceContext) -> Result<Box<dyn Source>> {
        let open = move || Ok((Reader::open(config)?, None));
        Ok(Box::new(PageReader::start("jsonl source", open, Reader::read).await?))
    }

    fn capture(_: JsonlSourceConfig) -> Option<Box<dyn Capture>> {
        None
    }
}

/// The sink `jsonl`.
pub struct JsonlSink;

#[async_trait]
impl SinkConnector for JsonlSink {
    type Config = JsonlSinkConfig;
    const NAME: &'static str = "jsonl";
    const SUMMARY: &'static str = "A file of rows, one JSON object per line";

    fn capabilities(config: &JsonlSinkConfig) -> SinkCapabilities {
        SinkCapabilities {
            write_mode: config.write_mode.into(),
            modes: vec![WriteMode::Append, WriteMode::Overwrite],
            evolves: true,
            sets_aside: false,
            ..SinkCapabilities::default()
        }
    }

    fn validate(config: &JsonlSinkConfig) -> Vec<Problem> {
        check_path(&config.path).into_iter().collect()
    }

    async fn open(config: JsonlSinkConfig, _: SinkContext) -> Result<Box<dyn Sink>> {
        Ok(Box::new(OpenSink { writer: Worker::start("jsonl sink", move || Writer::open(&config)).await? }))
    }

    async fn explain(_: JsonlSinkConfig, _: SinkContext, page: Page) -> Result<Vec<String>> {
        let mut out = Vec::new();
        JsonLines::default().push_page(&page, &mut out)?;
        Ok(lines(&out))
    }
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
