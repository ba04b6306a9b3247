use super::*;
use proptest::prelude::*;

fn reference(text: &str) -> Reference {
    text.parse().unwrap()
}

fn locked(seed: &str) -> Locked {
    Locked { manifest: Digest::of(seed.as_bytes()), component: Digest::of(&[1]), size: 17 }
}

fn lock(names: &[&str]) -> Lock {
    let mut lock = Lock::default();
    names.iter().for_each(|name| lock.insert(&reference(name), locked(name)));
    lock
}

fn written(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("faucet.lock");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn the_bytes_are_stable_and_sorted() {
    let one = lock(&["ghcr.io/b:1", "ghcr.io/a:2", "[::1]:5000/c:1"]);
    let other = lock(&["[::1]:5000/c:1", "ghcr.io/a:2", "ghcr.io/b:1"]);
    assert_eq!(one.to_string(), other.to_string());
    let expected = format!(
        "{TOP}version: 1\ncomponents:\n  \"ghcr.io/a:2\":\n    manifest: {}\n    component: {}\n    size: 17\n",
        Digest::of(b"ghcr.io/a:2"),
        Digest::of(&[1])
    );
    assert_eq!(lock(&["ghcr.io/a:2"]).to_string(), expected);
}

#[test]
fn what_is_written_is_read() {
    let (_folder, path) = written("");
    let pinned = format!("ghcr.io/a:2@{}", Digest::of(b"p"));
    for names in [&[][..], &["[::1]:5000/c:1", &pinned, "ghcr.io/a:2"]] {
        lock(names).write(&path).unwrap();
        assert_eq!(Lock::read(&path).unwrap(), lock(names));
    }
}

#[test]
fn no_file_is_an_empty_lock() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Lock::read(&folder.path().join("faucet.lock")).unwrap(), Lock::default());
}

#[test]
fn what_is_damaged_is_refused_with_its_line() {
    let good = lock(&["ghcr.io/a:2"]).to_string();
    let entry = good.split_once("components:\n").unwrap().1;
    let cases = [
        ("version", String::new()),
        ("version", "components: {}\n".to_owned()),
        ("version 2, and this faucet knows version 1", good.replace("version: 1", "version: 2\nnew: {}")),
        ("line 6", good.replace("    manifest: sha256:", "    manifest: sha512:")),
        ("unknown field `extra`", good.replace("version: 1", "version: 1\nextra: 1")),
        ("unknown field `extra`", format!("{good}    extra: 1\n")),
        ("missing field `size`", good.replace("    size: 17\n", "")),
        ("line 8", good.replace("size: 17", "size: -1")),
        ("is there twice", format!("{good}{entry}")),
        ("names no registry", good.replace("\"ghcr.io/a:2\"", "a:2")),
        ("line 5", good.replace("components:\n", "components:\n<<<<<<< ours\n")),
        ("line", good.replace("    size: 17", "\tsize: 17")),
        ("components", "version: 1\n".to_owned()),
    ];
    for (expected, text) in cases {
        let (_folder, path) = written(&text);
        let error = Lock::read(&path).expect_err(&text);
        assert_eq!(error.code().id, "registry.lock_invalid", "{error}");
        assert!(error.to_string().contains(expected), "wanted '{expected}': {error}\n{text}");
    }
}

#[test]
fn other_bytes_are_refused() {
    let (_folder, path) = written("");
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(Lock::read(&path).unwrap_err().to_string().contains("not UTF-8"));
    std::fs::write(&path, vec![b'#'; LARGEST as usize + 1]).unwrap();
    assert_eq!(Lock::read(&path).unwrap_err().code().id, "registry.lock_file");
}

#[test]
fn an_update_without_a_change_leaves_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("faucet.lock");
    Lock::update(&path, |_| ()).unwrap();
    assert!(!path.exists());
    Lock::update(&path, |lock| lock.insert(&reference("ghcr.io/a:2"), locked("a"))).unwrap();
    // A comment somebody added stays, as long as there is nothing to write.
    std::fs::write(&path, format!("# mine\n{}", std::fs::read_to_string(&path).unwrap())).unwrap();
    Lock::update(&path, |lock| lock.insert(&reference("ghcr.io/a:2"), locked("a"))).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("# mine"));
}

#[test]
fn writers_at_once_lose_nothing_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("faucet.lock");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || {
                for round in 0..10 {
                    let name = format!("ghcr.io/a{writer}:{round}");
                    Lock::update(path, |lock| lock.insert(&reference(&name), locked(&name))).unwrap();
                }
            });
        }
    });
    assert_eq!(Lock::read(&path).unwrap().iter().count(), 80);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_update_of_a_damaged_file_does_not_replace_it() {
    let (_folder, path) = written("version: 1\n");
    assert!(Lock::update(&path, |lock| lock.insert(&reference("ghcr.io/a:2"), locked("a"))).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "version: 1\n");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,80}", at in 0usize..400, piece in "[\\PC\n\t]{0,8}") {
        let _ = parse(&text);
        let mut good = lock(&["ghcr.io/a:2"]).to_string();
        good.insert_str(at.min(good.len()), &piece);
        if let Ok(read) = parse(&good) {
            prop_assert_eq!(parse(&read.to_string()).unwrap(), read);
        }
    }
}
