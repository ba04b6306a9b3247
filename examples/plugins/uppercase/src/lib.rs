//! Turns text columns to upper case.
use faucet_sdk::{Output, Page, Result, Transform, config, transform};

/// What to turn to upper case.
#[config]
pub struct Config {
    /// Names of text columns.
    columns: Vec<String>,
}

/// The transform with its configuration.
pub struct Uppercase(Config);

#[transform]
impl Transform for Uppercase {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        Ok(Self(config))
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let mut out = page.pass();
        for name in &self.0.columns {
            out.set(page.column(name)?.map_text(|value, to| to.push_str(&value.to_uppercase()))?)?;
        }
        Ok(out.into())
    }
}
