//! Everything a configuration refers to: fetched, kept, and written down.

use crate::client::Client;
use crate::credentials::Credentials;
use crate::digest::Digest;
use crate::fault::{CREDENTIALS, LOCK_CHANGES, PULL};
use crate::lock::{Lock, Locked};
use crate::reference::Reference;
use crate::resolve::agreed;
use crate::store::Store;
use faucet_core::error::{Error, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// What may happen to the lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: a reference that is not in it is an error. For continuous integration.
    Locked,
    /// New references are added. What is in it stays, even if a tag has moved.
    Add,
    /// New references are added, and tags are looked up again.
    Update,
}

/// What happened to one reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// As in the configuration.
    pub reference: Reference,
    /// What it stands for now.
    pub locked: Locked,
    /// What it stood for before, if that was something else.
    pub before: Option<Locked>,
    /// Whether it is new in the lock file.
    pub added: bool,
    /// Whether the component came over the network; it was in the store otherwise.
    pub downloaded: bool,
}

/// What happened to all of them, in the order of the references.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// One for each reference; each only once.
    pub fetched: Vec<Fetched>,
}

impl Report {
    /// Whether the lock file was written.
    pub fn changed_lock(&self) -> bool {
        self.fetched.iter().any(|fetched| fetched.added || fetched.before.is_some())
    }
}

/// Fetches the component of each reference into the store and writes down in the lock file at `path` which ones they
/// are. What is locked and in the store is not asked for over the network, unless in [`Mode::Update`].
///
/// The lock file is written once, at the end, with what other processes wrote meanwhile; if one component can't be
/// fetched, it is not written at all.
///
/// # Errors
/// `registry.lock_changes` in [`Mode::Locked`]; `registry.credentials` if one password would be shown to several
/// registries; those of [`Lock::update`], [`Client::pull`] and [`Store::put`].
pub async fn lock_all(
    references: &[Reference],
    path: &Path,
    mode: Mode,
    store: &Store,
    client: &Client,
) -> Result<Report> {
    check_password(references, client.credentials())?;
    let lock = Lock::read(path)?;
    let mut report = Report::default();
    let mut seen = BTreeSet::new();
    for reference in references.iter().filter(|reference| seen.insert(*reference)) {
        report.fetched.push(fetch(reference, &lock, mode, store, client).await?);
    }
    if report.changed_lock() {
        let write = |lock: &mut Lock| report.fetched.iter().for_each(|f| lock.insert(&f.reference, f.locked));
        Lock::update(path, write)?;
    }
    Ok(report)
}

async fn fetch(reference: &Reference, lock: &Lock, mode: Mode, store: &Store, client: &Client) -> Result<Fetched> {
    let known = agreed(reference, lock)?;
    let kept = known.filter(|_| mode != Mode::Update || reference.digest().is_some());
    if let Some(locked) = kept {
        let downloaded = !has(store, locked.component);
        if downloaded {
            store.put(&client.pull_locked(reference, &locked).await?.bytes)?;
        }
        return Ok(Fetched { reference: reference.clone(), locked, before: None, added: false, downloaded });
    }
    if mode == Mode::Locked {
        let error = Error::new(&LOCK_CHANGES, format!("{reference} is not in the lock file, and it may not change"));
        return Err(error.hint(format!("{PULL} without --locked, and commit faucet.lock")));
    }
    let pulled = client.pull(reference).await?;
    store.put(&pulled.bytes)?;
    let locked = pulled.locked();
    let before = known.filter(|before| *before != locked);
    Ok(Fetched { reference: reference.clone(), locked, before, added: known.is_none(), downloaded: true })
}

/// A damaged file is as good as none: it is fetched again.
fn has(store: &Store, component: Digest) -> bool {
    matches!(store.find(component), Ok(Some(_)))
}

/// A password without a host is for the one registry there is.
fn check_password(references: &[Reference], credentials: &Credentials) -> Result<()> {
    let registries: BTreeSet<&str> = references.iter().map(Reference::registry).collect();
    if registries.len() < 2 || !credentials.are_for_anybody() {
        return Ok(());
    }
    let named = registries.into_iter().collect::<Vec<_>>().join(", ");
    Err(Error::new(&CREDENTIALS, format!("FAUCET_REGISTRY_PASSWORD would be shown to each of {named}"))
        .hint("set FAUCET_REGISTRY_HOST to the registry it belongs to"))
}
