//! Which records are wanted.

use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::model::{Column, Page, ValueRef, push_text};

use crate::args::TraceArgs;

/// Records can't be told by what was asked.
pub static NO_SUCH_COLUMN: Code = Code {
    id: "trace.no_such_column",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the records of the source can't be told apart by what was asked",
    help: "`--key` names columns as the source delivers them, before any transform, and `--position` needs a source of changes: \
           rows of a query or a file have no position. The message lists the columns there are.",
};

/// What a record must be like.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Columns and the text of their values.
    key: Vec<(String, String)>,
    /// The leading bytes of its position.
    position: Option<Vec<u8>>,
    table: Option<String>,
}

impl Wanted {
    /// What the arguments say.
    ///
    /// # Errors
    /// What is not written as it should be.
    pub fn parse(args: &TraceArgs) -> Result<Self, String> {
        let pair = |text: &String| {
            let pair = text.split_once('=').filter(|(column, _)| !column.is_empty());
            let (column, value) = pair.ok_or_else(|| format!("--key {text}: write COLUMN=VALUE"))?;
            Ok((column.to_owned(), value.to_owned()))
        };
        Ok(Self {
            key: args.key.iter().map(pair).collect::<Result<_, String>>()?,
            position: args.position.as_deref().map(position).transpose()?,
            table: args.table.clone(),
        })
    }

    /// The rows of a page that are wanted.
    ///
    /// # Errors
    /// When the page has no such columns, or no positions.
    pub fn rows(&self, page: &Page) -> Result<Vec<usize>> {
        if self.table.as_ref().is_some_and(|table| *table != page.schema().table.to_string()) {
            return Ok(Vec::new());
        }
        let places = self.key.iter().map(|(name, value)| Ok((place(page, name)?, value.as_str())));
        let places = places.collect::<Result<Vec<_>>>()?;
        if self.position.is_some() && page.change().is_none() {
            return Err(Error::new(&NO_SUCH_COLUMN, "the rows of this source have no position").hint("use --key"));
        }
        Ok((0..page.rows()).filter(|row| self.stands_there(page, *row) && has(page, *row, &places)).collect())
    }

    fn stands_there(&self, page: &Page, row: usize) -> bool {
        let Some(wanted) = &self.position else { return true };
        page.change().is_some_and(|change| change.positions.get(row).starts_with(wanted))
    }
}

fn place(page: &Page, name: &str) -> Result<usize> {
    let schema = page.schema();
    schema.index_of(name).ok_or_else(|| {
        let names: Vec<&str> = schema.fields.iter().map(|field| &*field.name).collect();
        Error::new(&NO_SUCH_COLUMN, format!("the records of {} have no column \"{name}\"", schema.table))
            .hint(format!("its columns are: {}", names.join(", ")))
    })
}

/// Whether the row, or the row as it was before, has these values.
fn has(page: &Page, row: usize, places: &[(usize, &str)]) -> bool {
    let is = |columns: &[Column]| places.iter().all(|(place, text)| reads(columns[*place].value(row), text));
    let before = || page.change().and_then(|change| change.before.as_ref()).filter(|before| before.present.value(row));
    is(page.columns()) || before().is_some_and(|before| is(&before.columns))
}

fn reads(value: ValueRef<'_>, text: &str) -> bool {
    if matches!(value, ValueRef::Null | ValueRef::Absent) {
        return false;
    }
    let mut spelled = Vec::new();
    push_text(&mut spelled, value);
    spelled == text.as_bytes()
}

/// `COMMIT`, `COMMIT:NUMBER` (`16/B374D848:3`), or hex digits.
fn position(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("--position {text}: write it as 16/B374D848, as 16/B374D848:3, or as hex digits in pairs");
    let Some((high, rest)) = text.split_once('/') else { return hex(text).ok_or_else(wrong) };
    let (low, number) = rest.split_once(':').map_or((rest, None), |(low, number)| (low, Some(number)));
    let half = |digits: &str| u32::from_str_radix(digits, 16).map_err(|_| wrong());
    let commit = (u64::from(half(high)?) << 32) | u64::from(half(low)?);
    let number = number.map(|number| number.parse::<u64>().map_err(|_| wrong())).transpose()?;
    Ok(commit.to_be_bytes().into_iter().chain(number.into_iter().flat_map(u64::to_be_bytes)).collect())
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let pair = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(pair).collect::<Option<Vec<_>>>().filter(|bytes| !bytes.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_as_they_are_printed() {
        let bytes = |text: &str| position(text).unwrap_or_default();
        assert_eq!(bytes("16/B374D848"), 0x16_B374_D848_u64.to_be_bytes());
        assert_eq!(bytes("0/1:3"), [1_u64.to_be_bytes(), 3_u64.to_be_bytes()].concat());
        assert_eq!(bytes("00ff"), [0, 255]);
        for wrong in ["", "0/", "/1", "g0", "0/1:x", "123", "1/2/3", "é1"] {
            assert!(position(wrong).is_err_and(|why| why.contains("16/B374D848")), "{wrong}");
        }
    }
}
