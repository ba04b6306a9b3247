//! `select`: keeps some columns, and leaves out all others.
//!
//! `__op` always stays. So does the key, unless the configuration gives it up: without it an update or a delete finds
//! no row.

mod config;

pub use config::{Config, Order};
use faucet_sdk::{Error, OP_COLUMN, Output, Page, Result, Transform, transform};
use faucet_values::config::check_columns;
use faucet_values::{give_up_key, selected};

/// The transform: which columns to keep.
#[derive(Debug)]
pub struct Select(Config);

#[transform(name = "select")]
impl Transform for Select {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        check_columns(&config.columns, "columns")?;
        Ok(Self(config))
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let Config { columns, order, allow_key, on_missing } = &self.0;
        let wanted = selected(&page, columns, *on_missing)?;
        let all = page.columns().map(|column| column.map(|column| column.name())).collect::<Result<Vec<_>>>()?;
        let stays = |name: &&str| *name == OP_COLUMN || wanted.contains(name);
        let (kept, gone): (Vec<&str>, Vec<&str>) = all.iter().copied().partition(stays);
        if kept.is_empty() && !all.is_empty() {
            return Err(Error::new(format!("no column of table '{}' is left; add some to `columns`", page.table())));
        }
        let mut out = page.pass();
        give_up_key(&page, &mut out, &gone, *allow_key)?;
        match order {
            Order::Table => out.arrange(kept)?,
            Order::Written => out.arrange(kept.iter().copied().filter(|name| *name == OP_COLUMN).chain(wanted))?,
        }
        Ok(out.into())
    }
}
