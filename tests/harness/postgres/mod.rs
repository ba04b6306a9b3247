//! Private PostgreSQL servers.
//!
//! [`Postgres::start`] runs `initdb` and `postgres` from the installed binaries: `wal_level = logical`, passwords by
//! SCRAM on every connection, its own loopback port that survives a restart, everything in one temporary folder.
//! Root is refused by PostgreSQL, so under root the server runs as user `postgres` (or `nobody` where there is none).

mod account;
mod install;
mod settings;
mod standby;

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use self::account::Account;
pub use self::install::{Installation, MAJORS, find, find_major, folder_of_majors};
pub use self::standby::STANDBY_SLOT;
use crate::database::Client;
use crate::scratch::Scratch;
use crate::wait::try_eventually;
use crate::watchdog::{Watchdog, outside_our_process_group, signal};

/// How a server is set up. `PostgresOptions::default()` is right for most tests.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// Wait for the disk on commit. Off by default: only a power cut shows the difference, and tests get faster.
    pub fsync: bool,
    /// `wal_level`: `logical` unless a test needs to see what happens without it.
    pub wal_level: &'static str,
    /// Certificate and key the server offers, if it speaks TLS at all.
    pub tls: Option<crate::tls::Identity>,
    /// Refuse connections that don't use TLS. Only with `tls`.
    pub require_tls: bool,
    /// Authority (PEM) client certificates are checked against. Only with `tls`.
    pub client_authority: Option<String>,
    /// The major version, such as 17; the one that tests run on unless a test needs another.
    pub major: Option<u32>,
    /// Further lines for `postgresql.conf`, later than ours and so stronger.
    pub settings: Vec<(String, String)>,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            fsync: false,
            wal_level: "logical",
            tls: None,
            require_tls: false,
            client_authority: None,
            major: None,
            settings: Vec::new(),
        }
    }
}

/// A running (or stopped, see [`Postgres::stop`]) private server. Gone with its data on drop.
#[derive(Debug)]
pub struct Postgres {
    install: Installation,
    account: Account,
    password: String,
    port: u16,
    process: Option<Process>,
    // Last, so that the folder goes after the process.
    dir: Scratch,
}

#[derive(Debug)]
struct Process {
    // First, so that the watch ends before the process does and never sees its id reused.
    watchdog: Watchdog,
    child: Child,
}

/// The superuser of every private server.
pub const SUPERUSER: &str = "postgres";

const START_TIMEOUT: Duration = Duration::from_secs(60);

impl Postgres {
    /// Makes and starts a server; about a second. Panics with the server's log when it doesn't come up.
    pub fn start(options: PostgresOptions) -> Self {
        Self::try_start(&options).unwrap_or_else(|reason| panic!("{reason}"))
    }

    /// A server of this major version, set up as most tests want it.
    pub fn start_major(major: u32) -> Self {
        Self::start(PostgresOptions { major: Some(major), ..PostgresOptions::default() })
    }

    /// The same for callers that are not tests.
    pub fn try_start(options: &PostgresOptions) -> Result<Self, String> {
        let install = options.major.map_or_else(find, find_major)?;
        let account = Account::for_server()?;
        let dir = Scratch::new("postgres");
        let password: String = format!("{:016x}", rand::random::<u64>());
        settings::init(&dir, &install, &account, &password, options)?;
        let mut server = Self { install, account, password, port: 0, process: None, dir };
        server.start_on_a_free_port()?;
        Ok(server)
    }

    /// The port it listens on, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The superuser's password.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Connection URL of `database` as superuser.
    pub fn url(&self, database: &str) -> String {
        self.url_as(SUPERUSER, &self.password, database)
    }

    /// Connection URL of `database` as somebody else.
    pub fn url_as(&self, user: &str, password: &str, database: &str) -> String {
        format!("postgres://{user}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// A connection to `database` as superuser.
    #[track_caller]
    pub fn connect(&self, database: &str) -> Client {
        Client::connect(&self.url(database))
    }

    /// Makes a role that may log in with `password`; `attributes` are SQL, such as `REPLICATION`.
    pub fn create_role(&self, name: &str, password: &str, attributes: &str) {
        self.connect("postgres").execute(&format!("CREATE ROLE \"{name}\" LOGIN PASSWORD '{password}' {attributes}"));
    }

    /// Makes an empty database.
    pub fn create_database(&self, name: &str) {
        self.connect("postgres").execute(&format!("CREATE DATABASE \"{name}\" TEMPLATE template0"));
    }

    /// Stops the way an operator would (a "fast" shutdown); the data stays.
    pub fn stop(&mut self) {
        self.end("INT");
    }

    /// Kills the server and every process of it, as if the machine lost power; the data stays.
    pub fn kill9(&mut self) {
        let Some(mut process) = self.process.take() else {
            return;
        };
        drop(process.watchdog);
        let backends = children_of(process.child.id());
        let _ = process.child.kill();
        for pid in &backends {
            signal(*pid, "KILL");
        }
        let _ = process.child.wait();
        let gone = |pid: &u32| !Path::new("/proc").join(pid.to_string()).exists();
        let _ =
            try_eventually(Duration::from_secs(10), || backends.iter().all(gone).then_some(()).ok_or(String::new()));
    }

    /// Starts a stopped or killed server again: same data, same port.
    pub fn restart(&mut self) {
        self.stop();
        if let Err(reason) = self.run() {
            panic!("{reason}");
        }
    }

    /// Process id of the postmaster; its CPU time includes its ended backends.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|p| p.child.id())
    }

    /// Its major version.
    pub fn major(&self) -> u32 {
        self.install.major
    }

    /// Folder with the binaries in use (`psql`, `pg_recvlogical`...).
    pub fn bin(&self) -> &Path {
        &self.install.bin
    }

    /// What the server logged so far.
    pub fn log(&self) -> String {
        self.dir.read("server.log")
    }

    /// The folder that holds its data and log.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn start_on_a_free_port(&mut self) -> Result<(), String> {
        let mut last = String::new();
        for _ in 0..5 {
            self.port = free_port();
            match self.run() {
                Ok(()) => return Ok(()),
                Err(reason) if reason.contains("Address already in use") => last = reason,
                Err(reason) => return Err(reason),
            }
        }
        Err(last)
    }

    fn run(&mut self) -> Result<(), String> {
        let log = fs::File::options().create(true).append(true).open(self.dir.path().join("server.log"));
        let log = log.map_err(|e| format!("cannot write the server's log: {e}"))?;
        let mut command = self.command();
        command.stdin(Stdio::null()).stderr(log).stdout(Stdio::null());
        outside_our_process_group(&mut command);
        let child = command.spawn().map_err(|e| format!("cannot start {:?}: {e}", self.install.bin))?;
        let watchdog = Watchdog::over(child.id(), "QUIT", Some(self.dir.path()));
        let mut process = Process { watchdog, child };
        let ready = try_eventually(START_TIMEOUT, || match process.child.try_wait() {
            Ok(None) if settings::is_ready(&self.data_dir(), process.child.id()) => Ok(Ok(())),
            Ok(None) => Err("it is still starting".to_owned()),
            Ok(Some(status)) => Ok(Err(format!("it ended with {status}"))),
            Err(e) => Ok(Err(e.to_string())),
        });
        self.process = Some(process);
        ready.and_then(|r| r).map_err(|reason| format!("PostgreSQL did not start: {reason}\n{}", self.log_tail()))
    }

    fn command(&self) -> Command {
        let mut command = self.install.command(&self.account, "postgres");
        command.arg("-D").arg(self.data_dir());
        command.args(["-c", &format!("port={}", self.port)]).current_dir(self.dir.path());
        command
    }

    fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    fn end(&mut self, how: &str) {
        let Some(Process { watchdog, mut child }) = self.process.take() else {
            return;
        };
        drop(watchdog);
        signal(child.id(), how);
        let ended = try_eventually(Duration::from_secs(20), || match child.try_wait() {
            Ok(None) => Err(String::new()),
            _ => Ok(()),
        });
        if ended.is_err() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // "Immediate" shutdown: no checkpoint, since the data goes too.
        self.end("QUIT");
    }
}

/// A loopback port nobody listens on, below the range the kernel takes client ports from, so that it stays free
/// while a server that had it is down.
pub fn free_port() -> u16 {
    (0..1000)
        .map(|_| rand::random_range(15_000..32_000_u16))
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("one of a thousand ports is free")
}

/// Ids of the processes whose parent is `pid`. Empty where there is no `/proc`.
pub fn children_of(pid: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let parent = |child: u32| {
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        // "pid (name) state ppid ...", and the name may hold spaces and parentheses.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let pids = entries.flatten().filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|child| parent(*child) == Some(pid)).collect()
}
