//! `keys_case`: writes all column names in one style.
//!
//! A key column stays a key column, `__op` stays as it is, and two columns never end up with one name.

mod case;

pub use case::Case;
use faucet_sdk::{OP_COLUMN, Output, Page, Result, Transform, config, transform};
use faucet_values::rename_all;

/// How to write column names.
#[config]
pub struct Config {
    /// The style of every name.
    pub case: Case,
}

/// The transform: the style of names.
#[derive(Debug)]
pub struct KeysCase(Case);

#[transform(name = "keys_case")]
impl Transform for KeysCase {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        Ok(Self(config.case))
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let mut renames = Vec::new();
        for column in page.columns() {
            let old = column?.name();
            let new = self.0.write(old);
            if old != OP_COLUMN && new != old {
                renames.push((old, new));
            }
        }
        let mut out = page.pass();
        rename_all(&page, &mut out, &renames)?;
        Ok(out.into())
    }
}
