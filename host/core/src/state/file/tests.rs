use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use super::super::conformance::{Step, conforms, follows_model};
use super::super::sealed::{Algorithm, Encryption};
use super::super::{MemoryStore, lock};
use super::*;

fn sealer(key: &str, previous: &[&str]) -> Sealer {
    let previous_keys = previous.iter().map(|&key| key.to_owned()).collect();
    Sealer::new(&Encryption { key: key.to_owned(), previous_keys, algorithm: Algorithm::default() })
}

async fn open(folder: &TempDir, sealer: Option<Sealer>) -> FileStore {
    FileStore::open(folder.path(), sealer).await.unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

async fn code_of_get(store: &FileStore, key: &str) -> &'static str {
    store.get(key).await.unwrap_err().code().id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_stores_conform() {
    let memory: Arc<dyn StateStore> = Arc::new(MemoryStore::new());
    conforms(|| async { Arc::clone(&memory) }).await;
    let folder = TempDir::new().unwrap();
    conforms(|| async { Arc::new(open(&folder, None).await) as Arc<dyn StateStore> }).await;
    let folder = TempDir::new().unwrap();
    conforms(|| async { Arc::new(open(&folder, Some(sealer("k", &[]))).await) as Arc<dyn StateStore> }).await;
}

fn step() -> impl Strategy<Value = Step> {
    let key = prop::sample::select(vec!["a", "a::b", "a::c", "é", "B"]).prop_map(str::to_owned);
    let value = any::<u8>().prop_map(|n| json!({ "n": n }));
    let prefix = prop::sample::select(vec!["", "a", "a::", "x"]).prop_map(str::to_owned);
    prop_oneof![
        (key.clone(), value.clone()).prop_map(|(key, value)| Step::Put(key, value)),
        (key.clone(), value.clone()).prop_map(|(key, value)| Step::Claim(key, value)),
        (key.clone(), value).prop_map(|(key, value)| Step::Replace(key, value)),
        key.clone().prop_map(Step::Delete),
        key.prop_map(Step::Get),
        prefix.prop_map(Step::List),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn stores_behave_like_a_map(steps in prop::collection::vec(step(), 0..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            follows_model(&MemoryStore::new(), steps.clone()).await;
            let folder = TempDir::new().unwrap();
            follows_model(&open(&folder, None).await, steps.clone()).await;
            follows_model(&open(&folder, Some(sealer("k", &[]))).await, steps).await;
        });
    }
}

#[tokio::test]
async fn one_readable_private_file_for_each_key() {
    use std::os::unix::fs::PermissionsExt;
    let parent = TempDir::new().unwrap();
    let folder = parent.path().join("new/state");
    let store = FileStore::open(&folder, None).await.unwrap();
    store.put("orders::cdc", &json!({"lsn": 7}), Expect::Any).await.unwrap();
    assert_eq!(names(&folder), [".lock", "orders%3A%3Acdc.json"]);
    let path = folder.join("orders%3A%3Acdc.json");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("{\"key\":\"orders::cdc\",\"version\":\"") && text.ends_with("\"value\":{\"lsn\":7}}\n"));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&folder.join(".lock")), mode(&folder)), (0o600, 0o600, 0o700));
}

#[tokio::test]
async fn a_damaged_file_is_an_error_and_never_nothing() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, None).await;
    store.put("k", &json!({"id": "a value"}), Expect::Any).await.unwrap();
    let path = folder.path().join("k.json");
    let whole = std::fs::read(&path).unwrap();
    for cut in 0..whole.len() - 1 {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let error = store.get("k").await.unwrap_err();
        assert_eq!(error.code().id, "state.corrupt", "cut at {cut}");
        assert!(!format!("{error:?}").contains("a value"));
    }
    for foreign in ["[]", "{}", "null", "{\"key\":\"k\"}", "{\"sealed\":1}", "\u{0}\u{0}\u{0}"] {
        std::fs::write(&path, foreign).unwrap();
        assert_eq!(code_of_get(&store, "k").await, "state.corrupt", "{foreign}");
    }
    let error = store.put("k", &json!(1), Expect::Absent).await.unwrap_err();
    assert_eq!(error.code().id, "state.corrupt", "damage is not absence");
    store.put("k", &json!(1), Expect::Any).await.unwrap();
    assert_eq!(store.get("k").await.unwrap().unwrap().value, json!(1));
}

#[tokio::test]
async fn a_file_copied_over_another_keys_file_is_an_error() {
    for sealer in [None, Some("k")] {
        let folder = TempDir::new().unwrap();
        let store = open(&folder, sealer.map(|key| self::sealer(key, &[]))).await;
        store.put("a", &json!(1), Expect::Any).await.unwrap();
        std::fs::copy(folder.path().join("a.json"), folder.path().join("b.json")).unwrap();
        assert_eq!(code_of_get(&store, "b").await, "state.corrupt");
        let text = std::fs::read_to_string(folder.path().join("b.json")).unwrap();
        std::fs::write(folder.path().join("b.json"), text.replace("\"key\":\"a\"", "\"key\":\"b\"")).unwrap();
        if sealer.is_some() {
            assert_eq!(code_of_get(&store, "b").await, "state.sealed", "the seal is bound to its key");
        }
    }
}

#[tokio::test]
async fn what_a_crash_leaves_is_removed_and_the_value_stays() {
    let folder = TempDir::new().unwrap();
    open(&folder, None).await.put("k", &json!(1), Expect::Any).await.unwrap();
    std::fs::write(folder.path().join(".tmp-0123"), "{\"key\":\"k\",\"ver").unwrap();
    std::fs::write(folder.path().join("README"), "not ours").unwrap();
    let store = open(&folder, None).await;
    assert_eq!(names(folder.path()), [".lock", "README", "k.json"]);
    assert_eq!(store.get("k").await.unwrap().unwrap().value, json!(1));
    assert_eq!(store.list("").await.unwrap(), ["k"]);
}

#[tokio::test]
async fn opening_leaves_the_files_of_a_living_writer_alone() {
    let folder = TempDir::new().unwrap();
    open(&folder, None).await;
    let temporary = folder.path().join(".tmp-alive");
    let lock = lock::Lock::take(folder.path()).unwrap();
    std::fs::write(&temporary, "half").unwrap();
    let path = folder.path().to_owned();
    let opening = tokio::spawn(FileStore::open(path, None));
    // The writer finishes while the other store waits for its lock.
    std::fs::rename(&temporary, folder.path().join("k.json")).unwrap();
    drop(lock);
    opening.await.unwrap().unwrap();
    assert_eq!(names(folder.path()), [".lock", "k.json"]);
}

#[tokio::test]
async fn keys_rotate_and_plain_files_stay_readable() {
    let folder = TempDir::new().unwrap();
    let read = async |store: &FileStore| store.get("k").await.map(|stored| stored.unwrap().value);
    let raw = || std::fs::read_to_string(folder.path().join("k.json")).unwrap();
    open(&folder, None).await.put("k", &json!("plain"), Expect::Any).await.unwrap();
    let first = open(&folder, Some(sealer("one", &[]))).await;
    assert_eq!(read(&first).await.unwrap(), json!("plain"), "written before encryption was on");
    let version = first.get("k").await.unwrap().unwrap().version;
    first.put("k", &json!("sealed-value"), Expect::Version(version)).await.unwrap();
    assert!(raw().starts_with("{\"sealed\":\"aes-256-gcm\"") && !raw().contains("sealed-value"));
    let rotated = open(&folder, Some(sealer("two", &["one"]))).await;
    assert_eq!(read(&rotated).await.unwrap(), json!("sealed-value"));
    rotated.put("k", &json!("again"), Expect::Any).await.unwrap();
    assert_eq!(read(&open(&folder, Some(sealer("two", &[]))).await).await.unwrap(), json!("again"));
    for (store, words) in [
        (open(&folder, Some(sealer("one", &[]))).await, "can't be opened"),
        (open(&folder, None).await, "no `encryption`"),
    ] {
        let error = read(&store).await.unwrap_err();
        assert_eq!(error.code().id, "state.sealed");
        assert!(error.to_string().contains(words), "{error}");
        let error = store.put("k", &json!(1), Expect::Absent).await.unwrap_err();
        assert_eq!(error.code().id, "state.sealed", "what can't be opened is not absent");
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_says_so() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = FileStore::open(&path, None).await.unwrap_err();
        assert_eq!(error.code().id, "state.unavailable");
        assert!(error.to_string().contains("file"), "{error}");
    }
    let store = open(&folder, None).await;
    std::fs::create_dir(folder.path().join("k.json")).unwrap();
    assert_eq!(store.put("k", &json!(1), Expect::Any).await.unwrap_err().code().id, "state.unavailable");
    assert!(!names(folder.path()).iter().any(|name| name.starts_with(TEMPORARY)), "nothing is left behind");
}
