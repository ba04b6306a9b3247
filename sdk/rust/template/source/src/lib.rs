//! Counts, and resumes where it was.

use faucet_sdk::{
    Batch, Bookmark, ColumnBuilder, Error, Kind, NewPage, Result, Source, SourceAbilities, Value, config, source,
};

/// What to count.
#[config]
pub struct Config {
    /// The first number.
    #[serde(default)]
    start: u32,
    /// The number to stop before.
    end: u32,
    /// Numbers of a page.
    #[serde(default = "page")]
    page: u32,
}

fn page() -> u32 {
    1000
}

/// A session: where the count stands.
pub struct Count {
    config: Config,
    next: u32,
}

#[source]
impl Source for Count {
    type Config = Config;

    fn check(config: &Config) -> Result<SourceAbilities> {
        if config.page == 0 {
            return Err(Error::config("page", "must be at least 1"));
        }
        // The numbers after a bookmark are always the same.
        Ok(SourceAbilities { replayable: true, ..SourceAbilities::default() })
    }

    fn open(config: Config, bookmark: Option<Bookmark>) -> Result<Self> {
        let next = match bookmark {
            Some(bookmark) => bookmark.read_json()?,
            None => config.start,
        };
        Ok(Self { config, next })
    }

    fn read(&mut self, _max_bytes: usize) -> Result<Option<Batch>> {
        if self.next >= self.config.end {
            return Ok(None);
        }
        let end = self.next.saturating_add(self.config.page).min(self.config.end);
        let mut numbers = ColumnBuilder::new("n", Kind::Int64);
        for number in self.next..end {
            numbers.push(Value::Int64(number.into()))?;
        }
        self.next = end;
        let bookmark = Bookmark::json(u64::from(end).to_be_bytes(), &end)?;
        Ok(Some(Batch::commit([NewPage::new("numbers").key(["n"]).column(numbers)], Some(bookmark))))
    }
}
