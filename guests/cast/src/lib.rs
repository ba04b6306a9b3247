//! `cast`: turns the values of columns into another kind, exactly or not at all.
//!
//! Nothing is rounded or cut: a value that does not fit fails the page, becomes null or is rejected, as configured. Null
//! stays null and absent stays absent.

mod config;

pub use config::{Config, Form, Unit};
use faucet_sdk::{Column, ColumnBuilder, Error, Kind, Output, Page, Result, Transform, Value, kind_name, transform};
use faucet_values::config::{OnError, OnMissing};
use faucet_values::{Converted, Reading, is_convertible};

/// The transform: which columns to cast to what.
#[derive(Debug)]
pub struct Cast {
    columns: Vec<(String, Kind)>,
    reading: Reading,
    on_error: OnError,
    on_missing: OnMissing,
    allow_key: bool,
}

#[transform(name = "cast")]
impl Transform for Cast {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        config.check()?;
        let Config { on_error, on_missing, allow_key, .. } = config;
        let reading = config.reading()?;
        let columns = config.columns.0.into_iter().map(|(name, kind)| (name, kind.into())).collect();
        Ok(Self { columns, reading, on_error: on_error.0, on_missing, allow_key })
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let mut out = page.pass();
        let mut rejected = Vec::new();
        for (name, kind) in &self.columns {
            let column = match self.on_missing {
                OnMissing::Error => page.column(name)?,
                OnMissing::Ignore => match page.find(name)? {
                    Some(column) => column,
                    None => continue,
                },
            };
            if column.kind() != *kind {
                self.check(&page, &column, *kind)?;
                out.set(self.cast(&page, &column, *kind, &mut rejected)?)?;
            }
        }
        let mut out = Output::from(out);
        for (row, reason) in rejected {
            out.reject(row, reason);
        }
        Ok(out)
    }
}

impl Cast {
    fn check(&self, page: &Page<'_>, column: &Column<'_>, kind: Kind) -> Result<()> {
        let (name, table) = (column.name(), page.table());
        if !is_convertible(column.kind(), kind, &self.reading) {
            let (from, to) = (kind_name(column.kind()), kind_name(kind));
            let hint = self.hint(column.kind(), kind);
            return Err(Error::new(format!(
                "column '{name}' of table '{table}' is {from}: it can't be cast to {to}{hint}"
            )));
        }
        if !page.is_key(name) {
            return Ok(());
        }
        let is_spelled = matches!(column.kind(), Kind::Text | Kind::Json | Kind::Native);
        if is_spelled && !matches!(kind, Kind::Text | Kind::Json) && !self.allow_key {
            return Err(Error::new(format!(
                "column '{name}' is part of the key of table '{table}', and two texts can be one {}; set allow_key: true \
                 if that never happens",
                kind_name(kind)
            )));
        }
        if self.on_error == OnError::Null {
            return Err(Error::new(format!(
                "column '{name}' is part of the key of table '{table}' and can't become null; set on_error to fail or reject"
            )));
        }
        Ok(())
    }

    /// What would make the cast possible.
    fn hint(&self, from: Kind, to: Kind) -> &'static str {
        let mut full = Reading { zone: Some(0), ..self.reading };
        if is_convertible(from, to, &full) {
            return "; say in `zone` where its clock is";
        }
        full.epoch = Some(faucet_values::Epoch::Seconds);
        if is_convertible(from, to, &full) { "; say in `epoch` what the number counts" } else { "" }
    }

    fn cast(
        &self,
        page: &Page<'_>,
        column: &Column<'_>,
        kind: Kind,
        rejected: &mut Vec<(usize, String)>,
    ) -> Result<ColumnBuilder> {
        let mut out = Converted::new(column.name(), kind, self.reading);
        for (row, value) in column.values().enumerate() {
            if out.push(value)? {
                continue;
            }
            match self.on_error {
                OnError::Fail => {
                    let reason = unfit(column, kind);
                    let table = page.table();
                    return Err(Error::new(format!("table '{table}', row {row} of a page: {reason}; see on_error")));
                }
                OnError::Null => out.push_null()?,
                OnError::Reject => {
                    out.push(Value::Absent)?;
                    rejected.push((row, unfit(column, kind)));
                }
            }
        }
        Ok(out.finish())
    }
}

fn unfit(column: &Column<'_>, kind: Kind) -> String {
    let (name, from, to) = (column.name(), kind_name(column.kind()), kind_name(kind));
    format!("column '{name}' has a {from} value that is no exact {to}")
}
