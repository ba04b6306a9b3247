//! `explode`: makes a row of each element of a JSON list.
//!
//! The rows of one list share its row's key, so the key is extended by the element's number. Changes are refused: the
//! rows that an earlier version of the list made can't be found again.

mod config;

pub use config::{Config, OnEmpty, OnError};
use faucet_sdk::{
    Column, ColumnBuilder, Error, Kind, OP_COLUMN, Output, Page, PageOut, Result, Transform, Value, kind_name,
    transform,
};
use faucet_values::{Converted, Reading, check_key_stays, check_new_name, document, protect_op};

/// The transform: which list to explode, and into what.
#[derive(Debug)]
pub struct Explode(Config);

#[transform(name = "explode")]
impl Transform for Explode {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        protect_op(&config.column, "column")?;
        let Config { into, index, .. } = &config;
        for (name, path) in [(into, "into"), (index, "index")] {
            name.as_ref().map_or(Ok(()), |name| protect_op(name, path))?;
        }
        if index.as_deref() == Some(config.elements()) {
            return Err(Error::config("index", "is the name of the column for the elements, too"));
        }
        Ok(Self(config))
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let column = page.column(&self.0.column)?;
        self.check(&page, &column)?;
        let mut rejected = Vec::new();
        let rows = self.rows(&page, &column, &mut rejected)?;
        let mut out = Output::from(self.page(&page, rows)?);
        for row in rejected {
            out.reject(row, self.unfit());
        }
        Ok(out)
    }
}

/// The rows that the lists of a page make.
struct Exploded {
    /// The row of the page that each comes from.
    from: Vec<u32>,
    elements: Converted,
    numbers: Vec<i64>,
}

impl Explode {
    fn check(&self, page: &Page<'_>, column: &Column<'_>) -> Result<()> {
        let (name, table) = (column.name(), page.table());
        if page.find(OP_COLUMN)?.is_some() {
            return Err(Error::new(format!(
                "table '{table}' comes as changes, and '{name}' can't be exploded there: when a row changes or goes, \
                 the rows its list made before can't be found. Store the list as it is and explode it at the \
                 destination, or run over a query instead of a change stream"
            )));
        }
        if !matches!(column.kind(), Kind::Json | Kind::Text | Kind::Native) {
            let kind = kind_name(column.kind());
            return Err(Error::new(format!(
                "column '{name}' of table '{table}' is {kind}: only a JSON list can be exploded"
            )));
        }
        check_key_stays(page, &[name], "it can't be exploded")?;
        if self.0.elements() != name {
            check_new_name(page, self.0.elements(), "into")?;
        }
        match &self.0.index {
            Some(index) if index != name => check_new_name(page, index, "index"),
            None if !page.key().is_empty() => Err(Error::new(format!(
                "table '{table}' has a key, which the rows of one list would share; name a column in `index`, and it \
                 becomes a part of the key"
            ))),
            Some(_) | None => Ok(()),
        }
    }

    fn rows(&self, page: &Page<'_>, column: &Column<'_>, rejected: &mut Vec<usize>) -> Result<Exploded> {
        let elements = Converted::new(&self.0.column, self.0.kind(), Reading::default());
        let mut rows = Exploded { from: Vec::new(), elements, numbers: Vec::new() };
        for (row, value) in column.values().enumerate() {
            let list = match value.as_str().map(str::trim) {
                None | Some("null") => Some(Vec::new()),
                Some(json) => document::elements(json),
            };
            // Checked before any is added: of a row, all elements pass on or none.
            let list = list.filter(|list| list.iter().all(|element| self.fits(element)));
            match list {
                Some(list) => rows.add(row, value, &list, self.0.on_empty)?,
                None if self.0.on_error == OnError::Reject => rejected.push(row),
                None => {
                    let (table, reason) = (page.table(), self.unfit());
                    return Err(Error::new(format!("table '{table}', row {row} of a page: {reason}; see on_error")));
                }
            }
        }
        Ok(rows)
    }

    fn fits(&self, element: &str) -> bool {
        let mut trial = Converted::new("", self.0.kind(), Reading::default());
        self.0.kind() == Kind::Json || trial.push_document(element).is_ok_and(|fits| fits)
    }

    fn unfit(&self) -> String {
        let name = &self.0.column;
        match self.0.kind() {
            Kind::Json => format!("column '{name}' is no JSON list"),
            kind => format!("column '{name}' is no JSON list, or an element of it is no exact {}", kind_name(kind)),
        }
    }

    fn page<'a>(&self, page: &Page<'a>, rows: Exploded) -> Result<PageOut<'a>> {
        let mut out = page.pass();
        out.repeat(rows.from)?;
        out.set(rows.elements.finish())?;
        out.rename(&self.0.column, self.0.elements())?;
        if let Some(index) = &self.0.index {
            let mut numbers = ColumnBuilder::new(index, Kind::Int64);
            rows.numbers.iter().try_for_each(|number| numbers.push(Value::Int64(*number)))?;
            out.set(numbers)?;
            if !page.key().is_empty() {
                out.set_key(page.key().iter().chain([index]));
            }
        }
        Ok(out)
    }
}

impl Exploded {
    /// Elements count from 1; the row of a list without elements, if it is kept, is number 0.
    fn add(&mut self, row: usize, value: Value<'_>, list: &[&str], on_empty: OnEmpty) -> Result<()> {
        let mut number = 0;
        for element in list {
            number += 1;
            self.elements.push_document(element)?;
            self.end(row, number);
        }
        if list.is_empty() && on_empty == OnEmpty::Keep {
            let is_absent = matches!(value, Value::Absent);
            self.elements.push(if is_absent { value } else { Value::Null })?;
            self.end(row, 0);
        }
        Ok(())
    }

    fn end(&mut self, row: usize, number: i64) {
        self.from.push(row as u32);
        self.numbers.push(number);
    }
}
