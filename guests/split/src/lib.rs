//! `split`: splits text at a separator, into columns or a JSON list.
//!
//! Nothing is cut: with more parts than columns, the last column has the rest.

mod config;

pub use config::Config;
use config::Target;
use faucet_sdk::{Column, ColumnBuilder, Error, Kind, Output, Page, Result, Transform, Value, kind_name, transform};
use faucet_values::config::OnMissing;
use faucet_values::{Changes, check_key_stays, check_new_name, push_json_string};

/// The transform: what to split, and where the parts go.
#[derive(Debug)]
pub struct Split {
    column: String,
    separator: String,
    target: Target,
    trim: bool,
    remove: bool,
    on_missing: OnMissing,
}

#[transform(name = "split")]
impl Transform for Split {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        let target = config.target()?;
        let Config { column, separator, trim, remove, on_missing, .. } = config;
        Ok(Self { column, separator, target, trim, remove, on_missing })
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let column = match self.on_missing {
            OnMissing::Error => page.column(&self.column)?,
            OnMissing::Ignore => match page.find(&self.column)? {
                Some(column) => column,
                None => return Ok(page.pass().into()),
            },
        };
        check_text(&page, &column)?;
        let mut out = page.pass();
        if self.remove {
            check_key_stays(&page, &[column.name()], "keep it, and set remove: false")?;
            out.remove(column.name())?;
        }
        for new in self.columns(&page, &column)? {
            check_new_name(&page, new.name(), self.target.option())?;
            out.set(new)?;
        }
        Ok(out.into())
    }
}

fn check_text(page: &Page<'_>, column: &Column<'_>) -> Result<()> {
    if matches!(column.kind(), Kind::Text | Kind::Native) {
        return Ok(());
    }
    let (name, kind, table) = (column.name(), kind_name(column.kind()), page.table());
    Err(Error::new(format!(
        "column '{name}' of table '{table}' is {kind}: only text can be split; cast it to text before"
    )))
}

impl Split {
    fn columns(&self, page: &Page<'_>, column: &Column<'_>) -> Result<Vec<ColumnBuilder>> {
        let changes = Changes::of(page)?;
        let mut new = match &self.target {
            Target::Columns(names) => names.iter().map(|name| ColumnBuilder::new(name, Kind::Text)).collect(),
            Target::List(name) => vec![ColumnBuilder::new(name, Kind::Json)],
        };
        for (row, value) in column.values().enumerate() {
            match value.as_str() {
                _ if changes.removes(row) => new.iter_mut().try_for_each(|column| column.push(Value::Absent))?,
                None => new.iter_mut().try_for_each(|column| column.push(value))?,
                Some(text) => self.push(text, &mut new)?,
            }
        }
        Ok(new)
    }

    fn push(&self, text: &str, new: &mut [ColumnBuilder]) -> Result<()> {
        let trimmed = |part| if self.trim { str::trim(part) } else { part };
        match self.target {
            Target::Columns(_) => {
                let mut parts = text.splitn(new.len(), &self.separator).map(trimmed);
                new.iter_mut().try_for_each(|column| column.push(parts.next().map_or(Value::Null, Value::Text)))
            }
            Target::List(_) => {
                new[0].push_text_with(|to| push_list(to, text, &self.separator, trimmed));
                Ok(())
            }
        }
    }
}

/// A JSON list of the parts; of an empty text, the empty list.
fn push_list<'t>(to: &mut String, text: &'t str, separator: &str, trimmed: impl Fn(&'t str) -> &'t str) {
    to.push('[');
    let parts = (!text.is_empty()).then(|| text.split(separator)).into_iter().flatten();
    for (at, part) in parts.enumerate() {
        to.push_str(if at == 0 { "" } else { "," });
        push_json_string(to, trimmed(part));
    }
    to.push(']');
}
