//! What a transform gives back: pages made from the input page, and rejected rows.

use crate::bindings::faucet::connector::types as wire;
use crate::{Column, ColumnBuilder, Error, OP_COLUMN, Page, Result};

/// What became of a page: pages to pass on and rows that failed.
#[derive(Debug, Clone, Default)]
pub struct Output<'a> {
    pages: Vec<PageOut<'a>>,
    rejected: Vec<(usize, String)>,
}

impl<'a> Output<'a> {
    /// Nothing is passed on: every row is filtered out.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Adds a page.
    #[must_use]
    pub fn and(mut self, page: PageOut<'a>) -> Self {
        self.pages.push(page);
        self
    }

    /// Takes a row out of every page and reports it as failed. `reason` must not contain a value of the row.
    pub fn reject(&mut self, row: usize, reason: impl Into<String>) {
        self.rejected.push((row, reason.into()));
    }

    pub(crate) fn finish(self) -> Result<wire::Output> {
        let Self { pages, mut rejected } = self;
        rejected.sort_by_key(|(row, _)| *row);
        rejected.dedup_by_key(|(row, _)| *row);
        let out = pages.into_iter().map(|page| page.finish(&rejected)).collect::<Result<_>>()?;
        let reject = |(row, reason)| wire::Reject { row: row as u32, reason };
        Ok(wire::Output { pages: out, rejected: rejected.into_iter().map(reject).collect() })
    }
}

impl<'a> From<PageOut<'a>> for Output<'a> {
    fn from(page: PageOut<'a>) -> Self {
        Self::default().and(page)
    }
}

/// An output page. It starts as the input page; columns that are not set are passed through by the host and cost
/// nothing.
#[derive(Debug, Clone)]
pub struct PageOut<'a> {
    page: Page<'a>,
    table: Option<wire::TableId>,
    key: Option<Vec<String>>,
    /// Rows of the input page, in order; none means all.
    selection: Option<Vec<u32>>,
    /// What the rows were repeated to: the columns set since have a value for each of these.
    repeated: Option<Vec<u32>>,
    columns: Vec<Source>,
}

#[derive(Debug, Clone)]
enum Source {
    Input(wire::Kept),
    New(ColumnBuilder),
    /// With a value for each repeated row.
    Repeated(ColumnBuilder),
}

impl<'a> PageOut<'a> {
    pub(crate) fn new(page: Page<'a>) -> Self {
        let kept = |index| Source::Input(wire::Kept { index: index as u32, name: None });
        let columns = (0..page.wire().columns.len()).map(kept).collect();
        Self { page, table: None, key: None, selection: None, repeated: None, columns }
    }

    /// Puts a new column in place of the one with its name, or at the end if there is none. It needs one value for
    /// each row of the *input* page, also if rows are filtered out; after [`PageOut::repeat`], for each repeated row.
    ///
    /// # Errors
    /// If it has another number of values.
    pub fn set(&mut self, column: ColumnBuilder) -> Result<()> {
        let (has, needs) = (column.rows(), self.repeated.as_ref().map_or(self.page.rows(), Vec::len));
        if has != needs {
            return Err(Error::new(format!("new column '{}' has {has} values for {needs} rows", column.name())));
        }
        let at = self.position(column.name());
        let source = if self.repeated.is_some() { Source::Repeated(column) } else { Source::New(column) };
        match at {
            Some(at) => self.columns[at] = source,
            None => self.columns.push(source),
        }
        Ok(())
    }

    /// Makes the page of these rows of the input page, each as often as it is named. The host repeats the values of
    /// columns that are passed through.
    ///
    /// # Errors
    /// If the rows fall or leave the page, if they were repeated before, or if a row of a page with `__op` is repeated:
    /// a change happened once.
    pub fn repeat(&mut self, rows: Vec<u32>) -> Result<()> {
        let falls = rows.windows(2).any(|pair| pair[1] < pair[0]);
        if falls || rows.last().is_some_and(|last| *last as usize >= self.page.rows()) || self.repeated.is_some() {
            return Err(Error::new("rows can be repeated once, in the order they have"));
        }
        if self.page.find(OP_COLUMN)?.is_some() && rows.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Error::new(format!("a change of table '{}' can't be repeated", self.page.table())));
        }
        self.repeated = Some(rows.clone());
        self.selection = Some(rows);
        Ok(())
    }

    /// Keeps only the columns of these names, in this order.
    ///
    /// # Errors
    /// If there is none of a name.
    pub fn arrange<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<()> {
        let at = names.into_iter().map(|name| self.expect_position(name)).collect::<Result<Vec<_>>>()?;
        self.columns = at.into_iter().map(|at| self.columns[at].clone()).collect();
        Ok(())
    }

    /// Removes a column.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        let at = self.expect_position(name)?;
        self.columns.remove(at);
        Ok(())
    }

    /// Gives a column another name. A key column stays a key column.
    ///
    /// # Errors
    /// If there is none of this name, or there is one named `to` already.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        let at = self.expect_position(from)?;
        if from != to && self.position(to).is_some() {
            return Err(Error::new(format!("can't rename column '{from}' to '{to}': there is one of that name")));
        }
        match &mut self.columns[at] {
            Source::Input(kept) => kept.name = Some(to.to_owned()),
            Source::New(column) | Source::Repeated(column) => *column = column.clone().named(to),
        }
        Ok(())
    }

    /// Keeps the rows for which `keep` says so, of those that are still there.
    pub fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let rows = self.page.rows() as u32;
        let left: Vec<u32> = match self.selection.take() {
            Some(rows) => rows.into_iter().filter(|row| keep(*row as usize)).collect(),
            None => (0..rows).filter(|row| keep(*row as usize)).collect(),
        };
        self.selection = (!left.iter().copied().eq(0..rows)).then_some(left);
    }

    /// Sends the page to another table.
    pub fn set_table(&mut self, schema: Option<&str>, name: &str) {
        self.table = Some(wire::TableId { schema: schema.map(Into::into), name: name.into() });
    }

    /// Sets the key, by the names the columns have by now. Without this the input's key stays.
    pub fn set_key<I: IntoIterator<Item: Into<String>>>(&mut self, key: I) {
        self.key = Some(key.into_iter().map(Into::into).collect());
    }

    /// Which of the repeated rows are left; none means all. A row stays with all its repetitions, or goes with them.
    fn repeated_left(&self) -> Option<Vec<u32>> {
        let (repeated, selection) = (self.repeated.as_ref()?, self.selection.as_ref()?);
        let stays = |at: &u32| selection.binary_search(&repeated[*at as usize]).is_ok();
        (repeated.len() != selection.len()).then(|| (0..repeated.len() as u32).filter(stays).collect())
    }

    fn name_of<'s>(&'s self, column: &'s Source) -> &'s str {
        match column {
            Source::New(column) | Source::Repeated(column) => column.name(),
            Source::Input(wire::Kept { name: Some(name), .. }) => name,
            Source::Input(wire::Kept { index, name: None }) => &self.page.wire().columns[*index as usize].name,
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| self.name_of(column) == name)
    }

    fn expect_position(&self, name: &str) -> Result<usize> {
        let missing = || Error::new(format!("table '{}' has no column '{name}'", self.page.table()));
        self.position(name).ok_or_else(missing)
    }

    fn finish(mut self, rejected: &[(usize, String)]) -> Result<wire::PageOut> {
        if !rejected.is_empty() {
            self.retain(|row| rejected.binary_search_by_key(&row, |(row, _)| *row).is_err());
        }
        let left = self.repeated_left();
        let Self { page, table, key, selection, columns, .. } = self;
        let rows = selection.as_ref().map_or(page.wire().rows, |rows| rows.len() as u32);
        let column = |column| match column {
            Source::Input(kept) => Ok(wire::ColumnOut::Input(kept)),
            Source::New(column) => gather(column, selection.as_deref()).map(wire::ColumnOut::Buffers),
            Source::Repeated(column) => gather(column, left.as_deref()).map(wire::ColumnOut::Buffers),
        };
        let columns = columns.into_iter().map(column).collect::<Result<_>>()?;
        let selection = selection.map(|rows| rows.iter().flat_map(|row| row.to_le_bytes()).collect());
        Ok(wire::PageOut { table, rows, selection, key, columns })
    }
}

/// The column's values at the selected rows.
fn gather(column: ColumnBuilder, selection: Option<&[u32]>) -> Result<wire::Column> {
    let rows = column.rows();
    let full = column.finish();
    let Some(selection) = selection else {
        return Ok(full);
    };
    let view = Column::new(&full, rows)?;
    let mut out = ColumnBuilder::like(&view);
    for row in selection {
        out.push(view.value(*row as usize))?;
    }
    Ok(out.finish())
}
