//! `mask`: hides the values of text columns.
//!
//! Nulls stay null and absent values stay absent, so a masked mirror has the shape of its source. Hashing is
//! deterministic, so joins and keys survive it; the other methods make distinct values equal and are refused on key
//! columns. See the README for the configuration.

mod config;
mod method;

pub use config::{Config, Missing};
use faucet_sdk::{Column, Error, Kind, Output, Page, Result, Transform, kind_name, transform};
use method::Method;

/// The transform: what to do to which column.
#[derive(Debug)]
pub struct Mask {
    columns: Vec<(String, Method)>,
    on_missing: Missing,
}

#[transform(name = "mask")]
impl Transform for Mask {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        let on_missing = config.on_missing;
        Ok(Self { columns: config.resolve()?, on_missing })
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let mut out = page.pass();
        for (name, method) in &self.columns {
            let Some(column) = self.column(&page, name)? else {
                continue;
            };
            check(&page, &column, method)?;
            out.set(column.map_text(|value, to| method.write(value, to))?)?;
        }
        Ok(out.into())
    }
}

impl Mask {
    fn column<'a>(&self, page: &Page<'a>, name: &str) -> Result<Option<Column<'a>>> {
        match self.on_missing {
            Missing::Error => page.column(name).map(Some),
            Missing::Ignore => page.find(name),
        }
    }
}

fn check(page: &Page<'_>, column: &Column<'_>, method: &Method) -> Result<()> {
    let (name, kind) = (column.name(), column.kind());
    if !matches!(kind, Kind::Text | Kind::Native) {
        let kind = kind_name(kind);
        return Err(Error::new(format!("column '{name}' is {kind}: only text can be masked; cast it to text before")));
    }
    if page.is_key(name) && !method.keeps_distinct() {
        return Err(Error::new(format!(
            "column '{name}' is part of the key of table '{}', and this method makes distinct keys equal; \
             use method hash for it",
            page.table()
        )));
    }
    Ok(())
}
