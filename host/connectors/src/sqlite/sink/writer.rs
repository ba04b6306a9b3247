//! The thread that writes: one transaction from the first write to the commit.

use faucet_core::error::{Error, Result};
use faucet_core::model::{Page, Schema};
use faucet_core::ports::{Claim, EMPTIED, FENCED, OnDrift, SetAside, SinkContext, Standing, WriteMode};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;

use super::overwrite::Side;
use super::plan::Plan;
use super::rows::Rows;
use super::target::{self, KeyCheck, TableColumn};
use super::{AFTER_ERROR, SqliteSinkConfig, TABLE_MISSING, VALUE_WOULD_CHANGE, token};
use crate::sql::{KEY_NULL, OfRows, Parts, QUARANTINED, RowOp, Written, check_key, check_left_out, classify};
use crate::sqlite::error::{CONSTRAINT, from_driver};
use crate::sqlite::name::quoted;

/// Statements that SQLite keeps prepared between pages.
const PREPARED: usize = 64;

/// An open database.
pub(super) struct Writer {
    connection: Connection,
    state: State,
}

/// All but the connection, so that both can be borrowed at once.
struct State {
    config: SqliteSinkConfig,
    on_drift: OnDrift,
    sets_aside: bool,
    /// The table's columns, once it is there.
    columns: Option<Vec<TableColumn>>,
    /// What was prepared for the last schema.
    plan: Option<Plan>,
    /// Where an overwrite puts its rows.
    side: Option<Side>,
    /// The run's claim, which every commit checks.
    claim: Option<Claim>,
    /// The scope and token that was read or written last.
    known: Option<(String, Option<String>)>,
    in_transaction: bool,
    has_failed: bool,
}

impl Writer {
    /// Opens the database and looks at the table, if there is one.
    pub(super) fn open(config: SqliteSinkConfig, context: &SinkContext) -> Result<Self> {
        let failed = |e: rusqlite::Error| from_driver(&config.path, &e);
        let connection = connect(&config).map_err(failed)?;
        Self::on(connection, config, context)
    }

    /// Looks at the table of an open database.
    pub(super) fn on(connection: Connection, config: SqliteSinkConfig, context: &SinkContext) -> Result<Self> {
        let failed = |e: rusqlite::Error| from_driver(&config.path, &e);
        let columns = target::columns(&connection, &config.table_name).map_err(failed)?;
        match &columns {
            None if !config.create_table => return Err(table_missing(&config)),
            Some(columns) if config.write_mode == WriteMode::Upsert => require_key(&connection, columns, &config)?,
            Some(_) | None => {}
        }
        let side = match config.write_mode {
            WriteMode::Overwrite => Some(Side::clear(&connection, &config).map_err(failed)?),
            WriteMode::Append | WriteMode::Upsert => None,
        };
        let state = State {
            config,
            on_drift: context.schema.on_drift,
            sets_aside: context.sets_aside,
            columns,
            plan: None,
            side,
            claim: context.claim.clone(),
            known: None,
            in_transaction: false,
            has_failed: false,
        };
        Ok(Self { connection, state })
    }

    /// See [`faucet_core::ports::Sink::last_token`].
    pub(super) fn last_token(&mut self, scope: &str) -> Result<Option<String>> {
        self.guard(|connection, state| {
            let token = token::read(connection, scope).map_err(|e| state.failed(&e))?;
            state.check_claim(connection)?;
            state.known = Some((scope.to_owned(), token.clone()));
            Ok(token)
        })
    }

    /// See [`faucet_core::ports::Sink::standing`].
    pub(super) fn standing(&mut self) -> Result<Standing> {
        self.guard(|connection, state| {
            let Some(claim) = &state.claim else { return Ok(Standing::Unkept(None)) };
            let writer = token::read(connection, &claim.writer_scope()).map_err(|e| state.failed(&e))?;
            let changed = state.changed(connection, claim).map_err(|e| state.failed(&e))?;
            Ok(Standing::Kept { writer, changed })
        })
    }

    /// See [`faucet_core::ports::Sink::claim`].
    pub(super) fn claim(&mut self, from: Option<&str>, anew: bool) -> Result<bool> {
        self.guard(|connection, state| {
            let Some(claim) = state.claim.clone() else { return Ok(false) };
            state.begin(connection)?;
            let is_ours = token::claim(connection, &claim, from, anew).map_err(|e| state.failed(&e))?;
            state.end(connection, "COMMIT")?;
            Ok(is_ours)
        })
    }

    /// See [`faucet_core::ports::Sink::holds_rows`].
    pub(super) fn holds_rows(&mut self) -> Result<Option<bool>> {
        self.guard(|connection, state| {
            if state.columns.is_none() {
                return Ok(Some(false));
            }
            let sql = format!("SELECT EXISTS (SELECT 1 FROM {})", quoted(&state.config.table_name));
            connection.query_row(&sql, [], |row| row.get(0)).map(Some).map_err(|e| state.failed(&e))
        })
    }

    /// See [`faucet_core::ports::Sink::clear`].
    pub(super) fn clear(&mut self) -> Result<()> {
        self.guard(|connection, state| {
            state.begin(connection)?;
            let sql = format!("DELETE FROM {}", quoted(&state.config.table_name));
            connection.execute(&sql, []).map_err(|e| state.failed(&e))?;
            state.end(connection, "COMMIT")
        })
    }

    /// See [`faucet_core::ports::Sink::write`]. Returns the rows that were set aside.
    pub(super) fn write(&mut self, page: Page) -> Result<Vec<SetAside>> {
        self.guard(|connection, state| {
            state.begin(connection)?;
            match state.sets_aside {
                true => state.write_what_fits(connection, page),
                false => state.write(connection, &page).map(|()| Vec::new()),
            }
        })
    }

    /// See [`faucet_core::ports::Sink::commit`].
    pub(super) fn commit(&mut self, token: Option<(&str, &str)>) -> Result<()> {
        self.guard(|connection, state| {
            match token {
                Some((scope, token)) => state.put_token(connection, scope, token)?,
                None if state.in_transaction => state.check_claim(connection)?,
                None => {}
            }
            state.end(connection, "COMMIT")
        })
    }

    /// See [`faucet_core::ports::Sink::finish`].
    pub(super) fn finish(&mut self) -> Result<()> {
        self.guard(|connection, state| {
            state.end(connection, "COMMIT")?;
            let Some(side) = state.side.take() else { return Ok(()) };
            state.begin(connection)?;
            side.replace(connection, &state.config, state.columns.as_deref()).map_err(|e| state.failed(&e))?;
            state.end(connection, "COMMIT")?;
            state.side = Some(Side::clear(connection, &state.config).map_err(|e| state.failed(&e))?);
            state.columns = target::columns(connection, &state.config.table_name).map_err(|e| state.failed(&e))?;
            state.plan = None;
            Ok(())
        })
    }

    /// See [`faucet_core::ports::Sink::close`].
    pub(super) fn close(&mut self) -> Result<()> {
        let Self { connection, state } = self;
        let is_whole = !state.in_transaction && !state.has_failed;
        state.end(connection, "ROLLBACK")?;
        if is_whole && let Err(error) = state.leave(connection) {
            tracing::debug!(%error, "could not keep how the destination was left");
            state.end(connection, "ROLLBACK")?;
        }
        Ok(())
    }

    /// Runs a step. After one that failed nothing is kept and no other step is taken.
    fn guard<R>(&mut self, step: impl FnOnce(&Connection, &mut State) -> Result<R>) -> Result<R> {
        let Self { connection, state } = self;
        if state.has_failed {
            let what = format!("{} was used after an error", state.config.path.display());
            return Err(Error::new(&AFTER_ERROR, what));
        }
        let done = step(connection, state);
        if done.is_err() {
            state.has_failed = true;
            // The connection rolls back by itself when it is dropped, should this fail.
            let _ = state.end(connection, "ROLLBACK");
        }
        done
    }
}

impl State {
    fn failed(&self, error: &rusqlite::Error) -> Error {
        from_driver(&self.config.path, error)
    }

    fn begin(&mut self, connection: &Connection) -> Result<()> {
        if !self.in_transaction {
            connection.execute_batch("BEGIN IMMEDIATE").map_err(|e| self.failed(&e))?;
            self.in_transaction = true;
        }
        Ok(())
    }

    /// Replaces the token of `scope`, if it is still the one that was read or written last.
    fn put_token(&mut self, connection: &Connection, scope: &str, token: &str) -> Result<()> {
        self.begin(connection)?;
        self.check_claim(connection)?;
        let there = token::read(connection, scope).map_err(|e| self.failed(&e))?;
        let is_known = self.known.as_ref().is_none_or(|(of, known)| of != scope || *known == there);
        if !is_known {
            let what = format!("another session committed under \"{scope}\" since this one began");
            return Err(Error::new(&FENCED, what));
        }
        token::write(connection, scope, token).map_err(|e| self.failed(&e))?;
        self.known = Some((scope.to_owned(), Some(token.to_owned())));
        Ok(())
    }

    /// Checks that the run's claim stands, if it made one.
    fn check_claim(&self, connection: &Connection) -> Result<()> {
        let Some(claim) = &self.claim else { return Ok(()) };
        match token::stands(connection, claim).map_err(|e| self.failed(&e))? {
            true => Ok(()),
            false => Err(claim.lost()),
        }
    }

    /// Why the table is not as the last run left it, if it isn't. Rows that were appended may be taken away by whoever
    /// they are for: that is worth a word, but no error.
    fn changed(&self, connection: &Connection, claim: &Claim) -> rusqlite::Result<Option<Error>> {
        let kept = token::read(connection, &claim.table_scope())?;
        let Some(before) = kept.as_deref().and_then(Written::parse) else { return Ok(None) };
        let now = self.columns.as_ref().map(|_| self.written(connection, claim)).transpose()?;
        match before.changed(now.as_ref(), claim) {
            Some(error) if error.code() == &EMPTIED && self.config.write_mode == WriteMode::Append => {
                tracing::warn!(%error, "rows that this pipeline appended are gone");
                Ok(None)
            }
            changed => Ok(changed),
        }
    }

    /// The table as it is.
    fn written(&self, connection: &Connection, claim: &Claim) -> rusqlite::Result<Written> {
        let table = self.config.table_name.clone();
        let empty = target::is_empty(connection, &table)?;
        let token = token::read(connection, &claim.scope)?;
        Ok(Written { table, database: None, number: None, empty: Some(empty), token })
    }

    /// Keeps which table the run wrote and how it leaves it.
    fn leave(&mut self, connection: &Connection) -> Result<()> {
        let (Some(claim), Some(_), Some(_)) = (self.claim.clone(), &self.known, &self.columns) else { return Ok(()) };
        self.begin(connection)?;
        self.check_claim(connection)?;
        let written = self.written(connection, &claim).map_err(|e| self.failed(&e))?;
        token::write(connection, &claim.table_scope(), &written.to_text()).map_err(|e| self.failed(&e))?;
        self.end(connection, "COMMIT")
    }

    fn end(&mut self, connection: &Connection, how: &str) -> Result<()> {
        if self.in_transaction {
            connection.execute_batch(how).map_err(|e| self.failed(&e))?;
            self.in_transaction = false;
        }
        Ok(())
    }

    /// Writes the rows of `page` that can be written, and returns the others.
    fn write_what_fits(&mut self, connection: &Connection, page: Page) -> Result<Vec<SetAside>> {
        self.prepare(connection, page.schema())?;
        if self.config.write_mode == WriteMode::Upsert {
            // Rows without the key's columns at all are no matter of single rows.
            check_key(&page.slice(0, 0), &self.config.key, None)?;
        }
        let mut parts = Parts::new(page, &self.config.key, OF_ROWS);
        while let Some(part) = parts.next_part() {
            let written = self.write_part(connection, &part.rows);
            parts.end(part, written)?;
        }
        Ok(parts.into_aside())
    }

    /// Writes a part whole, or leaves nothing of it.
    fn write_part(&mut self, connection: &Connection, part: &Page) -> Result<()> {
        if let (OnDrift::Quarantine, Some(plan)) = (self.on_drift, &self.plan) {
            check_left_out(part, self.ops(part)?.as_deref(), &plan.left_out, &self.config.table_name)?;
        }
        connection.execute_batch("SAVEPOINT faucet_part").map_err(|e| self.failed(&e))?;
        let written = self.write(connection, part);
        let end = match &written {
            Ok(()) => "RELEASE faucet_part",
            Err(error) if OF_ROWS.include(error) => "ROLLBACK TO faucet_part; RELEASE faucet_part",
            Err(_) => return written,
        };
        connection.execute_batch(end).map_err(|e| self.failed(&e))?;
        written
    }

    fn write(&mut self, connection: &Connection, page: &Page) -> Result<()> {
        self.prepare(connection, page.schema())?;
        let Some(plan) = &self.plan else { return Ok(()) };
        let rows = Rows::new(&self.config.path, connection, plan, page);
        if self.config.write_mode != WriteMode::Upsert {
            return rows.insert_all();
        }
        let marker = self.config.delete_marker.as_ref();
        let ops = self.ops(page)?;
        let key = check_key(page, &self.config.key, ops.as_deref())?;
        let marker = marker.and_then(|marker| page.schema().index_of(&marker.field));
        let skipped = rows.upsert_all(&key, marker, ops.as_deref())?;
        if skipped > 0 {
            match self.sets_aside {
                true => tracing::warn!(skipped, "updates that left columns out found no row: it may be in the dlq"),
                false => tracing::debug!(skipped, "updates that left columns out found no row"),
            }
            metrics::counter!("faucet_sink_partial_updates_skipped_total").increment(skipped);
        }
        Ok(())
    }

    /// What the rows of the page do; all put rows without.
    fn ops(&self, page: &Page) -> Result<Option<Vec<RowOp>>> {
        let on_truncate = self.config.on_truncate();
        let marker = self.config.delete_marker.as_ref();
        Ok(marker.map(|marker| classify(page, marker, on_truncate)).transpose()?.flatten())
    }

    fn prepare(&mut self, connection: &Connection, schema: &Arc<Schema>) -> Result<()> {
        if self.plan.as_ref().is_some_and(|plan| Arc::ptr_eq(&plan.of, schema)) {
            return Ok(());
        }
        if self.columns.is_none() || self.on_drift == OnDrift::Evolve {
            target::check_case(&self.config, schema)?;
        }
        let table = match &self.side {
            None => self.config.table_name.clone(),
            Some(side) => side.name().to_owned(),
        };
        if let Some(columns) = self.columns.take() {
            let name = self.config.table_name.as_str();
            let side = self.side.as_ref().filter(|side| side.is_made()).map(Side::name);
            let tables: Vec<&str> = std::iter::once(name).chain(side).collect();
            self.columns = Some(self.evolve(connection, &tables, columns, schema)?);
        }
        let columns = match &mut self.side {
            None => self.create_missing(connection, schema)?,
            Some(side) => {
                let made = side.make(connection, &self.config, self.columns.as_deref(), schema);
                let columns = made.map_err(|e| from_driver(&self.config.path, &e))?;
                if self.columns.is_some() { columns } else { self.evolve(connection, &[&table], columns, schema)? }
            }
        };
        let plan = Plan::new(&self.config, self.on_drift, &table, &columns, schema)?;
        if let Some(side) = &mut self.side {
            side.uses(&plan);
        } else {
            self.columns = Some(columns);
        }
        self.plan = Some(plan);
        Ok(())
    }

    /// Adds the columns that rows have and the tables lack, where that is wanted; in the transaction of the rows. The
    /// first of `tables` has `columns`, and so have the others.
    fn evolve(
        &self,
        connection: &Connection,
        tables: &[&str],
        columns: Vec<TableColumn>,
        schema: &Schema,
    ) -> Result<Vec<TableColumn>> {
        let new = target::additions(&self.config, &columns, schema);
        if self.on_drift != OnDrift::Evolve || new.is_empty() {
            return Ok(columns);
        }
        for (table, field) in tables.iter().flat_map(|table| new.iter().map(move |field| (table, field))) {
            target::add_column(connection, &self.config.path, table, field)?;
            tracing::info!(table, column = &*field.name, "the source's columns changed, and the table with them");
        }
        let columns = target::columns(connection, tables[0]).map_err(|e| self.failed(&e))?;
        columns.ok_or_else(|| table_missing(&self.config))
    }

    /// The table's columns; it is made when there is none.
    fn create_missing(&mut self, connection: &Connection, schema: &Schema) -> Result<Vec<TableColumn>> {
        if let Some(columns) = self.columns.take() {
            return Ok(columns);
        }
        let sql = target::create(&self.config, schema, &self.config.table_name);
        connection.execute_batch(&sql).map_err(|e| self.failed(&e))?;
        let columns = target::columns(connection, &self.config.table_name).map_err(|e| self.failed(&e))?;
        columns.ok_or_else(|| table_missing(&self.config))
    }
}

static OF_ROWS: OfRows = OfRows(&[&CONSTRAINT, &VALUE_WOULD_CHANGE, &KEY_NULL, &QUARANTINED]);

/// Durable commits: a write-ahead log, synced at every commit.
fn connect(config: &SqliteSinkConfig) -> rusqlite::Result<Connection> {
    use rusqlite::OpenFlags;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&config.path, flags)?;
    connection.busy_timeout(config.busy_timeout.duration())?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if !mode.eq_ignore_ascii_case("wal") {
        tracing::warn!(path = %config.path.display(), mode, "no write-ahead log here: readers wait for each commit");
    }
    connection.execute_batch("PRAGMA synchronous = FULL")?;
    connection.set_prepared_statement_cache_capacity(PREPARED);
    Ok(connection)
}

pub(super) fn require_key(connection: &Connection, columns: &[TableColumn], config: &SqliteSinkConfig) -> Result<()> {
    target::check_key(connection, columns, config).map_err(|why| match why {
        KeyCheck::NotUnique => target::not_unique(config),
        KeyCheck::Driver(error) => from_driver(&config.path, &error),
    })
}

pub(super) fn table_missing(config: &SqliteSinkConfig) -> Error {
    let what = format!("{} has no table \"{}\"", shown(&config.path), config.table_name);
    Error::new(&TABLE_MISSING, what).hint("create it, or set `create_table: true`")
}

fn shown(path: &Path) -> std::path::Display<'_> {
    path.display()
}
