//! A component behind the port [`Sink`].

use super::bind::exports::faucet::connector::sinks as wire;
use super::bind::faucet::connector::types::Reject;
use super::guest::Exported;
use super::{Ended, Guest, encode};
use crate::engine::Runtime;
use crate::fault::{Call, REJECTED};
use crate::log::cut;
use crate::plugin::Shared;
use crate::task::Task;
use async_trait::async_trait;
use faucet_core::error::{Error, Result};
use faucet_core::model::Page;
use faucet_core::ports::{SetAside, Sink, SinkCapabilities, SinkContext, WriteMode};
use std::sync::Arc;
use wasmtime::component::ResourceAny;

/// A sink with its configuration, open.
pub(crate) struct PluginSink {
    plugin: Arc<Shared>,
    task: Task<Session, Result<Done>>,
    tokens: bool,
    /// It may reject rows, as it says.
    rejects: bool,
    /// Rows that the guest rejects are kept for the caller, instead of failing their page.
    sets_aside: bool,
    aside: Vec<SetAside>,
    dirty: bool,
}

/// An instance with an open session.
struct Session {
    guest: Guest,
    session: ResourceAny,
}

/// What a call gave.
enum Done {
    Nothing,
    Token(Option<String>),
    Rejected(Page, Vec<Reject>),
}

impl PluginSink {
    /// Opens a session. Blocks while the guest does.
    pub(crate) fn open(plugin: Arc<Shared>, config: &str, context: &SinkContext) -> Result<Self> {
        let able = plugin.check(config).map_err(|refusal| plugin.refused(refusal))?.sink();
        let call = Call::Open;
        let mut guest = plugin.instantiate(&call)?;
        let pipeline = context.pipeline.as_str();
        let opened = guest
            .call(&plugin.runtime, config.len(), |functions, store| sink(functions).call_open(store, config, pipeline));
        let session = opened.map_err(|ended| plugin.ended(&guest, ended, &call))?;
        let sets_aside = context.sets_aside && able.sets_aside;
        let task = Task::new(Session { guest, session });
        Ok(Self {
            plugin,
            task,
            tokens: able.tokens,
            rejects: able.sets_aside,
            sets_aside,
            aside: Vec::new(),
            dirty: false,
        })
    }

    /// One call of the session.
    async fn call(
        &mut self,
        call: Call,
        run: impl FnOnce(&mut Session, &Shared) -> Result<Done, Ended> + Send + 'static,
    ) -> Result<Done> {
        let plugin = self.plugin.clone();
        let job = move |session: &mut Session| {
            run(session, &plugin).map_err(|ended| plugin.ended(&session.guest, ended, &call))
        };
        self.task.run(job).await
    }

    fn keep_aside(&mut self, page: &Page, rejected: &[Reject]) -> Result<()> {
        if let Some(what) = wrong_rejects(page, rejected, self.rejects) {
            return Err(self.plugin.broke_contract(&what, &write_call(page)));
        }
        for reject in rejected {
            let row = reject.row as usize;
            let what = format!("plugin '{}' can't write a row: {}", self.plugin.name(), cut(&reject.reason));
            let error = Error::new(&REJECTED, what);
            if !self.sets_aside {
                return Err(error.hint("a dlq would set the row aside and go on"));
            }
            self.aside.push(SetAside { rows: page.slice(row, 1), error });
        }
        Ok(())
    }
}

/// What is wrong with the rows that a sink says it can't write.
fn wrong_rejects(page: &Page, rejected: &[Reject], claimed: bool) -> Option<String> {
    let mut rows: Vec<u32> = rejected.iter().map(|reject| reject.row).collect();
    rows.sort_unstable();
    if !claimed && !rows.is_empty() {
        return Some("it rejects rows, and does not say that it may".to_owned());
    }
    if let Some(last) = rows.last().filter(|last| **last as usize >= page.rows()) {
        return Some(format!("it rejects row {last} of {}", page.rows()));
    }
    rows.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| format!("it rejects row {} twice", pair[0]))
}

fn write_call(page: &Page) -> Call {
    Call::Write { table: page.schema().table.to_string(), rows: page.rows() }
}

/// What a sink says about a configuration.
pub(crate) fn check(guest: &mut Guest, runtime: &Runtime, config: &str) -> Result<SinkCapabilities, Ended> {
    let said = guest.call(runtime, config.len(), |functions, store| sink(functions).call_check(store, config))?;
    Ok(SinkCapabilities {
        write_mode: mode(said.mode),
        key: said.key,
        delete_marker: said.delete_marker,
        modes: said.modes.into_iter().map(mode).collect(),
        transactional: said.transactional,
        tokens: said.tokens,
        claims: false,
        evolves: said.evolves,
        sets_aside: said.rejects,
        parallel: said.parallel,
    })
}

fn mode(mode: wire::WriteMode) -> WriteMode {
    match mode {
        wire::WriteMode::Append => WriteMode::Append,
        wire::WriteMode::Upsert => WriteMode::Upsert,
        wire::WriteMode::Overwrite => WriteMode::Overwrite,
    }
}

fn sink<T, S>(functions: &Exported<T, S, wire::Guest>) -> &wire::Guest {
    match functions {
        Exported::Sink(sink) => sink,
        Exported::Transform(_) | Exported::Source(_) => unreachable!("only a sink is written to"),
    }
}

impl Session {
    fn write(&mut self, plugin: &Shared, page: &Page) -> Result<Vec<Reject>, Ended> {
        let lent = encode::lend(page);
        let (columns, key) = (encode::columns(page, &lent), encode::key(page));
        let pages = [encode::page(page, &columns, &key)];
        let session = self.session;
        self.guest.call(&plugin.runtime, encode::size(&lent), |functions, store| {
            sink(functions).session().call_write(store, session, &pages)
        })
    }
}

#[async_trait]
impl Sink for PluginSink {
    async fn last_token(&mut self, scope: &str) -> Result<Option<String>> {
        if !self.tokens {
            return Ok(None);
        }
        let scope = scope.to_owned();
        let ask = move |session: &mut Session, plugin: &Shared| {
            let handle = session.session;
            let token = session.guest.call(&plugin.runtime, scope.len(), |functions, store| {
                sink(functions).session().call_last_token(store, handle, &scope)
            });
            token.map(Done::Token)
        };
        match self.call(Call::LastToken, ask).await? {
            Done::Token(token) => Ok(token),
            Done::Nothing | Done::Rejected(..) => unreachable!("a question is answered"),
        }
    }

    async fn write(&mut self, page: Page) -> Result<()> {
        page.schema().check_names()?;
        let call = write_call(&page);
        self.dirty = true;
        let write = move |session: &mut Session, plugin: &Shared| {
            let rejected = session.write(plugin, &page)?;
            Ok(Done::Rejected(page, rejected))
        };
        match self.call(call, write).await? {
            Done::Rejected(page, rejected) => self.keep_aside(&page, &rejected),
            Done::Nothing | Done::Token(_) => unreachable!("a write says what it rejects"),
        }
    }

    fn set_aside(&mut self) -> Vec<SetAside> {
        std::mem::take(&mut self.aside)
    }

    async fn commit(&mut self, token: Option<(&str, &str)>) -> Result<()> {
        if !self.tokens {
            faucet_core::ports::refuse_token(token)?;
        }
        if !self.dirty && token.is_none() {
            return Ok(());
        }
        let token = token.map(|(scope, token)| (scope.to_owned(), token.to_owned()));
        let commit = move |session: &mut Session, plugin: &Shared| {
            let handle = session.session;
            let token = token.as_ref().map(|(scope, token)| (scope.as_str(), token.as_str()));
            let input = token.map_or(0, |(scope, token)| scope.len() + token.len());
            let done = session.guest.call(&plugin.runtime, input, |functions, store| {
                sink(functions).session().call_commit(store, handle, token)
            });
            done.map(|()| Done::Nothing)
        };
        self.call(Call::Commit, commit).await?;
        self.dirty = false;
        Ok(())
    }

    async fn finish(&mut self) -> Result<()> {
        let finish = |session: &mut Session, plugin: &Shared| {
            let handle = session.session;
            let done = session
                .guest
                .call(&plugin.runtime, 0, |functions, store| sink(functions).session().call_finish(store, handle));
            done.map(|()| Done::Nothing)
        };
        self.call(Call::Finish, finish).await.map(|_| ())
    }

    async fn close(&mut self) -> Result<()> {
        Ok(())
    }
}
