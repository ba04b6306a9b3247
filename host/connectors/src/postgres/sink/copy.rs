//! Sends rows through `COPY .. FROM STDIN`.

use bytes::Bytes;
use faucet_core::error::{Error, Result};
use futures_util::SinkExt;
use std::collections::HashMap;
use std::pin::pin;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Statement};

use super::plan::Plan;
use super::rows::{Fields, Slots};
use super::target::TargetColumn;
use crate::postgres::error::{CHARACTER_REFUSED, VALUE_REFUSED, from_driver};
use crate::postgres::name::list;
use faucet_core::model::Page;

/// Runs `statement`, a COPY, with the rows that `push` writes; it says `false` when there are no more.
///
/// # Errors
/// Those of `push`, and what the server refuses.
pub async fn copy(
    client: &Client,
    statement: &Statement,
    plan: &Plan,
    mut push: impl FnMut(&mut Fields) -> Result<bool>,
) -> Result<()> {
    let failed = |e: tokio_postgres::Error| refused(&e, plan);
    let mut sink = pin!(client.copy_in::<_, Bytes>(statement).await.map_err(failed)?);
    let mut fields = Fields::new(plan.format);
    while push(&mut fields)? {
        if let Some(chunk) = fields.chunk() {
            sink.feed(chunk).await.map_err(failed)?;
        }
    }
    sink.feed(fields.finish()).await.map_err(failed)?;
    sink.finish().await.map_err(failed)?;
    Ok(())
}

/// The server's refusal, with the column that it names in its CONTEXT ("COPY t, line 1, column c: ..").
fn refused(error: &tokio_postgres::Error, plan: &Plan) -> Error {
    let ours = from_driver(error);
    let Some(place) = error.as_db_error().and_then(|db| db.where_()) else { return ours };
    let named = |name: &str| {
        let marked = format!(", column {name}");
        place.split_once(&marked).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with([':', '\n']))
    };
    // Only a name that is known is repeated: what follows it in the CONTEXT is the value.
    match plan.writes.iter().find(|w| named(&w.column.name)) {
        Some(write) => in_column(error, &write.column),
        None => ours,
    }
}

/// The server's refusal of a value for `column`.
pub fn in_column(error: &tokio_postgres::Error, column: &TargetColumn) -> Error {
    let place = format!("writing column \"{}\" ({})", column.name, column.column_type.name);
    let characters = [SqlState::CHARACTER_NOT_IN_REPERTOIRE, SqlState::UNTRANSLATABLE_CHARACTER];
    match error.code() {
        Some(code) if characters.contains(code) => Error::new(
            &CHARACTER_REFUSED,
            format!("a value for column \"{}\" has a character that PostgreSQL can't store there", column.name),
        )
        .hint("it is U+0000, which no text and no jsonb of PostgreSQL holds, or one that the database's encoding lacks: remove it on the way, or make the column bytea")
        .context(place),
        // Some types call a text that they can't read a mistake in the SQL, and quote it.
        Some(code) if *code == SqlState::SYNTAX_ERROR => {
            Error::new(&VALUE_REFUSED, format!("{} (SQLSTATE {})", VALUE_REFUSED.title, code.code())).context(place)
        }
        _ => from_driver(error).context(place),
    }
}

/// Copies pages straight into a table: what `append` and `overwrite` do.
#[derive(Debug)]
pub struct Direct {
    /// The table as SQL.
    into: String,
    /// COPY statements.
    statements: ByMask,
}

/// Prepared statements by the mask of columns they leave out.
#[derive(Debug, Default)]
pub struct ByMask(HashMap<Vec<u8>, Statement>);

/// Most of them kept prepared.
const MOST_STATEMENTS: usize = 64;

impl ByMask {
    /// The statement for `mask`, which `sql` writes when it is not there.
    ///
    /// # Errors
    /// What the server refuses.
    pub async fn get(&mut self, client: &Client, mask: &[u8], sql: impl FnOnce() -> String) -> Result<Statement> {
        if let Some(statement) = self.0.get(mask) {
            return Ok(statement.clone());
        }
        let statement = client.prepare(&sql()).await.map_err(|e| from_driver(&e))?;
        if self.0.len() >= MOST_STATEMENTS {
            self.0.clear();
        }
        self.0.insert(mask.to_vec(), statement.clone());
        Ok(statement)
    }
}

impl Direct {
    /// Into the table called `into` in SQL.
    pub fn new(into: String) -> Self {
        Self { into, statements: ByMask::default() }
    }

    /// Copies the page, at most `batch` rows per statement. Rows that leave out the same columns share statements: the
    /// columns keep their defaults.
    ///
    /// # Errors
    /// See [`copy`].
    pub async fn write(&mut self, client: &Client, plan: &Plan, page: &Page, batch: usize) -> Result<()> {
        for (mask, rows) in by_absent(plan, page) {
            let statement = self.statements.get(client, &mask, || statement(&self.into, plan, &mask)).await?;
            let mut slots = Slots::without(plan, page, &mask);
            match rows {
                None => {
                    for start in (0..page.rows()).step_by(batch) {
                        let mut rows = start..page.rows().min(start.saturating_add(batch));
                        copy(client, &statement, plan, |fields| push_next(&mut slots, fields, rows.next())).await?;
                    }
                }
                Some(rows) => {
                    for rows in rows.chunks(batch) {
                        let mut rows = rows.iter().map(|row| *row as usize);
                        copy(client, &statement, plan, |fields| push_next(&mut slots, fields, rows.next())).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The statements that writing the page takes.
    pub fn explain(&self, plan: &Plan, page: &Page) -> Vec<String> {
        by_absent(plan, page).into_iter().map(|(mask, _)| statement(&self.into, plan, &mask)).collect()
    }
}

/// The COPY of the columns that `mask` doesn't leave out.
fn statement(into: &str, plan: &Plan, mask: &[u8]) -> String {
    let has = plan.writes.iter().enumerate().filter(|(place, _)| !is_set(mask, *place));
    let names = list(has.map(|(_, write)| &*write.column.name));
    format!("COPY {into} ({names}) FROM STDIN ({})", plan.format.sql())
}

fn push_next(slots: &mut Slots<'_>, fields: &mut Fields, row: Option<usize>) -> Result<bool> {
    let Some(row) = row else { return Ok(false) };
    fields.begin(slots.len());
    slots.push_row(fields, row)?;
    fields.end();
    Ok(true)
}

/// Whether bit `place` is set.
pub fn is_set(mask: &[u8], place: usize) -> bool {
    mask.get(place / 8).is_some_and(|byte| byte & (1 << (place % 8)) != 0)
}

/// The page's rows grouped by the columns they leave out; `None` stands for all of them. A row without any value counts
/// as one with nulls, because COPY can't leave out every column.
fn by_absent(plan: &Plan, page: &Page) -> Vec<(Vec<u8>, Option<Vec<u32>>)> {
    if page.columns().iter().all(|c| c.absent().is_none()) {
        return vec![(Vec::new(), None)];
    }
    let slots = Slots::new(plan, page);
    let mut groups: Vec<(Vec<u8>, Option<Vec<u32>>)> = Vec::new();
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut mask = Vec::new();
    for row in 0..page.rows() {
        slots.absent_mask(&mut mask, |_| row);
        if (0..slots.len()).all(|place| is_set(&mask, place)) {
            mask.clear();
        }
        let place = match places.get(&mask) {
            Some(place) => *place,
            None => {
                groups.push((mask.clone(), Some(Vec::new())));
                places.insert(mask.clone(), groups.len() - 1);
                groups.len() - 1
            }
        };
        if let Some(rows) = &mut groups[place].1 {
            rows.push(row as u32);
        }
    }
    groups
}
