//! `coalesce`: makes a column of the first value there is in other columns.

use faucet_sdk::serde_json::Value as Json;
use faucet_sdk::{Column, ColumnBuilder, Error, Output, Page, Result, Transform, Value, config, kind_name, transform};
use faucet_values::config::{OnAbsent, check_columns};
use faucet_values::{Computed, Made, constant_text, parse, protect_op};

/// Which columns to look at, and where the value goes.
#[config]
pub struct Config {
    /// The columns to look at, in this order. They must be of one kind.
    pub columns: Vec<String>,
    /// Name of the column for the value. It may be one of the columns, which is then replaced.
    pub into: String,
    /// The value where none of the columns has one: a number, text or truth value. Default: null.
    #[serde(default)]
    pub default: Option<Json>,
    /// What to do with an update that did not send a column that would come first. Default: reject.
    #[serde(default)]
    pub on_absent: OnAbsent,
}

/// The transform: which columns to look at.
#[derive(Debug)]
pub struct Coalesce {
    columns: Vec<String>,
    default: Option<String>,
    computed: Computed,
}

#[transform(name = "coalesce")]
impl Transform for Coalesce {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        check_columns(&config.columns, "columns")?;
        protect_op(&config.into, "into")?;
        let Config { columns, into, default, on_absent } = config;
        let computed = Computed { transform: "coalesce", into, on_absent, lacks: absent_before_value };
        Ok(Self { columns, default: default.as_ref().map(constant_text), computed })
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let sources = self.columns.iter().map(|name| page.column(name)).collect::<Result<Vec<_>>>()?;
        check_kinds(&page, &sources)?;
        let default = self.default(&page, &sources[0])?;
        let column = like_all(&sources).named(&self.computed.into);
        self.computed.apply(page.pass(), &page, &sources, column, |row, column| {
            let mut values = sources.iter().map(|source| source.value(row));
            let is_silent = sources.iter().all(|source| source.is_absent(row));
            let none = if is_silent { Value::Absent } else { Value::Null };
            let default = default.as_ref().map_or(none, Made::value);
            column.push(values.find(Value::is_present).unwrap_or(default))
        })
    }
}

impl Coalesce {
    fn default(&self, page: &Page<'_>, first: &Column<'_>) -> Result<Option<Made<'_>>> {
        let Some(text) = &self.default else {
            return Ok(None);
        };
        let value = parse(text, first.kind(), &faucet_values::Reading::default());
        value.map(Some).ok_or_else(|| {
            let (table, name, kind) = (page.table(), first.name(), kind_name(first.kind()));
            Error::new(format!("column '{name}' of table '{table}' is {kind}, and `default` is no {kind}; write one, or cast the column before"))
        })
    }
}

/// An unknown value counts if no earlier column has one.
fn absent_before_value(sources: &[Column<'_>], row: usize) -> Option<usize> {
    let first = sources.iter().position(|source| source.is_present(row)).unwrap_or(sources.len());
    sources[..first].iter().position(|source| source.is_absent(row))
}

fn check_kinds(page: &Page<'_>, sources: &[Column<'_>]) -> Result<()> {
    let first = &sources[0];
    let Some(other) = sources.iter().find(|source| source.kind() != first.kind()) else {
        return Ok(());
    };
    Err(Error::new(format!(
        "column '{}' of table '{}' is {}, and '{}' is {}; cast them to one kind before",
        first.name(),
        page.table(),
        kind_name(first.kind()),
        other.name(),
        kind_name(other.kind())
    )))
}

/// The new column has the type of the source only if all have that type.
fn like_all(sources: &[Column<'_>]) -> ColumnBuilder {
    let first = &sources[0];
    match sources.iter().all(|source| source.native() == first.native()) {
        true => ColumnBuilder::like(first),
        false => ColumnBuilder::new(first.name(), first.kind()),
    }
}
