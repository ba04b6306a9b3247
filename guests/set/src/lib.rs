//! `set`: sets columns to a constant, the value of another column, or the name of the table.
//!
//! A delete or a truncate gets no value, unless the column becomes a part of the key, which a delete needs.

mod config;

use config::Setting;
pub use config::{Config, Part, Source};
use faucet_sdk::{ColumnBuilder, Error, Kind, Output, Page, Result, Transform, Value, transform};
use faucet_values::{Changes, Made, Reading, parse};

/// The transform: what each column is set to.
#[derive(Debug)]
pub struct Set(Vec<(String, Setting)>);

#[transform(name = "set")]
impl Transform for Set {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        config.settings().map(Self)
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let changes = Changes::of(&page)?;
        let mut out = page.pass();
        let mut key = page.key().to_vec();
        for (name, setting) in &self.0 {
            check_key(&page, name)?;
            out.set(setting.column(&page, &changes, name)?)?;
            key.extend(setting.is_key().then(|| name.clone()));
        }
        if key.len() > page.key().len() {
            check_has_key(&page)?;
            out.set_key(key);
        }
        Ok(out.into())
    }
}

/// One value for every row would make all keys equal.
fn check_key(page: &Page<'_>, name: &str) -> Result<()> {
    if !page.is_key(name) {
        return Ok(());
    }
    let table = page.table();
    Err(Error::new(format!(
        "column '{name}' is part of the key of table '{table}' and can't be set; set another column"
    )))
}

/// A key of nothing but constants would be the same in every row.
fn check_has_key(page: &Page<'_>) -> Result<()> {
    if !page.key().is_empty() {
        return Ok(());
    }
    let table = page.table();
    Err(Error::new(format!("table '{table}' has no key that a column could be added to; take `key: true` away")))
}

impl Setting {
    fn is_key(&self) -> bool {
        match self {
            Self::Constant { is_key, .. } | Self::Table { is_key, .. } => *is_key,
            Self::Copy(_) => false,
        }
    }

    fn column(&self, page: &Page<'_>, changes: &Changes, name: &str) -> Result<ColumnBuilder> {
        let full;
        let (mut out, value) = match self {
            Self::Copy(from) => return copy(page, changes, from, name),
            Self::Constant { text: None, kind, .. } => (ColumnBuilder::new(name, *kind), Made::Value(Value::Null)),
            Self::Constant { text: Some(text), kind, .. } => {
                let value = parse(text, *kind, &Reading::default()).expect("it was read when the transform was opened");
                (ColumnBuilder::new(name, *kind), value)
            }
            Self::Table { part, .. } => {
                full = page
                    .schema()
                    .map_or_else(|| page.table().to_owned(), |schema| format!("{schema}.{}", page.table()));
                let text = match part {
                    Part::Name => Value::Text(page.table()),
                    Part::Schema => page.schema().map_or(Value::Null, Value::Text),
                    Part::Full => Value::Text(&full),
                };
                (ColumnBuilder::new(name, Kind::Text), Made::Value(text))
            }
        };
        for row in 0..page.rows() {
            let has_value = if self.is_key() { !changes.truncates(row) } else { !changes.removes(row) };
            out.push(if has_value { value.value() } else { Value::Absent })?;
        }
        Ok(out)
    }
}

fn copy(page: &Page<'_>, changes: &Changes, from: &str, name: &str) -> Result<ColumnBuilder> {
    let column = page.column(from)?;
    let mut out = ColumnBuilder::like(&column).named(name);
    for (row, value) in column.values().enumerate() {
        out.push(if changes.removes(row) { Value::Absent } else { value })?;
    }
    Ok(out)
}
