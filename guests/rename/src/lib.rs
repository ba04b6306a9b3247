//! `rename`: gives columns other names.
//!
//! All renames of a page happen at once, so names can be swapped. Two columns never end up with one name, and a key
//! column that is renamed stays a key column.

mod config;

pub use config::Config;
use faucet_sdk::{Error, OP_COLUMN, Output, Page, Result, Transform, transform};
use faucet_values::config::OnMissing;
use faucet_values::rename_all;
use regex_lite::Regex;

/// The transform: which columns get which names.
#[derive(Debug)]
pub struct Rename {
    columns: Vec<(String, String)>,
    pattern: Option<(Regex, String)>,
    on_missing: OnMissing,
}

#[transform(name = "rename")]
impl Transform for Rename {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        config.check()?;
        let pattern = config.pattern()?;
        Ok(Self { columns: config.columns.0, pattern, on_missing: config.on_missing })
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        self.check_missing(&page)?;
        let mut renames = Vec::new();
        for column in page.columns() {
            let old = column?.name();
            if let Some(new) = self.new_name(old).filter(|new| new != old) {
                check_name(&page, old, &new)?;
                renames.push((old, new));
            }
        }
        let mut out = page.pass();
        rename_all(&page, &mut out, &renames)?;
        Ok(out.into())
    }
}

impl Rename {
    fn check_missing(&self, page: &Page<'_>) -> Result<()> {
        match self.on_missing {
            OnMissing::Ignore => Ok(()),
            OnMissing::Error => self.columns.iter().try_for_each(|(name, _)| page.column(name).map(|_| ())),
        }
    }

    fn new_name(&self, old: &str) -> Option<String> {
        if old == OP_COLUMN {
            return None;
        }
        if let Some((_, new)) = self.columns.iter().find(|(name, _)| name == old) {
            return Some(new.clone());
        }
        let (pattern, replacement) = self.pattern.as_ref()?;
        Some(pattern.replace_all(old, replacement).into_owned())
    }
}

/// What a pattern makes of a name is known only now.
fn check_name(page: &Page<'_>, old: &str, new: &str) -> Result<()> {
    let what = match new {
        "" => "without a name",
        OP_COLUMN => "named __op, which marks what a change is",
        _ => return Ok(()),
    };
    let table = page.table();
    Err(Error::new(format!("`pattern` would leave column '{old}' of table '{table}' {what}; make it match less")))
}
