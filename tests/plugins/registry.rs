//! Plugins from a registry: Debian's docker-registry, started from its binary, and gone again before pipelines run.

use crate::built::component;
use faucet_tests::{Faucet, Scratch};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A registry of this test's own, on a free port.
struct Registry {
    folder: Scratch,
    process: Child,
    port: u16,
}

impl Registry {
    fn start() -> Self {
        let folder = Scratch::new("registry");
        let root = folder.path().display().to_string();
        let config = format!(
            "version: 0.1\nlog: {{ level: info }}\nstorage: {{ filesystem: {{ rootdirectory: {root}/data }} }}\n\
             http: {{ addr: \"127.0.0.1:0\" }}\n"
        );
        folder.write("config.yml", &config);
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let started = Command::new("docker-registry")
            .args(["serve", &format!("{root}/config.yml")])
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn();
        let process = started.expect("no docker-registry on this machine: apt-get install docker-registry");
        let mut registry = Self { folder, process, port: 0 };
        registry.port = registry.wait_for_port();
        registry
    }

    fn wait_for_port(&self) -> u16 {
        let start = Instant::now();
        loop {
            let log = self.folder.read("log");
            let after = log.split("listening on 127.0.0.1:").nth(1).unwrap_or_default();
            let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
            if let Ok(port) = digits.parse() {
                return port;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "it does not listen:\n{log}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn name(&self, below: &str) -> String {
        format!("127.0.0.1:{}/{below}", self.port)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A pipeline whose plugin is in a registry, with a store of its own.
fn pipeline(entry: &str) -> Faucet {
    let faucet = Faucet::new("").env("FAUCET_REGISTRY_PASSWORD", "").env("FAUCET_REGISTRY_USER", "");
    let store = faucet.dir().join("store").display().to_string();
    let faucet = faucet.env("FAUCET_PLUGIN_STORE", &store).env("DOCKER_CONFIG", &store);
    configure(&faucet, entry);
    fs::write(faucet.dir().join("in.jsonl"), "{\"email\":\"ada\"}\n").unwrap();
    faucet
}

fn configure(faucet: &Faucet, entry: &str) {
    faucet.set_config(&format!(
        "name: pulled
plugins: {{ it: {{ {entry} }} }}
pipeline:
  source: {{ type: jsonl, config: {{ path: in.jsonl }} }}
  transforms: [{{ type: it, config: {{ columns: [email] }} }}]
  sink: {{ type: stdout, config: {{}} }}
"
    ));
}

fn push(faucet: &Faucet, component: PathBuf, reference: &str) -> String {
    let finished = faucet.run_with(&["plugin", "push", component.to_str().unwrap(), reference]).expect_code(0);
    finished.stdout.trim().to_owned()
}

fn mask() -> PathBuf {
    component("guests", "mask")
}

fn uppercase() -> PathBuf {
    component("examples/plugins/uppercase", "uppercase")
}

#[test]
fn a_plugin_is_pulled_once_and_runs_without_the_registry() {
    let registry = Registry::start();
    let reference = registry.name("acme/it:1");
    let faucet = pipeline(&format!("oci: '{reference}'"));
    let pinned = push(&faucet, mask(), &reference);
    assert!(pinned.starts_with(&format!("{reference}@sha256:")), "{pinned}");

    let refused = faucet.run("validate").expect_code(2).stderr;
    assert!(refused.contains("registry.not_locked") && refused.contains("faucet plugin pull"), "{refused}");
    let pulled = faucet.run_with(&["plugin", "pull", "config.yaml"]).expect_code(0).stdout;
    assert!(pulled.contains("locked now"), "{pulled}");
    let lock = fs::read_to_string(faucet.dir().join("faucet.lock")).unwrap();
    assert!(lock.contains(&reference) && lock.contains("component: sha256:"), "{lock}");

    drop(registry);
    let out = faucet.run("run").expect_code(0).stdout;
    assert_eq!(out, "{\"email\":\"***\"}\n");
    // What is locked and here needs nobody.
    let again = faucet.run_with(&["plugin", "pull", "config.yaml", "--locked"]).expect_code(0).stdout;
    assert!(again.contains("as locked"), "{again}");
    // What was changed since is never run.
    let store = faucet.dir().join("store/sha256");
    let kept = fs::read_dir(&store).unwrap().next().unwrap().unwrap().path();
    fs::set_permissions(&kept, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    fs::copy(uppercase(), &kept).unwrap();
    let refused = faucet.run("run").expect_code(2).stderr;
    assert!(refused.contains("registry.tampered"), "{refused}");
}

#[test]
fn a_tag_that_moves_changes_nothing_until_it_is_asked_for() {
    let registry = Registry::start();
    let reference = registry.name("acme/it:1");
    let faucet = pipeline(&format!("oci: '{reference}'"));
    let first = push(&faucet, mask(), &reference);
    faucet.run_with(&["plugin", "pull", "config.yaml"]).expect_code(0);
    push(&faucet, uppercase(), &reference);
    faucet.run_with(&["plugin", "pull", "config.yaml"]).expect_code(0);
    assert_eq!(faucet.run("run").expect_code(0).stdout, "{\"email\":\"***\"}\n");
    let updated = faucet.run_with(&["plugin", "pull", "config.yaml", "--update"]).expect_code(0).stdout;
    assert!(updated.contains("was sha256:"), "{updated}");
    assert_eq!(faucet.run("run").expect_code(0).stdout, "{\"email\":\"ADA\"}\n");

    // A pin names the first one still, by its digest alone: its tag stands for another now.
    let (name, digest) = first.split_once('@').unwrap();
    configure(&faucet, &format!("oci: '{first}'"));
    let moved = faucet.run_with(&["plugin", "pull", "config.yaml"]);
    assert!(moved.code() != Some(0) && moved.stderr.contains("registry."), "{}", moved.stderr);
    configure(&faucet, &format!("oci: '{}@{digest}'", name.strip_suffix(":1").unwrap()));
    let locked = faucet.run_with(&["plugin", "pull", "config.yaml", "--locked"]);
    assert!(locked.code() != Some(0) && locked.stderr.contains("registry.lock_changes"), "{}", locked.stderr);
    faucet.run_with(&["plugin", "pull", "config.yaml"]).expect_code(0);
    assert_eq!(faucet.run("run").expect_code(0).stdout, "{\"email\":\"***\"}\n");
}

#[test]
fn one_component_is_pulled_into_a_file_and_what_is_badly_said_is_told() {
    let registry = Registry::start();
    let reference = registry.name("acme/it:1");
    let faucet = pipeline(&format!("oci: '{reference}', path: it.wasm"));
    push(&faucet, mask(), &reference);
    faucet.run_with(&["plugin", "pull", &reference, "--file", "it.wasm"]).expect_code(0);
    assert_eq!(fs::read(faucet.dir().join("it.wasm")).unwrap(), fs::read(mask()).unwrap());
    let said = |arguments: &[&str]| faucet.run_with(arguments).stderr;
    assert!(said(&["plugin", "pull", &reference]).contains("--file"));
    assert!(said(&["plugin", "pull", "it:1", "--file", "x"]).contains("registry.bad_reference"));
    assert!(faucet.run("validate").expect_code(2).stderr.contains("both say where"));
    configure(&faucet, "oci: 'it:1'");
    let bad = faucet.run("validate").expect_code(2).stderr;
    assert!(bad.contains("registry.bad_reference") && bad.contains("plugins.it.oci"), "{bad}");
    configure(&faucet, &format!("oci: '{reference}', sha256: {}", "0".repeat(64)));
    faucet.run_with(&["plugin", "pull", "config.yaml"]).expect_code(0);
    assert!(faucet.run("validate").expect_code(2).stderr.contains("plugins.it.sha256"));
}
