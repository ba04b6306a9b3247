//! **The one order of durability**: the sink, then the state store, then the upstream. This file is the only place
//! where a bookmark moves.
//!
//! * **A1** A bookmark is stored only after everything before it is durable in the destination.
//! * **A2** The upstream hears of a bookmark only after the state store holds it durably.
//! * **A3** A crash between any two steps repeats work (at least once) or, with tokens, skips exactly the work that the
//!   destination already holds; it never loses any.

use std::sync::Arc;
use tokio::sync::watch;

use crate::delivery::Token;
use crate::error::Result;
use crate::failpoint;
use crate::ports::{Bookmark, Expect, Sink, StateStore};

use super::claim::writers_key;
use super::progress::Progress;
use crate::state::{OneWriter, StateKey, migrate};

/// Where bookmarks are kept.
#[derive(Clone)]
pub struct Keeper {
    /// The store.
    pub store: Arc<dyn StateStore>,
    /// The pipeline's key in it; also the scope of its tokens.
    pub key: StateKey,
}

impl Keeper {
    /// The same in a store that this run has for itself: from now on another run's writes are noticed.
    ///
    /// # Errors
    /// Failures of the store.
    pub async fn take_over(&self) -> Result<Self> {
        let store = OneWriter::new(self.store.clone());
        store.take_over(&[self.key.clone(), writers_key(&self.key)]).await?;
        Ok(Self { store: Arc::new(store), key: self.key.clone() })
    }

    /// The stored progress, if any. What an earlier release stored under another key is moved first.
    pub async fn load(&self) -> Result<Option<Progress>> {
        if self.store.durable() {
            migrate(self.store.as_ref(), &self.key).await?;
        }
        let stored = self.store.get(self.key.as_str()).await?;
        stored.map(|s| Progress::parse(self.key.as_str(), &s.value)).transpose()
    }

    /// Stores progress in the place of what was there.
    pub async fn save(&self, progress: &Progress) -> Result<()> {
        self.store.put(self.key.as_str(), &progress.to_value(), Expect::Any).await.map(drop)
    }
}

/// Whether commits carry tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tokens {
    /// No: a crash may repeat what was written after the last stored bookmark.
    Off,
    /// Yes, numbered on from this sequence: the destination itself knows what it holds.
    After(u64),
}

/// Settles what the writer wrote: the three steps of the order, once per commit.
pub struct Ledger {
    keeper: Option<Keeper>,
    tokens: Tokens,
    upstream: watch::Sender<Option<Bookmark>>,
}

impl Ledger {
    /// A ledger that stores with `keeper` (if the pipeline has state) and tells `upstream`.
    pub fn new(keeper: Option<Keeper>, tokens: Tokens, upstream: watch::Sender<Option<Bookmark>>) -> Self {
        Self { keeper, tokens, upstream }
    }

    /// Makes everything written so far durable, then stores `bookmark`, then tells the upstream (A1, A2).
    pub async fn settle(&mut self, sink: &mut dyn Sink, bookmark: Option<&Bookmark>) -> Result<()> {
        let Some(bookmark) = bookmark else { return sink.commit(None).await };
        let sequence = self.commit(sink, bookmark).await?;
        failpoint::hit("after_sink_commit");
        self.record(bookmark, sequence).await
    }

    /// Moves to `bookmark` where nothing was written since the last commit: the destination hears nothing of it. A commit
    /// there would itself be a change where the destination's database is the source's, and the stream would never be idle.
    pub async fn pass(&mut self, bookmark: &Bookmark) -> Result<()> {
        let sequence = match self.tokens {
            Tokens::After(last) => Some(last),
            Tokens::Off => None,
        };
        self.record(bookmark, sequence).await
    }

    /// The two later steps, for what is durable in the destination already (A2).
    pub async fn record(&mut self, bookmark: &Bookmark, sequence: Option<u64>) -> Result<()> {
        if let Some(keeper) = &self.keeper {
            keeper.save(&Progress { bookmark: bookmark.clone(), sequence }).await?;
        }
        failpoint::hit("after_state");
        self.upstream.send_replace(Some(bookmark.clone()));
        Ok(())
    }

    /// Commits the sink and returns the sequence of the token that went with it.
    async fn commit(&mut self, sink: &mut dyn Sink, bookmark: &Bookmark) -> Result<Option<u64>> {
        let (Tokens::After(last), Some(keeper)) = (self.tokens, &self.keeper) else {
            sink.commit(None).await?;
            return Ok(None);
        };
        let token = Token { sequence: last + 1, bookmark: Some(bookmark.clone()) };
        sink.commit(Some((keeper.key.as_str(), &token.to_string()))).await?;
        self.tokens = Tokens::After(token.sequence);
        Ok(Some(token.sequence))
    }
}
