//! `join`: joins columns into one text.
//!
//! The columns may be of any kind: their exact text is what is joined.

use faucet_sdk::{Column, ColumnBuilder, Kind, Output, Page, Result, Transform, Value, config, transform};
use faucet_values::config::{OnAbsent, check_columns};
use faucet_values::{Computed, NamedNull, OrNull, check_key_stays, first_absent, protect_op, push_text};

/// What to join, and how.
#[config]
pub struct Config {
    /// The columns to join, in this order.
    pub columns: Vec<String>,
    /// Name of the column for the text. It may be one of the columns, which is then replaced.
    pub into: String,
    /// What stands between two values. Default: a blank.
    #[serde(default)]
    pub separator: Option<String>,
    /// What to do where some columns are null. Where all are, the text is null. Default: skip.
    #[serde(default)]
    pub nulls: OrNull<Nulls>,
    /// Leave the joined columns out of the result. Default: false.
    #[serde(default)]
    pub remove: bool,
    /// What to do with an update that sent only some of the columns. Default: reject.
    #[serde(default)]
    pub on_absent: OnAbsent,
}

/// What a null among the columns does.
#[config]
#[derive(Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub enum Nulls {
    /// It is left out, and its separator with it.
    #[default]
    Skip,
    /// It is an empty text.
    Empty,
    /// It makes the text null.
    Null,
}

impl NamedNull for Nulls {
    const NULL: Self = Self::Null;
}

/// The transform: what to join, and how.
#[derive(Debug)]
pub struct Join {
    columns: Vec<String>,
    separator: String,
    nulls: Nulls,
    remove: bool,
    computed: Computed,
}

#[transform(name = "join")]
impl Transform for Join {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        check_columns(&config.columns, "columns")?;
        protect_op(&config.into, "into")?;
        let Config { columns, into, separator, nulls, remove, on_absent } = config;
        let computed = Computed { transform: "join", into, on_absent, lacks: first_absent };
        Ok(Self { columns, separator: separator.unwrap_or_else(|| " ".to_owned()), nulls: nulls.0, remove, computed })
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let sources = self.columns.iter().map(|name| page.column(name)).collect::<Result<Vec<_>>>()?;
        let mut out = page.pass();
        if self.remove {
            let gone = sources.iter().map(Column::name).filter(|name| *name != self.computed.into);
            let gone: Vec<&str> = gone.collect();
            check_key_stays(&page, &gone, "keep it, and set remove: false")?;
            gone.into_iter().try_for_each(|name| out.remove(name))?;
        }
        let column = ColumnBuilder::new(&self.computed.into, Kind::Text);
        self.computed.apply(out, &page, &sources, column, |row, column| self.write(&sources, row, column))
    }
}

impl Join {
    fn write(&self, sources: &[Column<'_>], row: usize, column: &mut ColumnBuilder) -> Result<()> {
        let present = sources.iter().filter(|source| source.is_present(row)).count();
        if present == 0 || present < sources.len() && self.nulls == Nulls::Null {
            return column.push(Value::Null);
        }
        column.push_text_with(|to| {
            let mut is_first = true;
            for source in sources.iter().filter(|source| source.is_present(row) || self.nulls == Nulls::Empty) {
                to.push_str(if is_first { "" } else { &self.separator });
                push_text(to, source.value(row));
                is_first = false;
            }
        });
        Ok(())
    }
}
