//! A column made from other columns, row by row: what it is where those have no value, and on changes.

use crate::Changes;
use crate::config::OnAbsent;
use crate::names::check_new_name;
use faucet_sdk::{Column, ColumnBuilder, Error, Output, Page, PageOut, Result, Value};

/// How to make a column from others.
///
/// - On a row that deletes or truncates, the new column says nothing.
/// - An update that sent none of the columns leaves the new column alone, too. One that sent only some of those that
///   matter can't tell the new value: see [`OnAbsent`].
/// - On all other rows there is nothing at the destination yet, so an absent value is no value, like null.
#[derive(Debug, Clone)]
pub struct Computed {
    /// Name of the transform, for messages.
    pub transform: &'static str,
    /// Name of the new column.
    pub into: String,
    /// What to do with an update that did not send all that matters.
    pub on_absent: OnAbsent,
    /// Which column that was not sent keeps the value of a row from being known.
    pub lacks: Lacks,
}

/// Of some columns and the number of a row: which of them keeps a value from being known.
pub type Lacks = fn(&[Column<'_>], usize) -> Option<usize>;

/// The first column that was not sent with the row.
pub fn first_absent(sources: &[Column<'_>], row: usize) -> Option<usize> {
    sources.iter().position(|source| source.is_absent(row))
}

impl Computed {
    /// Puts the column into `out`: `write` adds the value of a row to `column`, which is empty.
    ///
    /// # Errors
    /// If the column would replace one it is not made from, or a part of the key.
    pub fn apply<'a>(
        &self,
        mut out: PageOut<'a>,
        page: &Page<'a>,
        sources: &[Column<'a>],
        mut column: ColumnBuilder,
        mut write: impl FnMut(usize, &mut ColumnBuilder) -> Result<()>,
    ) -> Result<Output<'a>> {
        let replaced = self.replaced(page, sources)?;
        let changes = Changes::of(page)?;
        let mut rejected = Vec::new();
        for row in 0..page.rows() {
            let lacking = if changes.updates(row) { (self.lacks)(sources, row) } else { None };
            if changes.removes(row) {
                column.push(replaced.map_or(Value::Absent, |column| column.value(row)))?;
            } else if let Some(lacking) = lacking {
                column.push(Value::Absent)?;
                let has_none = sources.iter().all(|source| source.is_absent(row));
                let is_known = has_none || self.on_absent == OnAbsent::Leave;
                rejected.extend((!is_known).then(|| (row, self.reason(sources[lacking].name()))));
            } else {
                write(row, &mut column)?;
            }
        }
        out.set(column)?;
        let mut out = Output::from(out);
        for (row, reason) in rejected {
            out.reject(row, reason);
        }
        Ok(out)
    }

    /// The column of the page that the new one replaces.
    fn replaced<'s, 'a>(&self, page: &Page<'a>, sources: &'s [Column<'a>]) -> Result<Option<&'s Column<'a>>> {
        let (into, table) = (&self.into, page.table());
        if page.is_key(into) {
            return Err(Error::new(format!(
                "column '{into}' is part of the key of table '{table}' and can't be replaced; give another name in `into`"
            )));
        }
        let source = sources.iter().find(|source| source.name() == into);
        if source.is_none() {
            check_new_name(page, into, "into")?;
        }
        Ok(source)
    }

    fn reason(&self, column: &str) -> String {
        let Self { transform, into, .. } = self;
        format!(
            "{transform} into '{into}': column '{column}' was not sent with this change; set REPLICA IDENTITY FULL on \
             the table, or on_absent"
        )
    }
}
