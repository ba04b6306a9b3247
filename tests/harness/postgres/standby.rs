//! A second server that follows a first one by physical replication, and can take over.

use std::fs;
use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use super::{Postgres, SUPERUSER};
use crate::scratch::Scratch;
use crate::wait::eventually;

/// The standby's slot at its primary.
pub const STANDBY_SLOT: &str = "standby";

impl Postgres {
    /// A hot standby of this server, with these further lines in its `postgresql.conf`. This server is stopped for the
    /// moment that it takes to copy its data.
    #[track_caller]
    pub fn standby(&mut self, settings: &[(&str, &str)]) -> Self {
        let slot = format!("SELECT pg_create_physical_replication_slot('{STANDBY_SLOT}', true)");
        self.connect("postgres").execute(&slot);
        self.stop();
        let dir = self.copied();
        self.restart();
        let mut standby = Self {
            install: self.install.clone(),
            account: self.account,
            password: self.password.clone(),
            port: 0,
            process: None,
            dir,
        };
        standby.follow(self, settings).expect("the standby's files can be written");
        standby.start_on_a_free_port().unwrap_or_else(|reason| panic!("{reason}"));
        standby
    }

    /// Ends this server's following: from here on it takes writes, on a timeline of its own.
    #[track_caller]
    pub fn promote(&self) {
        self.connect("postgres").execute("SELECT pg_promote()");
    }

    /// Waits until this standby has replayed all that its primary has logged by now.
    #[track_caller]
    pub fn catches_up(&self, primary: &Self) {
        let end = primary.connect("postgres").one("SELECT pg_current_wal_flush_lsn()");
        let here = self.connect("postgres");
        eventually(Duration::from_secs(30), "the standby to replay the primary's log", || {
            let sql = format!("SELECT pg_last_wal_replay_lsn() >= '{end}'");
            if here.one(&sql) == "t" { Ok(()) } else { Err(format!("it is not at {end}")) }
        });
    }

    fn copied(&self) -> Scratch {
        let dir = Scratch::new("standby");
        let copy = Command::new("cp").arg("-a").arg(self.dir.path()).arg(dir.path().join("whole")).status();
        assert!(copy.is_ok_and(|status| status.success()), "the data folder can be copied");
        // What lies in a server's folder lies in the standby's, too.
        for entry in fs::read_dir(dir.path().join("whole")).into_iter().flatten().flatten() {
            fs::rename(entry.path(), dir.path().join(entry.file_name())).expect("a copied file can be moved");
        }
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(dir.path(), open).expect("the folder can be opened to the server's account");
        let _ = fs::remove_file(dir.path().join("server.log"));
        // Slots are a server's own: a base backup leaves them out, too.
        for slot in fs::read_dir(dir.path().join("data/pg_replslot")).into_iter().flatten().flatten() {
            let _ = fs::remove_dir_all(slot.path());
        }
        dir
    }

    fn follow(&self, primary: &Self, settings: &[(&str, &str)]) -> std::io::Result<()> {
        let data = self.data_dir();
        let (port, password) = (primary.port, &primary.password);
        // Slots are synchronized over a connection to a database.
        let conninfo = format!(
            "host=127.0.0.1 port={port} user={SUPERUSER} password={password} dbname=postgres application_name=standby"
        );
        let socket = self.dir.path().join("socket").display().to_string();
        let ours = [
            ("primary_conninfo", conninfo.as_str()),
            ("primary_slot_name", STANDBY_SLOT),
            ("hot_standby_feedback", "on"),
            ("wal_receiver_status_interval", "1s"),
            ("unix_socket_directories", &socket),
        ];
        let mut file = fs::File::options().append(true).open(data.join("postgresql.conf"))?;
        for (key, value) in ours.iter().chain(settings) {
            writeln!(file, "{key} = '{}'", value.replace('\'', "''"))?;
        }
        fs::write(data.join("standby.signal"), "")?;
        self.account.own(&data.join("standby.signal"))
    }
}
