//! Rows `(0, "row 0")`, `(1, "row 1")` and so on, in batches of 100, resumable at each.

use faucet_sdk::{Batch, Bookmark, ColumnBuilder, Kind, NewPage, Result, Source, SourceAbilities, Value, config, source};

/// How many.
#[config]
pub struct Config {
    /// Rows in all.
    rows: i64,
}

struct Numbers {
    rows: i64,
    next: i64,
}

#[source(name = "numbers", summary = "Numbered rows")]
impl Source for Numbers {
    type Config = Config;

    fn check(_: &Config) -> Result<SourceAbilities> {
        Ok(SourceAbilities { replayable: true, ..SourceAbilities::default() })
    }

    fn open(config: Config, bookmark: Option<Bookmark>) -> Result<Self> {
        let next = bookmark.map_or(Ok(0), |bookmark| bookmark.read_json())?;
        Ok(Self { rows: config.rows, next })
    }

    fn read(&mut self, _: usize) -> Result<Option<Batch>> {
        if self.next == self.rows {
            return Ok(None);
        }
        let end = self.rows.min(self.next + 100);
        let (mut id, mut a) = (ColumnBuilder::new("id", Kind::Int64), ColumnBuilder::new("a", Kind::Text));
        for row in self.next..end {
            id.push(Value::Int64(row))?;
            a.push(Value::Text(&format!("row {row}")))?;
        }
        self.next = end;
        let bookmark = Bookmark::json(end.to_be_bytes(), &end)?;
        Ok(Some(Batch::commit([NewPage::new("t").key(["id"]).column(id).column(a)], Some(bookmark))))
    }
}
