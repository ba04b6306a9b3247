//! Gives pages back as they came: what an SDK must be able to do. Every page of `sdk/vectors` has to pass.

use faucet_sdk::{ColumnBuilder, Output, Page, Result, Transform, config, transform};

/// What to do with a page.
#[config]
pub struct Config {
    /// Whether to read and write every value.
    mode: Mode,
}

/// What is done with a page.
#[config]
#[derive(Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Every value is read, and written by a builder.
    Values,
    /// The page passes untouched.
    Pass,
}

/// The transform with its configuration.
pub struct Echo(Config);

#[transform]
impl Transform for Echo {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        Ok(Self(config))
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let mut out = page.pass();
        if self.0.mode == Mode::Values {
            for column in page.columns() {
                let column = column?;
                let mut copy = ColumnBuilder::like(&column);
                for value in column.values() {
                    copy.push(value)?;
                }
                out.set(copy)?;
            }
        }
        Ok(out.into())
    }
}
