//! The thread that reads: one statement, stepped row by row.

use faucet_core::error::{Error, Result};
use faucet_core::model::{Field, Kind, PageBuilder, Schema, TableId};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags, Rows, Statement};
use std::sync::Arc;

use super::value::{kind_of_values, push, sort};
use super::{BAD_COLUMNS, BAD_VALUE, SqliteSourceConfig};
use crate::blocking::{Interrupt, Pages};
use crate::file::error::io_error;
use crate::pages::PageLimits;
use crate::sqlite::error::from_driver;
use crate::sqlite::kinds::kind_of;

/// A database whose query is known to be good.
pub(super) struct Reader {
    config: SqliteSourceConfig,
    connection: Connection,
}

/// A column of the query, before its values were seen.
struct Shape {
    name: String,
    declared: Option<String>,
    /// `None` when only the values can say it.
    kind: Option<Kind>,
}

impl Reader {
    /// Opens the database and prepares the query.
    pub(super) fn open(config: SqliteSourceConfig) -> Result<(Self, Option<Interrupt>)> {
        let about = std::fs::metadata(&config.path).map_err(|e| io_error("read", &config.path, &e))?;
        if about.is_dir() {
            return Err(io_error("read", &config.path, &std::io::ErrorKind::IsADirectory.into()));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |e: rusqlite::Error| from_driver(&config.path, &e);
        let connection = Connection::open_with_flags(&config.path, flags).map_err(failed)?;
        connection.busy_timeout(config.busy_timeout.duration()).map_err(failed)?;
        shapes(&config, &connection.prepare(&config.sql()).map_err(failed)?)?;
        let handle = connection.get_interrupt_handle();
        Ok((Self { config, connection }, Some(Box::new(move || handle.interrupt()))))
    }

    /// Runs the query to its end.
    pub(super) fn read(self, pages: &Pages) -> Result<()> {
        let failed = |e: rusqlite::Error| from_driver(&self.config.path, &e);
        let mut statement = self.connection.prepare(&self.config.sql()).map_err(failed)?;
        let shapes = shapes(&self.config, &statement)?;
        let rows = statement.query([]).map_err(failed)?;
        let limits = PageLimits::of(self.config.batch_size);
        Reading { config: &self.config, shapes, rows, limits, row: 0 }.run(pages)
    }
}

fn shapes(config: &SqliteSourceConfig, statement: &Statement<'_>) -> Result<Vec<Shape>> {
    let shape = |column: rusqlite::Column<'_>| {
        let declared = column.decl_type().map(str::to_owned);
        let said = config.columns.get(column.name()).map(|&kind| kind.into());
        Shape { name: column.name().to_owned(), kind: said.or_else(|| kind_of(declared.as_deref()?)), declared }
    };
    let shapes: Vec<Shape> = statement.columns().map(shape).collect();
    let refuse = |what: String, hint: &str| Err(Error::new(&BAD_COLUMNS, what).hint(hint));
    if shapes.is_empty() {
        return refuse("the query returns no columns".to_owned(), "write a SELECT");
    }
    if let Some(twice) =
        shapes.iter().enumerate().find(|(at, s)| shapes[..*at].iter().any(|before| before.name == s.name))
    {
        return refuse(
            format!("two columns of the query are called \"{}\"", twice.1.name),
            "give one another name with AS",
        );
    }
    if let Some(unknown) = config.columns.keys().find(|name| !shapes.iter().any(|s| s.name == **name)) {
        let names = shapes.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join(", ");
        let what = format!("the query has no column \"{unknown}\", which `columns` declares");
        return refuse(what, &format!("its columns are: {names}"));
    }
    Ok(shapes)
}

struct Reading<'a> {
    config: &'a SqliteSourceConfig,
    shapes: Vec<Shape>,
    rows: Rows<'a>,
    limits: PageLimits,
    /// Rows read so far.
    row: u64,
}

impl Reading<'_> {
    fn run(mut self, pages: &Pages) -> Result<()> {
        let first = if self.shapes.iter().all(|s| s.kind.is_some()) { Vec::new() } else { self.first_rows()? };
        self.find_kinds(&first)?;
        let mut page = PageBuilder::rows(self.schema());
        for (row, values) in first.iter().enumerate() {
            push_row(self.config, &self.shapes, &mut page, row as u64 + 1, |index| Ok(ValueRef::from(&values[index])))?;
        }
        drop(first);
        loop {
            if self.limits.reached(page.len(), page.size_bytes()) && !pages.send(page.finish()) {
                return Ok(());
            }
            let path = &self.config.path;
            let Some(row) = self.rows.next().map_err(|e| from_driver(path, &e))? else { break };
            self.row += 1;
            push_row(self.config, &self.shapes, &mut page, self.row, |index| row.get_ref(index))?;
        }
        if !page.is_empty() {
            let _ = pages.send(page.finish());
        }
        Ok(())
    }

    /// The values of the first page, kept until it is known what their columns are.
    fn first_rows(&mut self) -> Result<Vec<Vec<Value>>> {
        let failed = |e: rusqlite::Error| from_driver(&self.config.path, &e);
        let mut rows = Vec::new();
        let mut bytes = 0;
        while !self.limits.reached(rows.len(), bytes) {
            let Some(row) = self.rows.next().map_err(failed)? else { break };
            let values = (0..self.shapes.len())
                .map(|index| row.get(index))
                .collect::<Result<Vec<Value>, _>>()
                .map_err(failed)?;
            bytes += values.iter().map(size).sum::<usize>();
            rows.push(values);
            self.row += 1;
        }
        Ok(rows)
    }

    fn find_kinds(&mut self, rows: &[Vec<Value>]) -> Result<()> {
        for (index, shape) in self.shapes.iter_mut().enumerate().filter(|(_, s)| s.kind.is_none()) {
            let kind = kind_of_values(rows.iter().map(|row| &row[index]));
            shape.kind = Some(kind.ok_or_else(|| {
                let what =
                    format!("column \"{}\" holds values of several sorts, and its declaration says none", shape.name);
                Error::new(&BAD_VALUE, what)
                    .hint(format!("read all as text: CAST(\"{0}\" AS TEXT) AS \"{0}\"", shape.name))
            })?);
        }
        Ok(())
    }

    fn schema(&self) -> Arc<Schema> {
        let field = |shape: &Shape| {
            let field = Field::new(shape.name.as_str(), shape.kind.unwrap_or(Kind::Text));
            match &shape.declared {
                Some(declared) => field.native(format!("sqlite:{declared}")),
                None => field,
            }
        };
        let table = self.config.table.as_deref().unwrap_or("query");
        Arc::new(Schema::new(TableId::bare(table), self.shapes.iter().map(field).collect()))
    }
}

/// Adds a row whose values `get` gives.
fn push_row<'v>(
    config: &SqliteSourceConfig,
    shapes: &[Shape],
    page: &mut PageBuilder,
    row: u64,
    get: impl Fn(usize) -> rusqlite::Result<ValueRef<'v>>,
) -> Result<()> {
    for (index, column) in page.columns().iter_mut().enumerate() {
        let value = get(index).map_err(|e| from_driver(&config.path, &e))?;
        if !push(column, value) {
            return Err(bad_value(config, &shapes[index], column.kind(), row, sort(value)));
        }
    }
    page.end_row();
    Ok(())
}

fn bad_value(config: &SqliteSourceConfig, shape: &Shape, kind: Kind, row: u64, found: &str) -> Error {
    let name = &shape.name;
    let declared = match (&shape.declared, config.columns.contains_key(name)) {
        (_, true) => "set by `columns`".to_owned(),
        (Some(declared), false) => format!("declared {declared}"),
        (None, false) => "found from the first page".to_owned(),
    };
    let what = format!(
        "row {row} of {} holds {found} in column \"{name}\", which is no {kind} ({declared})",
        config.path.display()
    );
    Error::new(&BAD_VALUE, what).hint(format!(
        "say what the column holds: columns: {{ {name}: ... }}, or read it as text with CAST(.. AS TEXT)"
    ))
}

fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Integer(_) | Value::Real(_) => 8,
        Value::Text(text) => text.len() + 8,
        Value::Blob(bytes) => bytes.len() + 8,
    }
}
