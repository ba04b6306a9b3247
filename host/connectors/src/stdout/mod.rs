//! `stdout`: rows to the standard output, for a look at a pipeline or for another program.
//!
//! What was written is out of reach: a commit flushes it, and an uncommitted page can't be taken back. A reader that goes
//! away (`| head`) ends the run with `stdout.closed`.

use async_trait::async_trait;
use faucet_core::error::{Blame, Code, Error, Problem, Result, Retry, UNCHECKED_CONFIG};
use faucet_core::model::Page;
use faucet_core::ports::{
    OnDrift, SetAside, Sink, SinkCapabilities, SinkConnector, SinkContext, WriteMode, refuse_token,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::blocking::Worker;
use crate::file::csv::{CsvRows, dialect};
use crate::file::jsonl::JsonLines;
use crate::file::lines;

/// Nobody reads the output any more.
pub static CLOSED: Code = Code {
    id: "stdout.closed",
    blame: Blame::Environment,
    retry: Retry::Never,
    title: "whoever read the standard output stopped reading",
    help: "The program behind the pipe has ended, as `head` does when it has seen enough. Rows that it read are not \
           taken back; the others were not written.",
};

/// The output can't be written.
pub static NOT_WRITTEN: Code = Code {
    id: "stdout.not_written",
    blame: Blame::Environment,
    retry: Retry::Never,
    title: "the standard output could not be written",
    help: "The standard output leads to a file or a device that refuses what is written; the message carries the \
           operating system's own words. Often a disk is full.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&CLOSED, &NOT_WRITTEN];

/// How rows are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StdoutFormat {
    /// One JSON object per line.
    #[default]
    Jsonl,
    /// Comma-separated values with a header.
    Csv,
}

/// The `config:` block of the sink `stdout`.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StdoutConfig {
    /// How rows are shown.
    #[serde(default)]
    pub format: StdoutFormat,
}

/// The sink `stdout`.
pub struct StdoutSink;

#[async_trait]
impl SinkConnector for StdoutSink {
    type Config = StdoutConfig;
    const NAME: &'static str = "stdout";
    const SUMMARY: &'static str = "The standard output, as JSON lines or CSV";

    fn capabilities(config: &StdoutConfig) -> SinkCapabilities {
        let evolves = config.format == StdoutFormat::Jsonl;
        SinkCapabilities { modes: vec![WriteMode::Append], evolves, ..SinkCapabilities::default() }
    }

    fn validate(_: &StdoutConfig) -> Vec<Problem> {
        Vec::new()
    }

    async fn open(config: StdoutConfig, context: SinkContext) -> Result<Box<dyn Sink>> {
        let rows = Rows::new(config.format, context.schema.on_drift)?;
        Ok(Box::new(OpenSink {
            printer: Worker::start("stdout sink", move || Ok(Printer::new(rows, io::stdout()))).await?,
        }))
    }

    async fn explain(config: StdoutConfig, context: SinkContext, page: Page) -> Result<Vec<String>> {
        let mut out = Vec::new();
        Rows::new(config.format, context.schema.on_drift)?.push_page(&page, &mut out)?;
        Ok(lines(&out))
    }
}

enum Rows {
    Jsonl(JsonLines),
    Csv(CsvRows),
}

impl Rows {
    fn new(format: StdoutFormat, on_drift: OnDrift) -> Result<Self> {
        match format {
            StdoutFormat::Jsonl => Ok(Rows::Jsonl(JsonLines::default())),
            StdoutFormat::Csv => {
                let plain = dialect(",", "\"", "").map_err(|_| Error::new(&UNCHECKED_CONFIG, "no dialect"))?;
                Ok(Rows::Csv(CsvRows::new(plain, String::new(), None, on_drift)))
            }
        }
    }

    fn push_page(&mut self, page: &Page, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Rows::Jsonl(lines) => lines.push_page(page, out),
            Rows::Csv(rows) => {
                if !rows.has_columns() {
                    rows.push_header(page, out);
                }
                rows.push_page(page, Path::new("the standard output"), out)
            }
        }
    }
}

struct Printer<W> {
    rows: Rows,
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> Printer<W> {
    fn new(rows: Rows, out: W) -> Self {
        Self { rows, out, buffer: Vec::new() }
    }

    fn write(&mut self, page: &Page) -> Result<()> {
        self.buffer.clear();
        self.rows.push_page(page, &mut self.buffer)?;
        self.out.write_all(&self.buffer).map_err(not_written)
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(not_written)
    }
}

fn not_written(cause: io::Error) -> Error {
    match cause.kind() {
        ErrorKind::BrokenPipe => Error::new(&CLOSED, "whoever read the standard output stopped reading"),
        _ => Error::new(&NOT_WRITTEN, "the standard output could not be written").caused_by(cause),
    }
}

struct OpenSink {
    printer: Worker<Printer<io::Stdout>>,
}

#[async_trait]
impl Sink for OpenSink {
    async fn last_token(&mut self, _: &str) -> Result<Option<String>> {
        Ok(None)
    }

    async fn write(&mut self, page: Page) -> Result<()> {
        self.printer.run(move |printer| printer.write(&page)).await
    }

    fn set_aside(&mut self) -> Vec<SetAside> {
        Vec::new()
    }

    async fn commit(&mut self, token: Option<(&str, &str)>) -> Result<()> {
        refuse_token(token)?;
        self.printer.run(Printer::flush).await
    }

    async fn finish(&mut self) -> Result<()> {
        self.printer.run(Printer::flush).await
    }

    async fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use faucet_core::model::{Field, Kind, PageBuilder, Schema, TableId};
    use std::sync::Arc;

    fn page() -> Page {
        let schema = Schema::new(TableId::bare("t"), vec![Field::new("id", Kind::I64), Field::new("a", Kind::Text)]);
        let mut page = PageBuilder::rows(Arc::new(schema));
        page.columns()[0].push_i64(1);
        page.columns()[1].push_str("x,y");
        page.end_row();
        page.finish()
    }

    fn printed(format: StdoutFormat) -> String {
        let mut printer = Printer::new(Rows::new(format, OnDrift::Fail).unwrap(), Vec::new());
        printer.write(&page()).unwrap();
        printer.write(&page()).unwrap();
        String::from_utf8(printer.out).unwrap()
    }

    #[test]
    fn rows_are_lines() {
        assert_eq!(printed(StdoutFormat::Jsonl), "{\"id\":1,\"a\":\"x,y\"}\n{\"id\":1,\"a\":\"x,y\"}\n");
        assert_eq!(printed(StdoutFormat::Csv), "id,a\n1,\"x,y\"\n1,\"x,y\"\n");
    }

    #[test]
    fn a_reader_that_went_away_is_told_from_a_failure() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut printer = Printer::new(Rows::new(StdoutFormat::Jsonl, OnDrift::Fail).unwrap(), writer);
        assert_eq!(printer.write(&page()).unwrap_err().code().id, "stdout.closed");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut printer = Printer::new(Rows::new(StdoutFormat::Jsonl, OnDrift::Fail).unwrap(), full);
        assert_eq!(printer.write(&page()).unwrap_err().code().id, "stdout.not_written");
    }
}
