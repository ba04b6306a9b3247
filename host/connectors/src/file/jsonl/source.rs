//! Reading a file of JSON lines.

use faucet_core::error::Result;
use faucet_core::model::{ColumnBuilder, Kind, Page, PageBuilder};

use super::config::JsonlSourceConfig;
use super::error::{Fault, bad_line, bad_value};
use super::number::Number;
use super::shape::Shape;
use super::token::{Members, Token};
use crate::blocking::Pages;
use crate::file::csv::table_of;
use crate::file::input::{Input, LARGEST_RECORD};
use crate::pages::PageLimits;

/// A file of JSON lines.
pub(super) struct Reader {
    input: Input,
    shape: Shape,
    limits: PageLimits,
    /// The lines of the page in hand: they are read twice when the shape has to widen.
    lines: Lines,
    next_line: u64,
}

/// Lines side by side.
#[derive(Default)]
struct Lines {
    text: String,
    /// Where each ends, and its number in the file.
    ends: Vec<(usize, u64)>,
}

impl Lines {
    fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        starts.zip(&self.ends).map(|(start, (end, number))| (&self.text[start..*end], *number))
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

/// A page that was built, or that needs a wider shape.
enum Built {
    Page(Page),
    Misfit,
}

impl Reader {
    /// Opens the file.
    pub(super) fn open(config: JsonlSourceConfig) -> Result<Self> {
        Ok(Self {
            input: Input::open(&config.path)?,
            shape: Shape::new(table_of(&config.path), config.columns),
            limits: PageLimits::of(config.batch_size),
            lines: Lines::default(),
            next_line: 1,
        })
    }

    /// Reads to the end.
    pub(super) fn read(mut self, pages: &Pages) -> Result<()> {
        loop {
            self.lines.clear();
            let ended = self.gather()?;
            if !self.lines.ends.is_empty() && !pages.send(self.page()?) || ended {
                return Ok(());
            }
        }
    }

    /// Collects the lines of a page. `true` at the end of the file.
    fn gather(&mut self) -> Result<bool> {
        while !self.limits.reached(self.lines.ends.len(), self.lines.text.len()) {
            let Some(bytes) = self.next_line()? else { return Ok(true) };
            let number = self.next_line;
            self.next_line += 1;
            let line = std::str::from_utf8(self.input.taken(bytes));
            let line = line.map_err(|_| bad_line(self.input.path(), number, Fault::NotUtf8))?;
            if !line.trim_ascii().is_empty() {
                self.lines.text.push_str(line);
                self.lines.ends.push((self.lines.text.len(), number));
            }
        }
        Ok(false)
    }

    /// Takes a line, its end included, and says how long it is.
    fn next_line(&mut self) -> Result<Option<usize>> {
        let mut searched = 0;
        loop {
            let rest = self.input.rest();
            if let Some(at) = memchr::memchr(b'\n', &rest[searched..]) {
                let bytes = searched + at + 1;
                self.input.take(bytes);
                return Ok(Some(bytes));
            }
            searched = rest.len();
            if searched > LARGEST_RECORD {
                return Err(bad_line(self.input.path(), self.next_line, Fault::TooLarge));
            }
            if !self.input.more()? {
                self.input.take(searched);
                return Ok((searched > 0).then_some(searched));
            }
        }
    }

    fn page(&mut self) -> Result<Page> {
        if self.shape.is_settled()
            && let Built::Page(page) = self.build()?
        {
            return Ok(page);
        }
        for (line, number) in self.lines.iter() {
            let bad = |fault| bad_line(self.input.path(), number, fault);
            let mut members = Members::of(line);
            while let Some((name, token)) = members.next().map_err(bad)? {
                let name = name.text().ok_or_else(|| bad(Fault::NoCharacter))?;
                if let Token::Text(text) = token {
                    text.text().ok_or_else(|| bad(Fault::NoCharacter))?;
                }
                self.shape.learn(&name, token);
            }
        }
        self.shape.settle();
        match self.build()? {
            Built::Page(page) => Ok(page),
            Built::Misfit => unreachable!("every value of the page was learned"),
        }
    }

    fn build(&self) -> Result<Built> {
        let mut page = PageBuilder::rows(self.shape.schema().clone());
        for (line, number) in self.lines.iter() {
            if !self.push_line(&mut page, line, number)? {
                return Ok(Built::Misfit);
            }
        }
        Ok(Built::Page(page.finish()))
    }

    /// Adds a row. `false` when the shape is too narrow for it.
    fn push_line(&self, page: &mut PageBuilder, line: &str, number: u64) -> Result<bool> {
        let bad = |fault| bad_line(self.input.path(), number, fault);
        let row = page.len();
        let columns = page.columns();
        let mut members = Members::of(line);
        let mut guess = 0;
        while let Some((name, token)) = members.next().map_err(bad)? {
            let name = name.text().ok_or_else(|| bad(Fault::NoCharacter))?;
            let Some(place) = self.shape.place(&name, guess) else { return Ok(false) };
            guess = place + 1;
            let column = &mut columns[place];
            if column.len() > row {
                return Err(bad(Fault::Twice));
            }
            let declared = self.shape.is_declared(place);
            match push(column, token, declared) {
                true => {}
                false if declared => {
                    let kind = column.kind();
                    return Err(bad_value(self.input.path(), number, &name, kind, token.name()));
                }
                false => return Ok(false),
            }
        }
        columns.iter_mut().filter(|c| c.len() == row).for_each(ColumnBuilder::push_absent);
        page.end_row();
        Ok(true)
    }
}

/// Adds a value where the column's kind holds it exactly. What the configuration declares may also be spelled in a string
/// (decimals and times usually are), and a float may be the nearest one.
fn push(column: &mut ColumnBuilder, token: Token<'_>, declared: bool) -> bool {
    match (column.kind(), token) {
        (_, Token::Null) => column.push_null(),
        (Kind::Json, token) => column.push_str(token.json()),
        (Kind::Bool, Token::Bool(value)) => column.push_bool(value),
        (Kind::I64, Token::Number(text)) => match Number::of(text).integer() {
            Some(value) => column.push_i64(value),
            None => return false,
        },
        (Kind::F64, Token::Number(text)) if !declared => match Number::of(text).float() {
            Some(value) => column.push_f64(value),
            None => return false,
        },
        (Kind::Decimal, Token::Number(text)) => column.push_str(text),
        (Kind::U64 | Kind::F32 | Kind::F64, Token::Number(text)) => return column.push_parsed(text).is_ok(),
        (Kind::Text, Token::Text(text)) => match text.text() {
            Some(text) => column.push_str(&text),
            None => return false,
        },
        (_, Token::Text(text)) if declared => {
            return text.text().is_some_and(|text| column.push_parsed(&text).is_ok());
        }
        _ => return false,
    }
    true
}
