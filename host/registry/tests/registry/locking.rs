//! From the references of a configuration to a lock file and a store, and from there to files without a network.

use crate::support::real::Registry;
use crate::support::{anonymous, component, reference, with_password};
use faucet_core::error::Result;
use faucet_registry::{Client, Digest, Lock, Metadata, Mode, Reference, Report, Store, lock_all, resolve};
use std::path::PathBuf;

struct Project {
    folder: tempfile::TempDir,
    store: Store,
    client: Client,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("store"));
        Self { folder, store, client: anonymous() }
    }

    fn lock_file(&self) -> PathBuf {
        self.folder.path().join("faucet.lock")
    }

    fn lock(&self) -> Lock {
        Lock::read(&self.lock_file()).unwrap()
    }

    async fn fetch(&self, references: &[Reference], mode: Mode) -> Result<Report> {
        lock_all(references, &self.lock_file(), mode, &self.store, &self.client).await
    }

    /// The bytes that a run would load.
    fn loaded(&self, reference: &Reference) -> Vec<u8> {
        let resolved = resolve(reference, &self.lock(), &self.store).unwrap();
        std::fs::read(resolved.path).unwrap()
    }
}

async fn push(reference: &Reference, seed: &str) -> Digest {
    anonymous().push(component(seed).into(), reference, &Metadata::default()).await.unwrap()
}

#[tokio::test]
async fn what_was_pulled_runs_without_the_registry() {
    let registry = Registry::open();
    let (one, two) = (reference(&registry.name("acme/one:1")), reference(&registry.name("acme/two:1")));
    let pinned = two.pinned(push(&two, "two").await);
    push(&one, "one").await;
    let project = Project::new();
    let references = [one.clone(), pinned.clone(), one.clone()];
    let report = project.fetch(&references, Mode::Add).await.unwrap();
    assert_eq!(
        report.fetched.iter().map(|f| (&f.reference, f.added, f.downloaded)).collect::<Vec<_>>(),
        [(&one, true, true), (&pinned, true, true)]
    );
    drop(registry);
    assert_eq!(project.loaded(&one), component("one"));
    assert_eq!(project.loaded(&pinned), component("two"));
    // Nothing is asked for a second time, so this works without the registry too.
    let text = std::fs::read_to_string(project.lock_file()).unwrap();
    for mode in [Mode::Add, Mode::Locked] {
        let again = project.fetch(&references, mode).await.unwrap();
        assert!(again.fetched.iter().all(|f| !f.downloaded && !f.added) && !again.changed_lock());
    }
    assert_eq!(std::fs::read_to_string(project.lock_file()).unwrap(), text);
}

#[tokio::test]
async fn a_tag_that_moves_moves_the_lock_only_when_asked() {
    let registry = Registry::open();
    let tagged = reference(&registry.name("acme/mask:1"));
    let first = push(&tagged, "one").await;
    let project = Project::new();
    project.fetch(std::slice::from_ref(&tagged), Mode::Add).await.unwrap();
    let second = push(&tagged, "two").await;
    // A machine that has nothing gets what is locked, not what the tag says.
    std::fs::remove_dir_all(project.folder.path().join("store")).unwrap();
    for mode in [Mode::Locked, Mode::Add] {
        project.fetch(std::slice::from_ref(&tagged), mode).await.unwrap();
        assert_eq!(
            (project.loaded(&tagged), project.lock().lookup(&tagged).unwrap().manifest),
            (component("one"), first)
        );
    }
    let report = project.fetch(std::slice::from_ref(&tagged), Mode::Update).await.unwrap();
    assert_eq!(report.fetched[0].before.unwrap().manifest, first);
    assert_eq!((project.loaded(&tagged), project.lock().lookup(&tagged).unwrap().manifest), (component("two"), second));
    let report = project.fetch(std::slice::from_ref(&tagged), Mode::Update).await.unwrap();
    assert!(!report.changed_lock());
}

#[tokio::test]
async fn a_locked_lock_does_not_change() {
    let registry = Registry::open();
    let tagged = reference(&registry.name("acme/mask:1"));
    push(&tagged, "one").await;
    let project = Project::new();
    let error = project.fetch(std::slice::from_ref(&tagged), Mode::Locked).await.unwrap_err();
    assert_eq!(error.code().id, "registry.lock_changes");
    assert!(error.hint_text().unwrap().contains("faucet plugin pull"));
    assert!(!project.lock_file().exists());
}

#[tokio::test]
async fn one_that_is_missing_leaves_the_lock_alone() {
    let registry = Registry::open();
    let (one, gone) = (reference(&registry.name("acme/one:1")), reference(&registry.name("acme/gone:1")));
    push(&one, "one").await;
    let project = Project::new();
    let error = project.fetch(&[one, gone], Mode::Add).await.unwrap_err();
    assert_eq!(error.code().id, "registry.not_found");
    assert!(error.contexts().iter().any(|context| context.contains("acme/gone:1")), "{error:?}");
    assert!(!project.lock_file().exists());
}

#[tokio::test]
async fn a_tampered_file_is_fetched_again() {
    let registry = Registry::open();
    let tagged = reference(&registry.name("acme/mask:1"));
    push(&tagged, "one").await;
    let project = Project::new();
    project.fetch(std::slice::from_ref(&tagged), Mode::Add).await.unwrap();
    let path = resolve(&tagged, &project.lock(), &project.store).unwrap().path;
    std::fs::write(&path, component("evil")).unwrap();
    let error = resolve(&tagged, &project.lock(), &project.store).unwrap_err();
    assert_eq!(error.code().id, "registry.tampered");
    let report = project.fetch(std::slice::from_ref(&tagged), Mode::Locked).await.unwrap();
    assert!(report.fetched[0].downloaded);
    assert_eq!(project.loaded(&tagged), component("one"));
}

#[tokio::test]
async fn a_lock_that_names_another_component_is_refused() {
    let registry = Registry::open();
    let tagged = reference(&registry.name("acme/mask:1"));
    push(&tagged, "one").await;
    let project = Project::new();
    project.fetch(std::slice::from_ref(&tagged), Mode::Add).await.unwrap();
    let edited = |lock: &mut Lock| {
        let locked = *lock.lookup(&tagged).unwrap();
        lock.insert(&tagged, faucet_registry::Locked { component: Digest::of(b"x"), ..locked });
    };
    Lock::update(&project.lock_file(), edited).unwrap();
    let error = project.fetch(std::slice::from_ref(&tagged), Mode::Locked).await.unwrap_err();
    assert_eq!(error.code().id, "registry.digest_mismatch", "{error}");
}

#[tokio::test]
async fn one_password_is_not_shown_to_two_registries() {
    let project = Project { client: with_password("u", "p4ss"), ..Project::new() };
    let references = [reference("127.0.0.1:1/a:1"), reference("127.0.0.1:2/a:1")];
    let error = project.fetch(&references, Mode::Add).await.unwrap_err();
    assert_eq!(error.code().id, "registry.credentials");
    assert!(error.hint_text().unwrap().contains("FAUCET_REGISTRY_HOST"));
    let alone = project.fetch(&references[..1], Mode::Add).await.unwrap_err();
    assert_eq!(alone.code().id, "registry.unavailable");
}

#[tokio::test]
async fn two_that_lock_at_once_lose_nothing() {
    let registry = Registry::open();
    let references: Vec<_> = (0..6).map(|i| reference(&registry.name(&format!("acme/mask{i}:1")))).collect();
    for reference in &references {
        push(reference, reference.repository()).await;
    }
    let project = std::sync::Arc::new(Project::new());
    let fetches = references.iter().cloned().map(|reference| {
        let project = std::sync::Arc::clone(&project);
        tokio::spawn(async move { project.fetch(&[reference], Mode::Add).await.unwrap() })
    });
    for fetch in fetches.collect::<Vec<_>>() {
        fetch.await.unwrap();
    }
    assert_eq!(project.lock().iter().count(), 6);
}
