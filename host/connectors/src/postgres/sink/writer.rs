//! The sink itself: one session, one table, transactions.

use async_trait::async_trait;
use faucet_core::error::{Error, Result};
use faucet_core::model::{Page, Schema};
use faucet_core::ports::{OnDrift, SchemaPolicy, SetAside, Sink, SinkContext, Standing, WriteMode, refuse_token};
use std::sync::Arc;

use super::copy::Direct;
use super::merge::Merge;
use super::overwrite::Side;
use super::plan::Plan;
use super::proof::Proof;
use super::session::Triggers;
use super::target::Target;
use super::token::Tokens;
use super::{SinkConfig, UNUSABLE, claim, create, drift, left, session};
use crate::postgres::error::{TABLE_MISSING, from_driver};
use crate::postgres::name::{qualified, quoted};
use crate::postgres::{Endpoint, Session};
use crate::sql::{self, Folded, RowOp, Written};

/// An open sink.
#[derive(Debug)]
pub struct PostgresSink {
    /// `None` once closed.
    session: Option<Session>,
    triggers: Triggers,
    pipeline: String,
    /// Which server and database, as far as it can be told.
    database: Option<String>,
    pub(super) config: SinkConfig,
    pub(super) schema: SchemaPolicy,
    pub(super) sets_aside: bool,
    target: Option<Target>,
    prepared: Option<Prepared>,
    tokens: Tokens,
    side: Option<Side>,
    in_transaction: bool,
    /// Cleared while something runs, so that neither an error nor a dropped call leaves a sink that can commit (K1).
    usable: bool,
    stages: u32,
    /// It is kept at the destination which table is written.
    has_left: bool,
    /// Rows of pages written that were refused.
    pub(super) aside: Vec<SetAside>,
}

/// What is made once per schema of pages (K2).
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) plan: Plan,
    proof: Proof,
    pub(super) into: Into,
}

/// A page by its keys.
pub(super) struct Keyed {
    pub(super) folded: Folded,
    /// The key's columns in the page.
    pub(super) key: Vec<usize>,
    /// The column that says what rows do.
    pub(super) marker: Option<usize>,
}

#[derive(Debug)]
pub(super) enum Into {
    Direct(Direct),
    Merge(Box<Merge>),
}

impl PostgresSink {
    /// Connects and looks at the destination.
    pub async fn open(config: SinkConfig, context: &SinkContext) -> Result<Self> {
        let endpoint = Endpoint::new(&config.connection_url, config.tls.as_ref())?;
        let session = endpoint.connect(&context.pipeline).await?;
        let triggers = session::set(&session, config.triggers).await?;
        let target = find(&session, &config).await?;
        if target.is_none() && !config.create_table {
            return Err(missing(&config));
        }
        let schema = match (&target, &config.schema) {
            (Some(target), _) => target.schema.clone(),
            (None, Some(schema)) => schema.clone(),
            (None, None) => current_schema(&session, &config).await?,
        };
        let tokens = Tokens::new(&schema, context.claim.clone());
        claim::show(&session, &tokens).await?;
        let database = if context.claim.is_some() { left::database(&session).await? } else { None };
        Ok(Self {
            session: Some(session),
            triggers,
            pipeline: context.pipeline.clone(),
            database,
            tokens,
            config,
            schema: context.schema,
            sets_aside: context.sets_aside,
            target,
            prepared: None,
            side: None,
            in_transaction: false,
            usable: true,
            stages: 0,
            has_left: false,
            aside: Vec::new(),
        })
    }

    /// Claims the sink for one operation; only its success makes the sink usable again.
    fn begin_use(&mut self) -> Result<()> {
        if std::mem::take(&mut self.usable) && self.session.is_some() {
            return Ok(());
        }
        Err(Error::new(&UNUSABLE, "the sink failed or was interrupted before, and its transaction is gone"))
    }

    /// The error, or what the server said when it ended the session.
    fn why(&self, error: Error) -> Error {
        match &self.session {
            Some(session) => session.explain(error),
            None => error,
        }
    }

    pub(super) fn client(&self) -> &Session {
        self.session.as_ref().expect("begin_use checks that the session is there")
    }

    pub(super) async fn begin(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.in_transaction, true) {
            self.client().batch_execute("BEGIN").await.map_err(|e| from_driver(&e))?;
        }
        Ok(())
    }

    /// The destination, if there is one yet.
    pub(super) fn target(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    /// What was prepared, and for which table.
    pub(super) fn prepared(&self) -> (&Prepared, &Target) {
        let prepared = self.prepared.as_ref().expect("it was prepared before");
        (prepared, self.target.as_ref().expect("it was prepared before"))
    }

    /// The table that an overwrite fills.
    pub(super) fn side(&self) -> Option<&Side> {
        self.side.as_ref()
    }

    /// Makes sure that pages of `schema` can be written.
    pub(super) async fn prepare(&mut self, schema: &Arc<Schema>) -> Result<()> {
        let known = |p: &Prepared| Arc::ptr_eq(&p.plan.of, schema) || p.plan.of == *schema;
        if self.prepared.as_ref().is_some_and(known) {
            return Ok(());
        }
        let before = self.prepared.take().map(|Prepared { plan, into, .. }| (plan.of, into));
        let before = match before {
            Some((of, Into::Merge(old))) => {
                old.discard(self.client()).await?;
                Some(of)
            }
            Some((of, Into::Direct(_))) => Some(of),
            None => None,
        };
        schema.check_names()?;
        self.find_target(schema).await?;
        self.evolve(before.as_deref(), schema).await?;
        let session = self.session.as_ref().expect("begin_use checks that the session is there");
        let target = self.target.as_ref().expect("it was found or created above");
        let plan = Plan::new(&self.config, self.schema.on_drift, target, schema)?;
        let proof = Proof::new(target, &plan);
        let into = match self.config.write_mode {
            WriteMode::Append => Into::Direct(Direct::new(target.sql())),
            WriteMode::Overwrite => {
                let side = match self.side.take() {
                    Some(side) => side,
                    None => Side::create(session, target).await?,
                };
                Into::Direct(Direct::new(self.side.insert(side).sql().to_owned()))
            }
            WriteMode::Upsert => {
                self.stages += 1;
                let merge = Merge::prepare(session, target, &plan, &self.config.key, self.stages).await?;
                Into::Merge(Box::new(merge))
            }
        };
        self.prepared = Some(Prepared { plan, proof, into });
        Ok(())
    }

    /// Reads the table again for a new schema of pages, because it may have been altered; creates it if it may.
    async fn find_target(&mut self, schema: &Schema) -> Result<()> {
        let mut target = find(self.client(), &self.config).await?;
        if target.is_none() && self.config.create_table {
            create::create(self.client(), &self.config, schema).await?;
            target = find(self.client(), &self.config).await?;
        }
        self.target = Some(target.ok_or_else(|| missing(&self.config))?);
        Ok(())
    }

    /// Makes the table fit, where that is wanted ([`drift`]).
    async fn evolve(&mut self, before: Option<&Schema>, schema: &Schema) -> Result<()> {
        let target = self.target.as_ref().expect("it was found or created before");
        let change = (target, before, schema);
        let alterations = drift::alterations(self.client(), &self.config, self.schema, change).await?;
        if alterations.is_empty() {
            return Ok(());
        }
        let tables = [Some(target.sql()), self.side.as_ref().map(|side| side.sql().to_owned())];
        for table in tables.into_iter().flatten() {
            for alter in alterations.statements(&table) {
                self.client()
                    .batch_execute(&alter)
                    .await
                    .map_err(|e| from_driver(&e).context(format!("altering {table}: {}", alterations.what())))?;
            }
        }
        tracing::info!(
            table = target.sql(),
            clauses = alterations.what(),
            "the source's columns changed, and the table with them"
        );
        self.find_target(schema).await
    }

    async fn write_page(&mut self, page: &Page) -> Result<()> {
        let folded = self.fold(page)?;
        self.begin().await?;
        self.prepare(page.schema()).await?;
        self.apply(page, folded).await
    }

    /// The columns of the prepared pages that the table lacks, and the table's name.
    pub(super) fn without_place(&self) -> (&[usize], String) {
        let left_out = self.prepared.as_ref().map_or(&[][..], |prepared| &prepared.plan.left_out);
        (left_out, self.target.as_ref().map(Target::sql).unwrap_or_default())
    }

    /// Lets a page pass whose values all arrive as they are; adds labels that an enum lacks, where that is wanted.
    async fn prove(&mut self, page: &Page) -> Result<()> {
        if self.prepared.as_ref().is_none_or(|prepared| prepared.proof.is_empty()) {
            return Ok(());
        }
        let ops = self.ops(page)?;
        let Prepared { proof, .. } = self.prepared.as_mut().expect("it was prepared before");
        while let Some(unlisted) = proof.unlisted(page, ops.as_deref()) {
            if self.schema.on_drift != OnDrift::Evolve || !unlisted.is_of_enum() {
                return Err(unlisted.error());
            }
            let endpoint = Endpoint::new(&self.config.connection_url, self.config.tls.as_ref())?;
            unlisted.add(&endpoint, &self.pipeline).await?;
            proof.list(unlisted.enumerated, &unlisted.label);
        }
        let session = self.session.as_ref().expect("begin_use checks that the session is there");
        proof.check(session, page, ops.as_deref()).await
    }

    /// Writes a page for which all is prepared.
    pub(super) async fn apply(&mut self, page: &Page, folded: Option<Keyed>) -> Result<()> {
        self.prove(page).await?;
        if let Some(mut keyed) = folded {
            if self.prepared().1.order.free {
                keyed.folded.sort(page, &keyed.key);
            }
            return self.merge(page, keyed).await;
        }
        let batch = self.config.batch_size.unwrap_or(usize::MAX);
        let (session, Prepared { plan, into, .. }) = self.parts();
        match into {
            Into::Direct(direct) => direct.write(session, plan, page, batch).await,
            Into::Merge(_) => unreachable!("bug: pages are merged only after they were folded"),
        }
    }

    /// The session and what was prepared.
    pub(super) fn parts(&mut self) -> (&Session, &mut Prepared) {
        let session = self.session.as_ref().expect("begin_use checks that the session is there");
        (session, self.prepared.as_mut().expect("it was prepared before"))
    }

    /// What the page comes down to per key, under `upsert`.
    pub(super) fn fold(&self, page: &Page) -> Result<Option<Keyed>> {
        if self.config.write_mode != WriteMode::Upsert {
            return Ok(None);
        }
        let marker = self.config.delete_marker.as_ref();
        let ops = self.ops(page)?;
        let key = sql::check_key(page, &self.config.key, ops.as_deref())?;
        let marker = marker.and_then(|m| page.schema().index_of(&m.field));
        Ok(Some(Keyed { folded: sql::fold(page, &key, marker, ops.as_deref()), key, marker }))
    }

    /// What the rows of the page do; all put rows without.
    pub(super) fn ops(&self, page: &Page) -> Result<Option<Vec<RowOp>>> {
        let on_truncate = self.config.on_truncate.unwrap_or_default();
        let marker = self.config.delete_marker.as_ref();
        Ok(marker.map(|m| sql::classify(page, m, on_truncate)).transpose()?.flatten())
    }

    async fn commit_open(&mut self, token: Option<(&str, &str)>) -> Result<()> {
        if token.is_some() {
            self.begin().await?;
        }
        let session = self.session.as_ref().expect("begin_use checks that the session is there");
        match token {
            Some((scope, token)) => {
                self.tokens.put(session, scope, token).await?;
                self.leave(None).await?;
            }
            None if self.in_transaction => self.tokens.check(session).await?,
            None => {}
        }
        if std::mem::take(&mut self.in_transaction) {
            self.client().batch_execute("COMMIT").await.map_err(|e| from_driver(&e).context("committing"))?;
        }
        if let Some(Prepared { into: Into::Merge(merge), .. }) = &mut self.prepared {
            merge.committed();
        }
        Ok(())
    }

    async fn look_at_claim(&self) -> Result<Standing> {
        let Some(claim) = self.tokens.claim() else { return Ok(Standing::Unkept(None)) };
        self.warn_of_triggers().await?;
        let mut standing = claim::standing(self.client(), &self.tokens, claim).await?;
        if let Standing::Kept { changed, .. } = &mut standing {
            let found = (self.target.as_ref(), self.database.as_ref());
            *changed = left::changed(self.client(), (&self.tokens, claim), found, self.config.write_mode).await?;
        }
        Ok(standing)
    }

    /// Once for a run.
    async fn warn_of_triggers(&self) -> Result<()> {
        match &self.target {
            Some(target) if self.config.triggers != Some(Triggers::Fire) => {
                session::warn_of_triggers(self.client(), target, self.triggers).await
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Keeps which table the run wrote: with its first token, and at its end with whether it is `empty`.
    async fn leave(&mut self, empty: Option<bool>) -> Result<()> {
        let (Some(claim), Some(target), Some(known)) = (self.tokens.claim(), &self.target, self.tokens.known()) else {
            return Ok(());
        };
        if self.has_left && empty.is_none() {
            return Ok(());
        }
        let token = known.map(str::to_owned);
        let written = Written { empty, token, ..left::of(target, self.database.as_ref()) };
        self.tokens.keep(self.client(), &claim.table_scope(), &written.to_text()).await?;
        self.has_left = true;
        Ok(())
    }

    /// The last that a sink does which goes in good order.
    async fn leave_for_good(&mut self) -> Result<()> {
        let (Some(target), Some(_)) = (&self.target, self.tokens.known()) else { return Ok(()) };
        let empty = left::is_empty(self.client(), target).await?;
        self.leave(empty).await
    }

    async fn make_claim(&self, from: Option<&str>, anew: bool) -> Result<bool> {
        let Some(claim) = self.tokens.claim() else { return Ok(false) };
        let endpoint = Endpoint::new(&self.config.connection_url, self.config.tls.as_ref())?;
        let work = claim::claim(self.client(), &self.tokens, claim, from, anew);
        claim::watched(self.client(), (&endpoint, &self.pipeline), work).await
    }

    async fn swap(&mut self) -> Result<()> {
        if self.config.write_mode != WriteMode::Overwrite {
            return Ok(());
        }
        let session = self.session.as_ref().expect("begin_use checks that the session is there");
        // Without a page the source had no rows, and so shall the destination.
        let Some(target) = &self.target else { return Ok(()) };
        let side = match self.side.take() {
            Some(side) => side,
            None => Side::create(session, target).await?,
        };
        self.prepared = None;
        side.swap(session, target).await
    }
}

async fn find(session: &Session, config: &SinkConfig) -> Result<Option<Target>> {
    let target = Target::find(session, config.schema.as_deref(), &config.table_name, config.write_mode).await?;
    if let (Some(target), WriteMode::Upsert) = (&target, config.write_mode) {
        target.check_key(&config.key)?;
    }
    Ok(target)
}

async fn current_schema(session: &Session, config: &SinkConfig) -> Result<String> {
    let row = session.query_one("SELECT pg_catalog.current_schema()::pg_catalog.text", &[]).await;
    let schema: Option<String> = row.map_err(|e| from_driver(&e))?.get(0);
    schema.ok_or_else(|| unnamed_schema(config))
}

/// The error of a schema that isn't there.
pub(super) fn unnamed_schema(config: &SinkConfig) -> Error {
    let error = missing(config);
    match &config.schema {
        Some(schema) => error.hint(format!("run `CREATE SCHEMA {}`, or correct `schema`", quoted(schema))),
        None => error.hint("set `schema`: the role's search_path names no schema that exists"),
    }
}

pub(super) fn missing(config: &SinkConfig) -> Error {
    let table = qualified(config.schema.as_deref(), &config.table_name);
    Error::new(&TABLE_MISSING, format!("table {table} does not exist"))
        .hint("create it, or set `create_table: true`; `schema` and `table_name` are two keys, and case matters")
}

#[async_trait]
impl Sink for PostgresSink {
    async fn last_token(&mut self, scope: &str) -> Result<Option<String>> {
        self.begin_use()?;
        let session = self.session.as_ref().expect("begin_use checks that the session is there");
        let token = self.tokens.last(session, scope).await;
        let token = token.map_err(|error| self.why(error))?;
        self.usable = true;
        Ok(token)
    }

    async fn holds_rows(&mut self) -> Result<Option<bool>> {
        let Some(target) = self.target.as_ref().filter(|_| self.config.write_mode != WriteMode::Overwrite) else {
            return Ok(None);
        };
        let sql = format!("SELECT EXISTS (SELECT FROM {})", target.sql());
        self.begin_use()?;
        let row = self.client().query_one(&sql, &[]).await.map_err(|e| from_driver(&e))?;
        self.usable = true;
        Ok(Some(row.get(0)))
    }

    async fn clear(&mut self) -> Result<()> {
        self.begin_use()?;
        if let Some(target) = &self.target {
            let delete = format!("DELETE FROM {}", target.sql());
            self.begin().await?;
            self.client().batch_execute(&delete).await.map_err(|e| from_driver(&e))?;
            self.commit_open(None).await?;
        }
        self.usable = true;
        Ok(())
    }

    async fn standing(&mut self) -> Result<Standing> {
        self.begin_use()?;
        let standing = self.look_at_claim().await?;
        self.usable = true;
        Ok(standing)
    }

    async fn claim(&mut self, from: Option<&str>, anew: bool) -> Result<bool> {
        self.begin_use()?;
        let is_ours = self.make_claim(from, anew).await?;
        self.usable = true;
        Ok(is_ours)
    }

    async fn write(&mut self, page: Page) -> Result<()> {
        self.begin_use()?;
        if !page.is_empty() {
            let written = match self.sets_aside {
                true => self.write_what_fits(page).await,
                false => self.write_page(&page).await,
            };
            written.map_err(|error| self.why(error))?;
        }
        self.usable = true;
        Ok(())
    }

    fn set_aside(&mut self) -> Vec<SetAside> {
        std::mem::take(&mut self.aside)
    }

    async fn commit(&mut self, token: Option<(&str, &str)>) -> Result<()> {
        self.begin_use()?;
        if self.config.write_mode == WriteMode::Overwrite {
            refuse_token(token)?;
        }
        self.commit_open(token).await.map_err(|error| self.why(error))?;
        self.usable = true;
        Ok(())
    }

    async fn finish(&mut self) -> Result<()> {
        self.begin_use()?;
        self.commit_open(None).await.map_err(|error| self.why(error))?;
        self.swap().await.map_err(|error| self.why(error))?;
        self.usable = true;
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        let settled = self.usable && self.session.is_some() && !self.in_transaction;
        if settled && let Err(error) = self.leave_for_good().await {
            tracing::debug!(%error, "could not keep how the destination was left");
        }
        let Some(session) = self.session.take() else { return Ok(()) };
        // A sink that failed has nothing to say to the server; the end of the session rolls back. What an overwrite left
        // is dropped by the next one.
        if self.usable {
            if self.in_transaction {
                session.batch_execute("ROLLBACK").await.map_err(|e| from_driver(&e))?;
            }
            if let Some(side) = self.side.take() {
                side.discard(&session).await?;
            }
        }
        session.close().await;
        Ok(())
    }
}
