//! `initdb`, and the files that configure a server.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::account::Account;
use super::install::Installation;
use super::{PostgresOptions, SUPERUSER};
use crate::scratch::Scratch;

/// Makes a data folder in `dir` and configures it.
pub fn init(
    dir: &Scratch,
    install: &Installation,
    account: &Account,
    password: &str,
    options: &PostgresOptions,
) -> Result<(), String> {
    prepare(dir, account, password).map_err(|e| format!("cannot prepare {}: {e}", dir.path().display()))?;
    initdb(dir, install, account)?;
    configure(dir, account, options).map_err(|e| format!("cannot configure PostgreSQL: {e}"))
}

fn prepare(dir: &Scratch, account: &Account, password: &str) -> std::io::Result<()> {
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755))?;
    for folder in ["data", "socket"] {
        let path = dir.path().join(folder);
        fs::create_dir(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
        account.own(&path)?;
    }
    private(&dir.write("password", password), account)
}

fn private(path: &Path, account: &Account) -> std::io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    account.own(path)
}

fn initdb(dir: &Scratch, install: &Installation, account: &Account) -> Result<(), String> {
    let mut command = install.command(account, "initdb");
    command.arg("-D").arg(dir.path().join("data"));
    command.arg(format!("--pwfile={}", dir.path().join("password").display()));
    command.args(["-U", SUPERUSER, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]);
    let output = command.current_dir(dir.path()).output().map_err(|e| format!("cannot run initdb: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("initdb failed: {}", String::from_utf8_lossy(&output.stderr)))
}

fn configure(dir: &Scratch, account: &Account, options: &PostgresOptions) -> std::io::Result<()> {
    let data = dir.path().join("data");
    let mut text = fs::read_to_string(data.join("postgresql.conf"))?;
    for (key, value) in settings(dir, options) {
        let _ = writeln!(text, "{key} = '{}'", value.replace('\'', "''"));
    }
    fs::write(data.join("postgresql.conf"), text)?;
    if let Some(identity) = &options.tls {
        private(&dir.write("data/server.crt", &identity.certificate), account)?;
        private(&dir.write("data/server.key", &identity.key), account)?;
    }
    if let Some(authority) = &options.client_authority {
        private(&dir.write("data/clients.crt", authority), account)?;
    }
    if options.require_tls {
        let rules = "hostssl all all 127.0.0.1/32 scram-sha-256\nhostssl replication all 127.0.0.1/32 scram-sha-256\n";
        fs::write(data.join("pg_hba.conf"), rules)?;
    }
    Ok(())
}

fn settings(dir: &Scratch, options: &PostgresOptions) -> Vec<(String, String)> {
    let on_off = |on: bool| if on { "on" } else { "off" };
    let socket = dir.path().join("socket").display().to_string();
    let mut all: Vec<(String, String)> = [
        ("listen_addresses", "127.0.0.1"),
        ("unix_socket_directories", &socket),
        ("wal_level", options.wal_level),
        ("fsync", on_off(options.fsync)),
        ("full_page_writes", on_off(options.fsync)),
        ("max_connections", "200"),
        ("max_replication_slots", "100"),
        ("max_wal_senders", if options.wal_level == "minimal" { "0" } else { "50" }),
        ("max_wal_size", "2GB"),
        ("shared_buffers", "128MB"),
        ("autovacuum_naptime", "10s"),
        ("timezone", "UTC"),
        ("log_timezone", "UTC"),
        ("lc_messages", "C"),
        ("ssl", on_off(options.tls.is_some())),
    ]
    .map(|(k, v)| (k.to_owned(), v.to_owned()))
    .to_vec();
    if options.client_authority.is_some() {
        all.push(("ssl_ca_file".to_owned(), "clients.crt".to_owned()));
    }
    all.extend(options.settings.iter().cloned());
    all
}

/// Whether the postmaster with this process id takes connections: it says so in line 8 of its pid file.
pub fn is_ready(data: &Path, pid: u32) -> bool {
    let Ok(text) = fs::read_to_string(data.join("postmaster.pid")) else {
        return false;
    };
    let mut lines = text.lines();
    lines.next() == Some(&pid.to_string()) && lines.nth(6).is_some_and(|status| status.trim() == "ready")
}
