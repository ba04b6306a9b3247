//! Debian's docker-registry, private to one test: on a free port of this machine, in a folder that goes away.

use super::wire;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The account of a registry with a password, and its line for htpasswd (bcrypt).
pub const USER: &str = "robot";
pub const PASSWORD: &str = "s3cret-pass";
const HTPASSWD: &str = "robot:$2y$05$9XdO29vnH91w4T0LjUJcWutErw5ONPh53BuWLnABO3cJdzHUGqea2\n";

/// Ends the registry when standard input is closed, which happens when this process ends, however it ends.
const SCRIPT: &str =
    r#""$1" serve "$2" >"$3" 2>&1 & pid=$!; cat >/dev/null; kill -KILL "$pid"; wait "$pid" 2>/dev/null"#;

pub struct Registry {
    folder: TempDir,
    shell: Child,
    pub port: u16,
}

impl Registry {
    /// One that lets everybody in.
    pub fn open() -> Self {
        Self::start("")
    }

    /// One that lets [`USER`] in.
    pub fn locked() -> Self {
        Self::start("auth: { htpasswd: { realm: registry, path: FOLDER/htpasswd } }\n")
    }

    fn start(auth: &str) -> Self {
        let folder = tempfile::tempdir().expect("the temporary folder can be written");
        let root = folder.path().to_str().expect("it is UTF-8");
        let config = format!(
            "version: 0.1\nlog: {{ level: info }}\nstorage: {{ filesystem: {{ rootdirectory: {root}/data }} }}\n\
             http: {{ addr: \"127.0.0.1:0\" }}\n{}",
            auth.replace("FOLDER", root)
        );
        std::fs::write(folder.path().join("config.yml"), config).expect("the folder can be written");
        std::fs::write(folder.path().join("htpasswd"), HTPASSWD).expect("the folder can be written");
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "registry"])
            .args([&program(), &folder.path().join("config.yml"), &folder.path().join("log")])
            .stdin(Stdio::piped())
            .spawn()
            .expect("`sh` can be started");
        let mut registry = Self { folder, shell, port: 0 };
        registry.port = registry.wait_for_port();
        registry
    }

    /// The port it says it listens on.
    fn wait_for_port(&self) -> u16 {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            let after = log.split("listening on 127.0.0.1:").nth(1);
            let digits = after.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
            if let Some(port) = digits.and_then(|digits| digits.parse().ok()) {
                return port;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        panic!("docker-registry does not listen after 20 s:\n{log}")
    }

    /// A reference in this registry.
    pub fn name(&self, below: &str) -> String {
        format!("127.0.0.1:{}/{below}", self.port)
    }

    /// The file a blob lies in.
    pub fn blob(&self, digest: faucet_registry::Digest) -> PathBuf {
        let hex = digest.hex();
        self.folder.path().join(format!("data/docker/registry/v2/blobs/sha256/{}/{hex}/data", &hex[..2]))
    }

    /// Puts a blob there by hand, as any client could.
    pub fn put_blob(&self, repository: &str, bytes: &[u8]) {
        let opened = wire::call(self.port, "POST", &format!("/v2/{repository}/blobs/uploads/"), &[], b"");
        let place = opened.header("location").expect("an upload has a place");
        let path = place.split_once("//").map_or(place, |(_, rest)| &rest[rest.find('/').expect("a path")..]);
        let digest = faucet_registry::Digest::of(bytes);
        let path = format!("{path}&digest={digest}");
        let done = wire::call(self.port, "PUT", &path, &[("Content-Type", "application/octet-stream")], bytes);
        assert_eq!(done.status, 201, "{}", String::from_utf8_lossy(&done.body));
    }

    /// Puts a manifest there by hand.
    pub fn put_manifest(&self, repository: &str, tag: &str, manifest: &serde_json::Value) {
        let media_type = manifest["mediaType"].as_str().expect("it has a type");
        let path = format!("/v2/{repository}/manifests/{tag}");
        let body = manifest.to_string();
        let done = wire::call(self.port, "PUT", &path, &[("Content-Type", media_type)], body.as_bytes());
        assert_eq!(done.status, 201, "{}", String::from_utf8_lossy(&done.body));
    }

    /// The manifest of a tag, as the registry gives it to anybody.
    pub fn manifest(&self, repository: &str, tag: &str) -> wire::Answer {
        let accept = [("Accept", "application/vnd.oci.image.manifest.v1+json")];
        wire::call(self.port, "GET", &format!("/v2/{repository}/manifests/{tag}"), &accept, b"")
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("docker-registry")).find(|file| file.is_file());
    let found = found.or_else(|| Some(PathBuf::from("/usr/bin/docker-registry")).filter(|file| Path::is_file(file)));
    found.expect("no docker-registry on this machine: apt-get install docker-registry")
}
