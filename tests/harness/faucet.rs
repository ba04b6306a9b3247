//! The built `faucet` binary, run as a user runs it.
//!
//! The binary is the one in `FAUCET_BIN`, or is built once per test process by cargo.
//! Each [`Faucet`] has a folder of its own, which is also the working directory: relative paths in a config
//! (`./state`, `out.jsonl`) land there.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use crate::scratch::Scratch;
use crate::wait::try_eventually;
use crate::watchdog::{Watchdog, signal};

/// How long [`Faucet::run`] waits before it gives up on a command.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// A folder with a config, and how to run the binary in it.
#[derive(Debug)]
pub struct Faucet {
    dir: Scratch,
    config: PathBuf,
    env: Vec<(String, String)>,
    global: Vec<String>,
}

impl Faucet {
    /// A folder whose `config.yaml` holds `config`.
    pub fn new(config: &str) -> Self {
        let dir = Scratch::new("faucet");
        let config = dir.write("config.yaml", config);
        Self { dir, config, env: Vec::new(), global: Vec::new() }
    }

    /// Sets an environment variable for every later run, such as `FAUCET_FAILPOINT`.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.set_env(name, value);
        self
    }

    /// The same on a handle in use. An empty value removes the variable.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.env.retain(|(n, _)| n != name);
        self.env.push((name.to_owned(), value.to_owned()));
    }

    /// Adds an argument put before the command in every later run, such as `--log-format`, `json`.
    #[must_use]
    pub fn global(mut self, argument: &str) -> Self {
        self.global.push(argument.to_owned());
        self
    }

    /// Replaces the config.
    pub fn set_config(&self, config: &str) {
        self.dir.write("config.yaml", config);
    }

    /// The working directory.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The config file.
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// Starts `faucet COMMAND config.yaml`.
    pub fn spawn(&self, command: &str) -> Running {
        self.spawn_with(&[command, "config.yaml"])
    }

    /// Starts `faucet ARGUMENTS...`; nothing is added but what [`Faucet::global`] set.
    pub fn spawn_with(&self, arguments: &[&str]) -> Running {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let output = |name: &str| self.dir.path().join(format!(".{name}-{number}"));
        let (out, err) = (output("stdout"), output("stderr"));
        let file = |path: &Path| File::create(path).expect("output files can be made in the scratch folder");
        let mut command = Command::new(binary());
        command.args(&self.global).args(arguments).current_dir(self.dir.path());
        command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err));
        for (name, value) in &self.env {
            match value.as_str() {
                "" => command.env_remove(name),
                value => command.env(name, value),
            };
        }
        let child = command.spawn().unwrap_or_else(|e| panic!("cannot start {}: {e}", binary().display()));
        let watchdog = Some(Watchdog::over(child.id(), "KILL", None));
        Running { watchdog, child, out, err, ended: None }
    }

    /// Runs `faucet COMMAND config.yaml` to its end, at most two minutes.
    #[track_caller]
    pub fn run(&self, command: &str) -> Finished {
        self.spawn(command).wait_timeout(RUN_TIMEOUT)
    }

    /// Runs `faucet ARGUMENTS...` to its end, at most two minutes.
    #[track_caller]
    pub fn run_with(&self, arguments: &[&str]) -> Finished {
        self.spawn_with(arguments).wait_timeout(RUN_TIMEOUT)
    }
}

/// A faucet process. Killed on drop.
#[derive(Debug)]
pub struct Running {
    // First, so that the watch ends before the process id can be reused.
    watchdog: Option<Watchdog>,
    child: Child,
    out: PathBuf,
    err: PathBuf,
    ended: Option<ExitStatus>,
}

impl Running {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it with no chance to tidy up.
    pub fn kill9(mut self) -> Finished {
        self.watchdog = None;
        let _ = self.child.kill();
        self.wait_timeout(Duration::from_secs(30))
    }

    /// Asks it to finish, as a supervisor does. Wait for the end with [`Running::wait_timeout`].
    pub fn sigterm(&self) {
        signal(self.child.id(), "TERM");
    }

    /// Presses Ctrl-C.
    pub fn sigint(&self) {
        signal(self.child.id(), "INT");
    }

    /// Stops it where it is, until [`Running::thaw`]: none of its threads runs any more when this returns.
    #[track_caller]
    pub fn freeze(&self) {
        signal(self.child.id(), "STOP");
        let threads = format!("/proc/{}/task", self.child.id());
        let runs = |stat: String| stat.rsplit(") ").next().is_none_or(|rest| !rest.starts_with('T'));
        let any_runs = || {
            let entries = fs::read_dir(&threads).into_iter().flatten().flatten();
            entries.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok()).any(runs)
        };
        let stopped = try_eventually(Duration::from_secs(10), || if any_runs() { Err(String::new()) } else { Ok(()) });
        assert!(stopped.is_ok(), "the process could not be stopped");
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        signal(self.child.id(), "CONT");
    }

    /// Whether it is still running.
    pub fn is_running(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().expect("a child can be waited for");
        }
        self.ended.is_none()
    }

    /// What it printed so far.
    pub fn stdout_so_far(&self) -> String {
        read(&self.out)
    }

    /// What it logged so far.
    pub fn stderr_so_far(&self) -> String {
        read(&self.err)
    }

    /// Waits for its end. Panics with its output if it takes longer than `timeout`.
    #[track_caller]
    pub fn wait_timeout(mut self, timeout: Duration) -> Finished {
        let ended = try_eventually(timeout, || if self.is_running() { Err(String::new()) } else { Ok(()) });
        let (stdout, stderr) = (self.stdout_so_far(), self.stderr_so_far());
        let Some(status) = self.ended else {
            panic!("faucet still ran after {timeout:?} ({ended:?})\nstdout:\n{stdout}\nstderr:\n{stderr}");
        };
        Finished { status, stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.watchdog = None;
        if self.is_running() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// A faucet process that ended.
#[derive(Debug)]
pub struct Finished {
    /// How it ended; no code when a signal ended it.
    pub status: ExitStatus,
    /// All it printed.
    pub stdout: String,
    /// All it logged.
    pub stderr: String,
}

impl Finished {
    /// Its exit code; `None` when a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Panics with the output unless it ended with `code`.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        let (out, err) = (&self.stdout, &self.stderr);
        assert_eq!(self.code(), Some(code), "exit code ({})\nstdout:\n{out}\nstderr:\n{err}", self.status);
        self
    }
}

fn read(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The binary under test.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os("FAUCET_BIN") {
        Some(path) => PathBuf::from(path),
        None => build().unwrap_or_else(|reason| panic!("cannot build faucet: {reason}")),
    })
}

/// Builds the binary and links it to a place of this checkout's own, since checkouts that share a target folder
/// overwrite each other's.
fn build() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--workspace", "--bin", "faucet", "--message-format=json-render-diagnostics"]);
    let output = command.current_dir(workspace()).stderr(Stdio::inherit()).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err("cargo build failed".to_owned());
    }
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut built = messages.filter_map(|m| Some(PathBuf::from(m.get("executable")?.as_str()?)));
    let built = built.next_back().ok_or("cargo named no executable")?;
    keep(&built).map_err(|e| format!("cannot keep {}: {e}", built.display()))
}

fn keep(built: &Path) -> std::io::Result<PathBuf> {
    let folder = built.with_file_name("faucet-under-test").join(workspace().display().to_string().replace('/', "_"));
    fs::create_dir_all(&folder)?;
    let (fresh, kept) = (folder.join(format!("faucet.{}", std::process::id())), folder.join("faucet"));
    let _ = fs::remove_file(&fresh);
    if fs::hard_link(built, &fresh).is_err() {
        fs::copy(built, &fresh)?;
    }
    fs::rename(&fresh, &kept)?;
    // A rename onto another link of the same file does nothing, and leaves the first name.
    let _ = fs::remove_file(&fresh);
    Ok(kept)
}

/// The root of the checkout.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate lies in a folder of the workspace")
}
