//! What the author of a source implements, and what it hands out.

use crate::bindings::source::exports::faucet::connector::sources as wire;
use crate::{About, Error, NewPage, Result, Wants};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// A stream of rows. `#[faucet_sdk::source]` on the `impl` exports it as a component.
///
/// The value is one session: [`Source::open`] makes it, [`Source::read`] is called until it says that there is no more.
/// Whatever a session knows is lost when the process stops; only bookmarks stay.
pub trait Source: About + Sized + 'static {
    /// The configuration. `#[faucet_sdk::config]` on a struct derives what it needs.
    type Config: DeserializeOwned + schemars::JsonSchema;

    /// What it needs beyond its pages.
    fn wants() -> Wants {
        Wants::default()
    }

    /// Checks the configuration beyond its types, and says what it makes possible. There is no network here.
    ///
    /// # Errors
    /// If the configuration can't be used: [`Error::config`].
    fn check(config: &Self::Config) -> Result<SourceAbilities> {
        let _ = config;
        Ok(SourceAbilities::default())
    }

    /// The tables there are.
    ///
    /// # Errors
    /// [`Error::unsupported`] unless implemented.
    fn discover(config: Self::Config) -> Result<Vec<Discovered>> {
        let _ = config;
        Err(Error::unsupported("this source does not list its tables"))
    }

    /// Where the source stands now; see [`SourceAbilities::capture`].
    ///
    /// # Errors
    /// [`Error::unsupported`] unless implemented.
    fn capture(config: Self::Config) -> Result<Bookmark> {
        let _ = config;
        Err(Error::unsupported("this source can't capture its position"))
    }

    /// Opens a session at a bookmark, or at the beginning.
    ///
    /// # Errors
    /// [`Error::unavailable`] if trying again later may help.
    fn open(config: Self::Config, bookmark: Option<Bookmark>) -> Result<Self>;

    /// The next rows, about `max_bytes` of them; none when the source has ended.
    ///
    /// # Errors
    /// [`Error::unavailable`] if trying again later may help. The host opens a new session at the last bookmark whose
    /// rows are durable.
    fn read(&mut self, max_bytes: usize) -> Result<Option<Batch>>;

    /// Everything up to the bookmark is durable. Calls may be left out.
    ///
    /// # Errors
    /// As for [`Source::read`].
    fn confirm(&mut self, bookmark: Bookmark) -> Result<()> {
        let _ = bookmark;
        Ok(())
    }
}

/// What a source can do under a given configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceAbilities {
    /// Its rows say what each change did ([`NewPage::changes`]).
    pub changes: bool,
    /// [`Source::capture`] and [`Source::discover`] answer.
    pub capture: bool,
    /// Every commit carries a bookmark, and a session opened at it continues identically, whenever that is.
    pub replayable: bool,
}

/// A table of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discovered {
    /// Schema, where there is one.
    pub schema: Option<String>,
    /// Name.
    pub table: String,
    /// Columns that identify a row, in key order.
    pub key: Vec<String>,
}

/// A place to resume from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bookmark {
    /// Where it stands: bytes whose order is the order of the stream. The host refuses one that goes back. Empty for a
    /// source without an order.
    pub position: Vec<u8>,
    /// All that the source needs to resume.
    pub state: Vec<u8>,
}

impl Bookmark {
    /// A bookmark whose state is a value as JSON. `position` may be `u64::to_be_bytes`, whose order is that of the
    /// number.
    ///
    /// # Errors
    /// If the value can't be written as JSON.
    ///
    /// ```
    /// use faucet_sdk::Bookmark;
    /// let bookmark = Bookmark::json(7u64.to_be_bytes(), &"page-7")?;
    /// assert_eq!(bookmark.read_json::<String>()?, "page-7");
    /// # Ok::<(), faucet_sdk::Error>(())
    /// ```
    pub fn json(position: impl Into<Vec<u8>>, state: &impl Serialize) -> Result<Self> {
        let state = serde_json::to_vec(state).map_err(|error| Error::new(format!("bookmark: {error}")))?;
        Ok(Self { position: position.into(), state })
    }

    /// The value that [`Bookmark::json`] was given.
    ///
    /// # Errors
    /// If the state is of another source or version.
    pub fn read_json<T: DeserializeOwned>(&self) -> Result<T> {
        let unreadable = |error| Error::new(format!("the bookmark can't be read: {error}; reset the pipeline's state"));
        serde_json::from_slice(&self.state).map_err(unreadable)
    }
}

/// Rows and what follows them.
#[derive(Debug, Clone)]
pub struct Batch {
    pages: Vec<NewPage>,
    boundary: wire::Boundary,
    wait: Duration,
}

impl Batch {
    /// Rows that end a transaction: they may be committed, and a session opened at the bookmark continues after them.
    pub fn commit(pages: impl IntoIterator<Item = NewPage>, bookmark: Option<Bookmark>) -> Self {
        Self::new(pages, wire::Boundary::Commit(bookmark.map(Into::into)))
    }

    /// Rows of a transaction that goes on in the next batch.
    pub fn inside(pages: impl IntoIterator<Item = NewPage>) -> Self {
        Self::new(pages, wire::Boundary::Inside)
    }

    fn new(pages: impl IntoIterator<Item = NewPage>, boundary: wire::Boundary) -> Self {
        Self { pages: pages.into_iter().collect(), boundary, wait: Duration::ZERO }
    }

    /// There is nothing more for so long: the host waits before it reads again.
    #[must_use]
    pub fn wait(mut self, pause: Duration) -> Self {
        self.wait = pause;
        self
    }

    pub(crate) fn finish(self) -> Result<wire::Batch> {
        let pages = self.pages.into_iter().map(NewPage::finish).collect::<Result<_>>()?;
        let wait_ms = u32::try_from(self.wait.as_millis()).unwrap_or(u32::MAX);
        Ok(wire::Batch { pages, boundary: self.boundary, wait_ms })
    }
}

impl From<Bookmark> for wire::Bookmark {
    fn from(bookmark: Bookmark) -> Self {
        Self { position: bookmark.position, state: bookmark.state }
    }
}

impl From<wire::Bookmark> for Bookmark {
    fn from(bookmark: wire::Bookmark) -> Self {
        Self { position: bookmark.position, state: bookmark.state }
    }
}
