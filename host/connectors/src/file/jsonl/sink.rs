//! Writing a file of JSON lines.

use faucet_core::error::Result;
use faucet_core::model::{JsonRows, Page, Schema};
use std::sync::Arc;

use super::config::JsonlSinkConfig;
use crate::file::FileWriteMode;
use crate::file::output::Output;

/// Rows as lines of JSON, into any buffer.
#[derive(Default)]
pub(crate) struct JsonLines {
    prepared: Option<(Arc<Schema>, JsonRows)>,
}

impl JsonLines {
    /// Appends the rows of `page`, one line each.
    ///
    /// # Errors
    /// `page.duplicate_column`.
    pub(crate) fn push_page(&mut self, page: &Page, out: &mut Vec<u8>) -> Result<()> {
        if !self.prepared.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, page.schema())) {
            self.prepared = Some((page.schema().clone(), JsonRows::new(page.schema())?));
        }
        if let Some((_, rows)) = &self.prepared {
            for row in 0..page.rows() {
                rows.push_row(out, page, row);
                out.push(b'\n');
            }
        }
        Ok(())
    }
}

/// A file of JSON lines being written.
pub(super) struct Writer {
    output: Output,
    lines: JsonLines,
    buffer: Vec<u8>,
}

impl Writer {
    /// Opens the file.
    pub(super) fn open(config: &JsonlSinkConfig) -> Result<Self> {
        let output = match config.write_mode {
            FileWriteMode::Overwrite => Output::overwrite(&config.path)?,
            FileWriteMode::Append => {
                let mut output = Output::append(&config.path)?;
                mend(&mut output)?;
                output
            }
        };
        Ok(Self { output, lines: JsonLines::default(), buffer: Vec::new() })
    }

    /// Writes a page.
    pub(super) fn write(&mut self, page: &Page) -> Result<()> {
        self.buffer.clear();
        self.lines.push_page(page, &mut self.buffer)?;
        self.output.write(&self.buffer)
    }

    /// The file.
    pub(super) fn output(&mut self) -> &mut Output {
        &mut self.output
    }
}

/// A last line without an end is torn, unless it is whole JSON: other programs leave the last line end out.
fn mend(output: &mut Output) -> Result<()> {
    let (whole, tail) = output.tail()?;
    if tail.first() == Some(&b'{') && serde_json::from_slice::<serde::de::IgnoredAny>(&tail).is_ok() {
        output.write(b"\n")?;
        return output.mend(output.length());
    }
    output.mend(whole)
}
