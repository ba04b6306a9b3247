//! What the author of a sink implements.

use crate::bindings::sink::exports::faucet::connector::sinks as wire;
use crate::{About, Page, Result, Wants};
use serde::de::DeserializeOwned;

/// A destination. `#[faucet_sdk::sink]` on the `impl` exports it as a component.
///
/// The value is one session. After an error the host opens another and writes again whatever was not committed: by
/// then it must be gone, or be absorbed.
pub trait Sink: About + Sized + 'static {
    /// The configuration. `#[faucet_sdk::config]` on a struct derives what it needs.
    type Config: DeserializeOwned + schemars::JsonSchema;

    /// What it needs beyond its pages.
    fn wants() -> Wants {
        Wants::default()
    }

    /// Checks the configuration beyond its types, and says what it makes possible. There is no network here.
    ///
    /// # Errors
    /// If the configuration can't be used: [`Error::config`](crate::Error::config).
    fn check(config: &Self::Config) -> Result<SinkAbilities> {
        let _ = config;
        Ok(SinkAbilities::default())
    }

    /// Opens the destination. `pipeline` is a name to show there.
    ///
    /// # Errors
    /// [`Error::unavailable`](crate::Error::unavailable) if trying again later may help.
    fn open(config: Self::Config, pipeline: &str) -> Result<Self>;

    /// The token of the last commit under `scope`, as the destination has it. Only asked of a sink with
    /// [`SinkAbilities::tokens`].
    ///
    /// # Errors
    /// If the destination can't say. `Ok(None)` means that there never was one.
    fn last_token(&mut self, scope: &str) -> Result<Option<String>> {
        let _ = scope;
        Ok(None)
    }

    /// Writes a page, whole or not at all. Rows that can't be written come back, with a reason that holds no value of
    /// them, where [`SinkAbilities::rejects`] is claimed.
    ///
    /// # Errors
    /// [`Error::unavailable`](crate::Error::unavailable) if trying again later may help.
    fn write(&mut self, page: Page<'_>) -> Result<Vec<Rejected>>;

    /// Everything written is durable when this returns, and with it the token (scope, token) if there is one.
    ///
    /// # Errors
    /// As for [`Sink::write`].
    fn commit(&mut self, token: Option<(&str, &str)>) -> Result<()>;

    /// The source has ended: what had to wait for the end happens now, durably.
    ///
    /// # Errors
    /// As for [`Sink::write`].
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A row that can't be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Its index in the page.
    pub row: usize,
    /// Why, without a value of the row.
    pub reason: String,
}

/// What a sink can do under a given configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SinkAbilities {
    /// How this configuration writes.
    pub mode: Mode,
    /// The modes that some configuration offers; empty = only `mode`.
    pub modes: Vec<Mode>,
    /// The configured key's columns; empty without one.
    pub key: Vec<String>,
    /// The column whose values mark deletes, if one is configured.
    pub delete_marker: Option<String>,
    /// A commit makes all its rows visible at once or none.
    pub transactional: bool,
    /// A commit stores a token together with its rows, and [`Sink::last_token`] answers.
    pub tokens: bool,
    /// It takes columns it has not seen before.
    pub evolves: bool,
    /// [`Sink::write`] may reject single rows and take the others.
    pub rejects: bool,
    /// Several sessions may write at once.
    pub parallel: bool,
}

/// How rows meet those that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Every row is added.
    #[default]
    Append,
    /// A row replaces the one with its key; rows marked as deletes remove it.
    Upsert,
    /// The rows of this run replace everything, at once, at [`Sink::finish`].
    Overwrite,
}

impl From<Mode> for wire::WriteMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Append => Self::Append,
            Mode::Upsert => Self::Upsert,
            Mode::Overwrite => Self::Overwrite,
        }
    }
}

impl From<SinkAbilities> for wire::Capabilities {
    fn from(abilities: SinkAbilities) -> Self {
        let modes = if abilities.modes.is_empty() { vec![abilities.mode] } else { abilities.modes };
        Self {
            mode: abilities.mode.into(),
            modes: modes.into_iter().map(Into::into).collect(),
            key: abilities.key,
            delete_marker: abilities.delete_marker,
            transactional: abilities.transactional,
            tokens: abilities.tokens,
            evolves: abilities.evolves,
            rejects: abilities.rejects,
            parallel: abilities.parallel,
        }
    }
}
