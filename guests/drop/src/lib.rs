//! `drop`: leaves out columns.
//!
//! `__op` always stays. So does the key, unless the configuration gives it up: without it an update or a delete finds
//! no row.

use faucet_sdk::{Error, Output, Page, Result, Transform, config, transform};
use faucet_values::config::{OnMissing, check_columns};
use faucet_values::{give_up_key, selected};

/// Which columns to leave out.
#[config]
pub struct Config {
    /// Columns to leave out; * stands for any characters (tmp_*).
    pub columns: Vec<String>,
    /// Allow to leave out a part of the key; the rows then have none. Default: false.
    #[serde(default)]
    pub allow_key: bool,
    /// What to do if a table lacks one of them, or none matches a pattern. Default: error.
    #[serde(default)]
    pub on_missing: OnMissing,
}

/// The transform: which columns to leave out.
#[derive(Debug)]
pub struct Drop(Config);

#[transform(name = "drop")]
impl Transform for Drop {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        check_columns(&config.columns, "columns")?;
        Ok(Self(config))
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let gone = selected(&page, &self.0.columns, self.0.on_missing)?;
        if !gone.is_empty() && gone.len() == page.columns().count() {
            return Err(Error::new(format!("no column of table '{}' is left; drop fewer of them", page.table())));
        }
        let mut out = page.pass();
        give_up_key(&page, &mut out, &gone, self.0.allow_key)?;
        for name in gone {
            out.remove(name)?;
        }
        Ok(out.into())
    }
}
