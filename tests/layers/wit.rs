//! The plugin interface that was released stays as it was: a component built for it runs on every later host.

use std::path::Path;

use sha2::{Digest, Sha256};

/// SHA-256 over the names and contents of all files of a released version.
const RELEASED: [(&str, &str); 1] = [("0.1.0", "31ccdbb8279001a6d7004a50fd6096e1401672b47f777ca15adadf058fdfbd38")];

/// The version that `wit/` itself is. It is released, so the two are the same; a change goes into a new version.
const CANONICAL: &str = "0.1.0";

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "wit"))
        .map(|path| {
            let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            (name, std::fs::read(&path).expect("the file can be read"))
        })
        .collect();
    files.sort();
    files
}

fn digest(files: &[(String, Vec<u8>)]) -> String {
    let mut all = Sha256::new();
    for (name, content) in files {
        all.update(name.as_bytes());
        all.update([0]);
        all.update(content);
        all.update([0]);
    }
    all.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_released_interface_is_frozen() {
    let wit = crate::sources::root().join("wit");
    for (version, frozen) in RELEASED {
        let is = digest(&files(&wit.join("released").join(version)));
        assert_eq!(is, frozen, "wit/released/{version} was changed: a change goes into a new version");
    }
    assert_eq!(
        files(&wit),
        files(&wit.join("released").join(CANONICAL)),
        "wit/ is no longer what was released as {CANONICAL}: give it a new version, and wit/README.md a line in its table"
    );
}
