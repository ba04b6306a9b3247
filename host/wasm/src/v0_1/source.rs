//! A component behind the ports [`Source`] and [`Capture`].

use super::bind::exports::faucet::connector::sources as wire;
use super::bookmark::keep;
use super::decode::Lie;
use super::guest::Exported;
use super::rows::Reader;
use super::{Ended, Guest};
use crate::engine::Runtime;
use crate::fault::Call;
use crate::plugin::Shared;
use crate::task::Task;
use async_trait::async_trait;
use faucet_core::error::Result;
use faucet_core::model::{Position, TableId};
use faucet_core::ports::{Batch, Bookmark, Boundary, Capture, Discovered, Finding, Source, SourceCapabilities};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::component::ResourceAny;

/// Rows that a read should give at once, in bytes. Small enough that memory stays low, large enough that a call costs
/// nothing.
const READ: u32 = 1 << 20;

/// The longest pause that a source may ask for between two reads.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// A source with its configuration, open.
pub(crate) struct PluginSource {
    plugin: Arc<Shared>,
    able: SourceCapabilities,
    task: Task<Session, Result<Option<Answer>>>,
    /// No read before this moment.
    pause: Option<Instant>,
    course: Course,
    /// What is durable, and the guest does not know yet: position and state of a bookmark.
    durable: Option<(Vec<u8>, Vec<u8>)>,
    ended: bool,
}

/// How far a source got.
#[derive(Debug, Default)]
struct Course {
    /// The position of the last bookmark.
    reached: Vec<u8>,
    /// There was a bookmark, so that `reached` says whether this source has an order.
    ordered: bool,
    /// A transaction is open: more of it has to come.
    inside: bool,
}

impl Course {
    /// Takes the next answer; the error says what it breaks.
    fn follow(&mut self, answer: &Answer, replayable: bool) -> Result<(), &'static str> {
        let has_rows = std::mem::replace(&mut self.inside, answer.batch.boundary == Boundary::Inside)
            || !answer.batch.pages.is_empty();
        if replayable && has_rows && answer.batch.boundary == Boundary::Commit(None) {
            return Err("it says that it is replayable, and commits rows without a bookmark");
        }
        let Some(position) = &answer.position else { return Ok(()) };
        if self.ordered && position.is_empty() != self.reached.is_empty() {
            return Err("some of its bookmarks have a position, and some none");
        }
        if *position < self.reached {
            return Err("its bookmark went back");
        }
        self.ordered = true;
        self.reached.clone_from(position);
        Ok(())
    }
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
        let able = plugin.check(config).map_err(|refusal| plugin.refused(refusal))?.source();
        let kept = bookmark.map(|bookmark| plugin.kept(bookmark)).transpose()?;
        let call = Call::Open;
        let mut guest = plugin.instantiate(&call)?;
        let lent = kept.as_ref().map(|(position, state)| wire::BookmarkParam { position, state });
        let opened = guest
            .call(&plugin.runtime, config.len(), |functions, store| source(functions).call_open(store, config, lent));
        let session = opened.map_err(|ended| plugin.ended(&guest, ended, &call))?;
        let ordered = kept.is_some();
        let reached = kept.map(|(position, _)| position).unwrap_or_default();
        let course = Course { reached, ordered, inside: false };
        let task = Task::new(Session { guest, session, reader: Reader::default(), broken: false });
        Ok(Self { plugin, able, task, pause: None, course, durable: None, ended: false })
    }

    /// Tells the guest what became durable, unless a read runs. A confirmation that fails is one that was lost: a later
    /// one makes up for it.
    fn hand_over(&mut self) {
        let Some(session) = self.task.idle() else { return };
        let Some((position, state)) = self.durable.take().filter(|_| !session.broken) else { return };
        if let Err(ended) = session.confirm(&self.plugin.runtime, &position, &state) {
            session.broken = matches!(ended, Ended::Broken(_));
            let error = self.plugin.ended(&session.guest, ended, &Call::Confirm);
            tracing::warn!("{error}");
        }
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
        self.hand_over();
        if self.task.idle().is_some_and(|session| session.broken) {
            return Err(self.plugin.gone(&Call::Read));
        }
        let (plugin, changes) = (self.plugin.clone(), self.able.changes);
        let read = move |session: &mut Session| session.read(&plugin, changes);
        let Some(answer) = self.task.run(read).await? else {
            if self.course.inside {
                // Its rows would be dropped without a word: they were never committed.
                return Err(self.plugin.broke_contract("it ended inside a transaction", &Call::Read));
            }
            self.ended = true;
            return Ok(None);
        };
        let followed = self.course.follow(&answer, self.able.replayable);
        followed.map_err(|what| self.plugin.broke_contract(what, &Call::Read))?;
        self.pause = (!answer.pause.is_zero()).then(|| Instant::now() + answer.pause);
        Ok(Some(answer.batch))
    }

    async fn confirm(&mut self, durable: &Bookmark) -> Result<()> {
        self.durable = Some(self.plugin.kept(durable)?);
        self.hand_over();
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        if self.durable.is_some() {
            // What the read that runs gives is not delivered: another session reads it again.
            self.task.settle().await;
            self.hand_over();
        }
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
