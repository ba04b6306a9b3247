//! A component behind the ports [`Source`] and [`Capture`].

use super::bind::exports::faucet::connector::sources as wire;
use super::decode::Lie;
use super::guest::Exported;
use super::rows::Reader;
use super::{Ended, Guest};
use crate::cases::{hex, unhex};
use crate::engine::Runtime;
use crate::fault::Call;
use crate::plugin::Shared;
use crate::task::Task;
use async_trait::async_trait;
use faucet_core::error::{Error, Result};
use faucet_core::model::{Position, TableId};
use faucet_core::ports::{Batch, Bookmark, Boundary, Capture, Discovered, Finding, Source, SourceCapabilities};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::component::ResourceAny;

/// Rows that a read should give at once, in bytes. Small enough that memory stays low, large enough that a call costs
/// nothing.
const READ: u32 = 1 << 20;

/// The longest pause that a source may ask for between two reads.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// A bookmark as the state store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    /// Hex of the plugin's position.
    position: String,
    /// The plugin's state, where it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// Hex of the plugin's state, where it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state_hex: Option<String>,
}

/// A source with its configuration, open.
pub(crate) struct PluginSource {
    plugin: Arc<Shared>,
    changes: bool,
    task: Task<Session, Result<Option<Answer>>>,
    /// No read before this moment.
    pause: Option<Instant>,
    /// The position of the last bookmark.
    reached: Vec<u8>,
    /// There was a bookmark, so that `reached` says whether this source has an order.
    ordered: bool,
    /// A transaction is open: more of it has to come.
    inside: bool,
    ended: bool,
}

/// An instance with an open session.
struct Session {
    guest: Guest,
    session: ResourceAny,
    reader: Reader,
    /// It crashed: nothing may be asked of it any more.
    broken: bool,
}

/// What a read gave.
struct Answer {
    batch: Batch,
    position: Option<Vec<u8>>,
    pause: Duration,
}

impl PluginSource {
    /// Opens a session. Blocks while the guest does.
    pub(crate) fn open(plugin: Arc<Shared>, config: &str, bookmark: Option<&Bookmark>) -> Result<Self> {
        let changes = plugin.check(config).map_err(|refusal| plugin.refused(refusal))?.source().changes;
        let kept = bookmark.map(|bookmark| plugin.kept(bookmark)).transpose()?;
        let call = Call::Open;
        let mut guest = plugin.instantiate(&call)?;
        let lent = kept.as_ref().map(|(position, state)| wire::BookmarkParam { position, state });
        let opened = guest
            .call(&plugin.runtime, config.len(), |functions, store| source(functions).call_open(store, config, lent));
        let session = opened.map_err(|ended| plugin.ended(&guest, ended, &call))?;
        let ordered = kept.is_some();
        let reached = kept.map(|(position, _)| position).unwrap_or_default();
        let task = Task::new(Session { guest, session, reader: Reader::default(), broken: false });
        Ok(Self { plugin, changes, task, pause: None, reached, ordered, inside: false, ended: false })
    }
}

/// What a source says about a configuration.
pub(crate) fn check(guest: &mut Guest, runtime: &Runtime, config: &str) -> Result<SourceCapabilities, Ended> {
    let said = guest.call(runtime, config.len(), |functions, store| source(functions).call_check(store, config))?;
    let (changes, capture, replayable) = (said.changes, said.capture, said.replayable);
    Ok(SourceCapabilities { changes, capture, replayable, split: false })
}

type Functions<T, K> = Exported<T, wire::Guest, K>;

fn source<T, K>(functions: &Functions<T, K>) -> &wire::Guest {
    match functions {
        Exported::Source(source) => source,
        Exported::Transform(_) | Exported::Sink(_) => unreachable!("only a source is read"),
    }
}

impl Session {
    fn read(&mut self, plugin: &Shared, changes: bool) -> Result<Option<Answer>> {
        let (guest, session) = (&mut self.guest, self.session);
        let read = guest.call(&plugin.runtime, READ as usize, |functions, store| {
            source(functions).session().call_read(store, session, READ)
        });
        let call = Call::Read;
        match read {
            Ok(None) => Ok(None),
            Ok(Some(batch)) => match answer(&mut self.reader, batch, changes) {
                Ok(answer) => Ok(Some(answer)),
                Err(Lie::Broken(what)) => Err(plugin.lied(&self.guest, &what, &call)),
                Err(Lie::TooLarge) => Err(plugin.overflowed(&self.guest, &call)),
            },
            Err(ended) => {
                self.broken = matches!(ended, Ended::Broken(_));
                Err(plugin.ended(&self.guest, ended, &call))
            }
        }
    }

    fn confirm(&mut self, runtime: &Runtime, position: &[u8], state: &[u8]) -> Result<(), Ended> {
        let (guest, session) = (&mut self.guest, self.session);
        guest.call(runtime, state.len(), |functions, store| {
            let bookmark = wire::BookmarkParam { position, state };
            source(functions).session().call_confirm(store, session, bookmark)
        })
    }
}

fn answer(reader: &mut Reader, batch: wire::Batch, changes: bool) -> Result<Answer, Lie> {
    let mut pages = Vec::with_capacity(batch.pages.len().min(64));
    for (at, page) in batch.pages.into_iter().enumerate() {
        pages.push(reader.page(page, changes).map_err(|lie| lie.at(&format!("page {at}")))?);
    }
    let (boundary, position) = match batch.boundary {
        wire::Boundary::Inside => (Boundary::Inside, None),
        wire::Boundary::Commit(None) => (Boundary::Commit(None), None),
        wire::Boundary::Commit(Some(bookmark)) => {
            let position = bookmark.position.clone();
            (Boundary::Commit(Some(keep(bookmark.position, bookmark.state))), Some(position))
        }
    };
    let pause = Duration::from_millis(batch.wait_ms.into()).min(LONGEST_PAUSE);
    Ok(Answer { batch: Batch { pages, boundary }, position, pause })
}

#[async_trait]
impl Source for PluginSource {
    async fn next(&mut self) -> Result<Option<Batch>> {
        if self.ended {
            return Ok(None);
        }
        if let Some(moment) = self.pause {
            tokio::time::sleep_until(moment.into()).await;
            self.pause = None;
        }
        if self.task.idle().is_some_and(|session| session.broken) {
            return Err(self.plugin.gone(&Call::Read));
        }
        let (plugin, changes) = (self.plugin.clone(), self.changes);
        let read = move |session: &mut Session| session.read(&plugin, changes);
        let Some(answer) = self.task.run(read).await? else {
            if self.inside {
                // Its rows would be dropped without a word: they were never committed.
                return Err(self.plugin.broke_contract("it ended inside a transaction", &Call::Read));
            }
            self.ended = true;
            return Ok(None);
        };
        self.inside = answer.batch.boundary == Boundary::Inside;
        if let Some(position) = answer.position {
            if position.is_empty() != self.reached.is_empty() && self.ordered {
                return Err(self
                    .plugin
                    .broke_contract("some of its bookmarks have a position, and some none", &Call::Read));
            }
            if position < self.reached {
                return Err(self.plugin.broke_contract("its bookmark went back", &Call::Read));
            }
            self.ordered = true;
            self.reached = position;
        }
        self.pause = (!answer.pause.is_zero()).then(|| Instant::now() + answer.pause);
        Ok(Some(answer.batch))
    }

    async fn confirm(&mut self, durable: &Bookmark) -> Result<()> {
        let (position, state) = self.plugin.kept(durable)?;
        let plugin = self.plugin.clone();
        let Some(session) = self.task.idle().filter(|session| !session.broken) else { return Ok(()) };
        // A confirmation that fails is one that was lost: a later one makes up for it.
        if let Err(ended) = session.confirm(&plugin.runtime, &position, &state) {
            session.broken = matches!(ended, Ended::Broken(_));
            let error = plugin.ended(&session.guest, ended, &Call::Confirm);
            tracing::warn!("{error}");
        }
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A source's ability to say where it stands.
pub(crate) struct SourceCapture {
    plugin: Arc<Shared>,
    config: String,
}

impl SourceCapture {
    pub(crate) fn new(plugin: Arc<Shared>, config: String) -> Self {
        Self { plugin, config }
    }

    /// One call of a fresh instance, away from the threads that drive tasks.
    async fn call<R: Send + 'static>(
        &self,
        call: Call,
        run: impl FnOnce(&mut Guest, &Shared, &str) -> Result<R, Ended> + Send + 'static,
    ) -> Result<R> {
        let (plugin, config) = (self.plugin.clone(), self.config.clone());
        let mut task = Task::new(());
        task.run(move |()| {
            let mut guest = plugin.instantiate(&call)?;
            run(&mut guest, &plugin, &config).map_err(|ended| plugin.ended(&guest, ended, &call))
        })
        .await
    }
}

#[async_trait]
impl Capture for SourceCapture {
    async fn capture(&mut self) -> Result<Bookmark> {
        let capture = |guest: &mut Guest, plugin: &Shared, config: &str| {
            guest.call(&plugin.runtime, config.len(), |functions, store| source(functions).call_capture(store, config))
        };
        let bookmark = self.call(Call::Capture, capture).await?;
        Ok(keep(bookmark.position, bookmark.state))
    }

    fn position(&self, bookmark: &Bookmark) -> Result<Position> {
        self.plugin.kept(bookmark).map(|(position, _)| Position::from_bytes(position))
    }

    async fn discover(&mut self) -> Result<Vec<Discovered>> {
        let discover = |guest: &mut Guest, plugin: &Shared, config: &str| {
            guest.call(&plugin.runtime, config.len(), |functions, store| source(functions).call_discover(store, config))
        };
        let found = self.call(Call::Discover, discover).await?;
        let table = |found: wire::Discovered| Discovered {
            table: TableId { schema: found.table.schema.map(Into::into), name: found.table.name.into() },
            key: found.key,
        };
        Ok(found.into_iter().map(table).collect())
    }

    async fn examine(&mut self, _: Option<&Bookmark>) -> Result<Vec<Finding>> {
        let subject = format!("plugin {}", self.plugin.name());
        Ok(vec![match self.discover().await {
            Ok(tables) => Finding::fine(subject, format!("it answers, and knows {} tables", tables.len())),
            Err(error) => Finding::error(subject, &error),
        }])
    }

    async fn release(&mut self) -> Result<bool> {
        Ok(false)
    }
}

/// The bookmark as it is stored.
fn keep(position: Vec<u8>, state: Vec<u8>) -> Bookmark {
    let position = hex(&position);
    let kept = match String::from_utf8(state) {
        Ok(text) => Kept { position, state: Some(text), state_hex: None },
        Err(error) => Kept { position, state: None, state_hex: Some(hex(error.as_bytes())) },
    };
    Bookmark(serde_json::to_value(kept).expect("three texts are JSON"))
}

/// The position and state of a bookmark, as the plugin gave them; none if the bookmark is of something else.
pub(crate) fn unkeep(bookmark: &Bookmark) -> Option<(Vec<u8>, Vec<u8>)> {
    let kept = Kept::deserialize(&bookmark.0).ok()?;
    let state = match (kept.state, kept.state_hex) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(digits)) => unhex(&digits)?,
        (Some(_), Some(_)) | (None, None) => return None,
    };
    Some((unhex(&kept.position)?, state))
}

impl Shared {
    /// The position and state of a bookmark of this plugin.
    fn kept(&self, bookmark: &Bookmark) -> Result<(Vec<u8>, Vec<u8>), Error> {
        unkeep(bookmark).ok_or_else(|| self.foreign_bookmark())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_bookmark_comes_back_as_it_was() {
        for state in [b"{\"page\":7}".to_vec(), vec![], vec![0xff, 0, 1]] {
            let bookmark = keep(vec![0, 255], state.clone());
            assert_eq!(unkeep(&bookmark).unwrap(), (vec![0, 255], state));
        }
        assert!(unkeep(&Bookmark(serde_json::json!({ "lsn": 5 }))).is_none());
        assert!(unkeep(&Bookmark(serde_json::json!({ "position": "0", "state": "" }))).is_none());
    }
}
