//! Writing a CSV file.

use faucet_core::error::{Error, Result};
use faucet_core::model::{Column, Page, Schema, ValueRef, push_text};
use faucet_core::ports::OnDrift;
use std::path::Path;
use std::sync::Arc;

use super::config::CsvSinkConfig;
use super::error::OTHER_COLUMNS;
use super::record::{Dialect, Records};
use super::source::header;
use crate::file::FileWriteMode;
use crate::file::input::Input;
use crate::file::output::Output;

/// Rows as the lines of a CSV file, into any buffer.
pub(crate) struct CsvRows {
    dialect: Dialect,
    null_value: String,
    on_drift: OnDrift,
    /// The file's columns; known from its header, or from the first page.
    names: Option<Vec<String>>,
    /// Where the file's columns are in pages of the schema that came last.
    places: Option<(Arc<Schema>, Vec<Option<usize>>)>,
}

impl CsvRows {
    /// Lines whose columns are `names`, or those of the first page.
    pub(crate) fn new(dialect: Dialect, null_value: String, names: Option<Vec<String>>, on_drift: OnDrift) -> Self {
        Self { dialect, null_value, on_drift, names, places: None }
    }

    /// Whether the columns are known, so that a header was written or is not wanted any more.
    pub(crate) fn has_columns(&self) -> bool {
        self.names.is_some()
    }

    /// Fixes the columns to those of `page` and appends the header.
    pub(crate) fn push_header(&mut self, page: &Page, out: &mut Vec<u8>) {
        self.fix_columns(page);
        let names = self.names.as_deref().unwrap_or_default();
        for (index, name) in names.iter().enumerate() {
            if index > 0 {
                out.push(self.dialect.delimiter);
            }
            push_field(out, name.as_bytes(), self.dialect, "");
        }
        out.push(b'\n');
    }

    /// Fixes the columns to those of `page`.
    pub(crate) fn fix_columns(&mut self, page: &Page) {
        self.names = Some(page.schema().fields.iter().map(|f| f.name.to_string()).collect());
    }

    /// Before the first page: the header where one is wanted, and the columns.
    fn begin(&mut self, has_header: bool, page: &Page, out: &mut Vec<u8>) {
        match (self.has_columns(), has_header) {
            (true, _) => {}
            (false, true) => self.push_header(page, out),
            (false, false) => self.fix_columns(page),
        }
    }

    /// Appends the rows of `page`. A column that the page lacks, and a slot that was not sent, is a null.
    ///
    /// # Errors
    /// `csv.other_columns` when the page has a column that the file lacks, unless such columns are left out.
    pub(crate) fn push_page(&mut self, page: &Page, path: &Path, out: &mut Vec<u8>) -> Result<()> {
        let (dialect, null_value) = (self.dialect, self.null_value.clone());
        let columns: Vec<Option<&Column>> =
            self.places(page.schema(), path)?.iter().map(|place| place.map(|at| &page.columns()[at])).collect();
        let mut text = Vec::new();
        for row in 0..page.rows() {
            for (index, column) in columns.iter().enumerate() {
                if index > 0 {
                    out.push(dialect.delimiter);
                }
                match column.map_or(ValueRef::Null, |c| c.value(row)) {
                    ValueRef::Null | ValueRef::Absent => out.extend_from_slice(null_value.as_bytes()),
                    ValueRef::Text(value) | ValueRef::Native(value) => {
                        push_field(out, value.as_bytes(), dialect, &null_value);
                    }
                    other => {
                        text.clear();
                        push_text(&mut text, other);
                        push_field(out, &text, dialect, &null_value);
                    }
                }
            }
            out.push(b'\n');
        }
        Ok(())
    }

    fn places(&mut self, schema: &Arc<Schema>, path: &Path) -> Result<&[Option<usize>]> {
        if !self.places.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, schema)) {
            schema.check_names()?;
            let names = self.names.as_deref().unwrap_or_default();
            let unknown = schema.fields.iter().map(|f| &*f.name).filter(|name| !names.iter().any(|n| **n == **name));
            let unknown: Vec<&str> = unknown.collect();
            if self.on_drift.leaves_out() {
                crate::sql::tell(self.on_drift, &path.display().to_string(), &unknown);
            } else if let Some(unknown) = unknown.first() {
                let what = format!("{} has no column \"{unknown}\", which rows have", path.display());
                return Err(Error::new(&OTHER_COLUMNS, what).hint(format!("its columns are: {}", names.join(", "))));
            }
            let places = names.iter().map(|name| schema.index_of(name)).collect();
            self.places = Some((schema.clone(), places));
        }
        Ok(self.places.as_ref().map_or(&[], |(_, places)| places))
    }
}

/// Quotes what would read back as something else: as two fields, as two lines, or as a null.
fn push_field(out: &mut Vec<u8>, text: &[u8], dialect: Dialect, null_value: &str) {
    let special = |b: &u8| *b == dialect.delimiter || *b == dialect.quote || matches!(b, b'\n' | b'\r');
    if text != null_value.as_bytes() && !text.iter().any(special) {
        return out.extend_from_slice(text);
    }
    out.push(dialect.quote);
    for piece in text.split_inclusive(|&b| b == dialect.quote) {
        out.extend_from_slice(piece);
        if piece.last() == Some(&dialect.quote) {
            out.push(dialect.quote);
        }
    }
    out.push(dialect.quote);
}

/// A CSV file being written.
pub(super) struct Writer {
    output: Output,
    rows: CsvRows,
    has_header: bool,
    buffer: Vec<u8>,
}

impl Writer {
    /// Opens the file; one that has rows keeps its columns.
    pub(super) fn open(config: CsvSinkConfig, dialect: Dialect, on_drift: OnDrift) -> Result<Self> {
        let (output, names) = match config.write_mode {
            FileWriteMode::Overwrite => (Output::overwrite(&config.path)?, None),
            FileWriteMode::Append => {
                let mut output = Output::append(&config.path)?;
                let (whole, names) = survey(&config.path, output.length(), dialect, config.has_header)?;
                output.mend(whole)?;
                (output, names)
            }
        };
        let rows = CsvRows::new(dialect, config.null_value, names, on_drift);
        Ok(Self { output, rows, has_header: config.has_header, buffer: Vec::new() })
    }

    /// Writes a page.
    pub(super) fn write(&mut self, page: &Page) -> Result<()> {
        self.buffer.clear();
        self.rows.begin(self.has_header, page, &mut self.buffer);
        self.rows.push_page(page, self.output.path(), &mut self.buffer)?;
        self.output.write(&self.buffer)
    }

    /// The file.
    pub(super) fn output(&mut self) -> &mut Output {
        &mut self.output
    }
}

/// What writing `page` would append to the file, which is only looked at.
pub(super) fn explain(config: CsvSinkConfig, dialect: Dialect, on_drift: OnDrift, page: &Page) -> Result<Vec<u8>> {
    let length = std::fs::metadata(&config.path).map_or(0, |file| file.len());
    let names = match config.write_mode {
        FileWriteMode::Overwrite => None,
        FileWriteMode::Append => survey(&config.path, length, dialect, config.has_header)?.1,
    };
    let mut out = Vec::new();
    let mut rows = CsvRows::new(dialect, config.null_value, names, on_drift);
    rows.begin(config.has_header, page, &mut out);
    rows.push_page(page, &config.path, &mut out)?;
    Ok(out)
}

/// Where the last whole record of a file ends, and the names in its header. A line end inside quotes ends nothing, so the
/// file is read from its start. Without a header nothing says which columns there are: those of the first page, then.
fn survey(path: &Path, length: u64, dialect: Dialect, has_header: bool) -> Result<(u64, Option<Vec<String>>)> {
    if length == 0 {
        return Ok((0, None));
    }
    let mut records = Records::new(Input::open(path)?, dialect);
    let mut whole = 0;
    let mut names = None;
    loop {
        match records.advance() {
            Ok(true) if records.is_whole() => {
                if has_header && names.is_none() {
                    names = Some(header(&records, dialect.quote)?);
                }
                whole = records.offset();
            }
            Ok(_) => return Ok((whole, names)),
            Err(_) if records.is_torn() => return Ok((whole, names)),
            Err(error) => return Err(error),
        }
    }
}
