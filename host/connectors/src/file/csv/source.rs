//! Reading a CSV file.

use faucet_core::error::{Error, Result};
use faucet_core::model::{ColumnBuilder, Field, Kind, NotOfKind, PageBuilder, Schema, TableId};
use std::path::Path;
use std::sync::Arc;

use super::config::CsvSourceConfig;
use super::error::{BAD_HEADER, Fault, bad_value};
use super::record::{Dialect, FieldText, Records};
use crate::blocking::Pages;
use crate::file::input::Input;
use crate::pages::PageLimits;

/// A CSV file whose columns are known.
pub(super) struct Reader {
    records: Records,
    schema: Arc<Schema>,
    null_value: String,
    quote: u8,
    limits: PageLimits,
    /// Whether the current record is a row that was read to count the columns.
    has_row_in_hand: bool,
}

impl Reader {
    /// Opens the file and finds its columns.
    pub(super) fn open(config: CsvSourceConfig, dialect: Dialect) -> Result<Self> {
        let mut records = Records::new(Input::open(&config.path)?, dialect);
        let has_first = records.advance()?;
        let names = match (has_first, config.has_header) {
            (true, true) => header(&records, dialect.quote)?,
            (true, false) => (1..=records.fields().max(1)).map(|n| format!("column_{n}")).collect(),
            (false, true) => return Err(no_header(&config.path, "the file is empty")),
            (false, false) => Vec::new(),
        };
        if let Some(unknown) = config.columns.keys().find(|declared| has_first && !names.contains(declared)) {
            let what = format!("{} has no column \"{unknown}\", which `columns` declares", config.path.display());
            return Err(Error::new(&BAD_HEADER, what).hint(format!("its columns are: {}", names.join(", "))));
        }
        let field = |name: String| {
            let kind = config.columns.get(&name).map_or(Kind::Text, |&declared| declared.into());
            Field::new(name, kind)
        };
        let schema = Schema::new(table_of(&config.path), names.into_iter().map(field).collect());
        Ok(Self {
            records,
            schema: Arc::new(schema),
            null_value: config.null_value,
            quote: dialect.quote,
            limits: PageLimits::of(config.batch_size),
            has_row_in_hand: has_first && !config.has_header,
        })
    }

    /// Reads to the end.
    pub(super) fn read(mut self, pages: &Pages) -> Result<()> {
        let mut page = PageBuilder::rows(self.schema.clone());
        let mut scratch = String::new();
        while self.has_row_in_hand || self.records.advance()? {
            self.has_row_in_hand = false;
            if self.records.fields() == 0 && self.schema.fields.len() > 1 {
                continue;
            }
            self.read_row(&mut page, &mut scratch)?;
            if self.limits.reached(page.len(), page.size_bytes()) && !pages.send(page.finish()) {
                return Ok(());
            }
        }
        if !page.is_empty() {
            let _ = pages.send(page.finish());
        }
        Ok(())
    }

    fn read_row(&self, page: &mut PageBuilder, scratch: &mut String) -> Result<()> {
        let expected = self.schema.fields.len();
        // A line without anything on it is the one empty field of a file with one column.
        let found = self.records.fields().max(1);
        if found != expected {
            return Err(self.records.bad(Fault::Fields { expected, found }));
        }
        let record = self.records.record()?;
        let blank = FieldText { raw: "", quoted: false, doubled: false };
        let fields = record.iter().chain(std::iter::repeat(blank)).take(expected);
        for (index, (field, column)) in fields.zip(page.columns()).enumerate() {
            if let Err(fault) = self.push(field, column, scratch) {
                let name = &self.schema.fields[index].name;
                return Err(bad_value(self.records.path(), self.records.line(), name, fault));
            }
        }
        page.end_row();
        Ok(())
    }

    fn push(&self, field: FieldText<'_>, column: &mut ColumnBuilder, scratch: &mut String) -> Result<(), NotOfKind> {
        if !field.quoted && field.raw == self.null_value {
            column.push_null();
            return Ok(());
        }
        column.push_parsed(field.text(self.quote, scratch))
    }
}

/// The names in the first line.
pub(super) fn header(records: &Records, quote: u8) -> Result<Vec<String>> {
    let mut scratch = String::new();
    let names: Vec<String> = records.record()?.iter().map(|f| f.text(quote, &mut scratch).to_owned()).collect();
    if names.is_empty() || names.iter().any(String::is_empty) {
        return Err(no_header(records.path(), "its first line leaves a column without a name"));
    }
    if let Some(twice) = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
        return Err(no_header(records.path(), &format!("two of its columns are called \"{}\"", twice.1)));
    }
    Ok(names)
}

fn no_header(path: &Path, why: &str) -> Error {
    Error::new(&BAD_HEADER, format!("can't use the header of {}: {why}", path.display()))
        .hint("set `has_header: false` if the file has none")
}

/// A file's rows belong to a table called as the file is, without its ending.
pub(crate) fn table_of(path: &Path) -> TableId {
    TableId::bare(path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
}
