//! `json_parse`: reads JSON from text, and takes parts of a document into columns.
//!
//! Numbers keep every digit. A part that a document lacks is null, so that an update takes away what was there before.

mod config;

use config::Whole;
pub use config::{Config, Field, Part};
use faucet_sdk::{Column, Error, Kind, Output, Page, Result, Transform, Value, kind_name, transform};
use faucet_values::config::{OnError, OnMissing};
use faucet_values::document::{self, Path};
use faucet_values::{Changes, Converted, Reading, check_key_stays, check_new_name};

/// The transform: what to read, and which parts to take.
#[derive(Debug)]
pub struct JsonParse {
    column: String,
    whole: Whole,
    fields: Vec<(String, Path, Kind)>,
    remove: bool,
    on_error: OnError,
    on_missing: OnMissing,
}

#[transform(name = "json_parse")]
impl Transform for JsonParse {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        let (whole, fields) = (config.whole()?, config.fields()?);
        let Config { column, remove, on_error, on_missing, .. } = config;
        Ok(Self { column, whole, fields, remove, on_error: on_error.0, on_missing })
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let column = match self.on_missing {
            OnMissing::Error => page.column(&self.column)?,
            OnMissing::Ignore => match page.find(&self.column)? {
                Some(column) => column,
                None => return Ok(page.pass().into()),
            },
        };
        check(&page, &column)?;
        let mut out = page.pass();
        if self.remove || self.whole == Whole::InPlace {
            check_key_stays(&page, &[column.name()], "keep it as it is, and give `into` or `fields` without `remove`")?;
        }
        let mut new = self.targets(&page)?;
        let rejected = self.fill(&page, &column, &mut new)?;
        if self.remove {
            out.remove(column.name())?;
        }
        new.into_iter().try_for_each(|target| out.set(target.out.finish()))?;
        let mut out = Output::from(out);
        rejected.into_iter().for_each(|(row, reason)| out.reject(row, reason));
        Ok(out)
    }
}

fn check(page: &Page<'_>, column: &Column<'_>) -> Result<()> {
    if matches!(column.kind(), Kind::Text | Kind::Json | Kind::Native) {
        return Ok(());
    }
    let (name, kind, table) = (column.name(), kind_name(column.kind()), page.table());
    Err(Error::new(format!("column '{name}' of table '{table}' is {kind}: JSON is read from text")))
}

/// A new column, and which part of the document it holds; none means all of it.
struct Target<'t> {
    path: Option<&'t Path>,
    name: &'t str,
    kind: Kind,
    out: Converted,
}

impl<'t> Target<'t> {
    fn new(name: &'t str, kind: Kind, path: Option<&'t Path>) -> Self {
        Self { path, name, kind, out: Converted::new(name, kind, Reading::default()) }
    }

    /// Adds what the document holds; the reason if it is not of the column's kind.
    fn push(&mut self, json: &str) -> Result<Option<String>> {
        let fits = match self.path.map(|path| path.find(json)) {
            None => self.out.push(Value::Json(json))?,
            Some(None) => self.out.push(Value::Null)?,
            Some(Some(part)) => self.out.push_document(part)?,
        };
        let reason = || format!("what goes into column '{}' is no exact {}", self.name, kind_name(self.kind));
        Ok((!fits).then(reason))
    }
}

impl JsonParse {
    fn targets(&self, page: &Page<'_>) -> Result<Vec<Target<'_>>> {
        let mut targets = Vec::new();
        match &self.whole {
            Whole::Nowhere => {}
            Whole::InPlace => targets.push(Target::new(&self.column, Kind::Json, None)),
            Whole::Into(name) => {
                check_new_name(page, name, "into")?;
                targets.push(Target::new(name, Kind::Json, None));
            }
        }
        for (name, path, kind) in &self.fields {
            check_new_name(page, name, "fields")?;
            targets.push(Target::new(name, *kind, Some(path)));
        }
        Ok(targets)
    }

    /// Adds the values of all rows, and returns the rows that failed.
    fn fill(&self, page: &Page<'_>, column: &Column<'_>, new: &mut [Target<'_>]) -> Result<Vec<(usize, String)>> {
        let changes = Changes::of(page)?;
        let mut rejected = Vec::new();
        for (row, value) in column.values().enumerate() {
            let value = if changes.removes(row) { Value::Absent } else { value };
            let Some(text) = value.as_str() else {
                new.iter_mut().try_for_each(|target| target.out.push(value).map(|_| ()))?;
                continue;
            };
            let is_json = column.kind() == Kind::Json || document::is_json(text);
            for target in new.iter_mut() {
                let failure = match is_json {
                    true => target.push(text)?,
                    false => Some(format!("column '{}' is no JSON", self.column)),
                };
                if let Some(reason) = failure {
                    self.put_nothing(page, row, reason, &mut target.out, &mut rejected)?;
                }
            }
        }
        Ok(rejected)
    }

    /// Does with a failure what the configuration says.
    fn put_nothing(
        &self,
        page: &Page<'_>,
        row: usize,
        reason: String,
        out: &mut Converted,
        rejected: &mut Vec<(usize, String)>,
    ) -> Result<()> {
        match self.on_error {
            OnError::Fail => {
                let table = page.table();
                return Err(Error::new(format!("table '{table}', row {row} of a page: {reason}; see on_error")));
            }
            OnError::Null => {}
            OnError::Reject => rejected.push((row, reason)),
        }
        out.push_null()
    }
}
