//! The two mirrors: their configurations, as a user would write them, and their processes.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use faucet_tests::wait::try_eventually;
use faucet_tests::watchdog::{Watchdog, signal};

use crate::failure::{Failure, Result};

/// One table, mirrored by one process.
pub struct Mirror {
    /// The table, on both sides.
    pub table: &'static str,
    /// The SQLite file it is mirrored into.
    pub database: PathBuf,
    config: PathBuf,
    text: String,
    process: Option<(Watchdog, Child)>,
}

impl Mirror {
    /// Orders, as they are.
    pub fn orders(folder: &Path, url: &str) -> Self {
        Self::new("orders", folder, &configuration("orders", url, ""))
    }

    /// Customers, with their addresses masked by a component that the binary carries.
    pub fn customers(folder: &Path, url: &str) -> Self {
        let mask = "    - type: mask\n      config: { columns: { email: { method: partial, keep_first: 1, \
                    keep_domain: true } } }\n";
        Self::new("customers", folder, &configuration("customers", url, mask))
    }

    fn new(table: &'static str, folder: &Path, text: &str) -> Self {
        let (config, database) = (folder.join(format!("{table}.yaml")), folder.join(format!("{table}.db")));
        Self { table, database, config, text: text.to_owned(), process: None }
    }

    /// Writes the configuration and starts `faucet mirror`, its log beside it.
    pub fn start(&mut self, faucet: &Path) -> Result<()> {
        std::fs::write(&self.config, &self.text)?;
        let log = File::create(self.config.with_extension("log"))?;
        let mut command = Command::new(faucet);
        command.arg("mirror").arg(&self.config).current_dir(self.folder());
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn()?;
        self.process = Some((Watchdog::over(child.id(), "KILL", None), child));
        Ok(())
    }

    /// An error if the process ended by itself.
    pub fn check(&mut self) -> Result<()> {
        let ended = match &mut self.process {
            Some((_, child)) => child.try_wait()?,
            None => None,
        };
        ended.map_or(Ok(()), |status| Err(self.failed(&format!("ended with {status}"))))
    }

    /// Asks it to stop, as a supervisor would, and expects a good end.
    pub fn stop(&mut self) -> Result<()> {
        let Some((watchdog, mut child)) = self.process.take() else { return Ok(()) };
        signal(child.id(), "TERM");
        let ended = try_eventually(Duration::from_secs(40), || match child.try_wait() {
            Ok(Some(status)) => Ok(status),
            Ok(None) => Err("did not end after SIGTERM".to_owned()),
            Err(e) => Err(e.to_string()),
        });
        drop(watchdog);
        match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.failed(&format!("ended with {status}"))),
            Err(reason) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(self.failed(&reason))
            }
        }
    }

    /// Rows at the destination; 0 before it has the table.
    pub fn rows(&self) -> u64 {
        let rows = faucet_tests::sqlite_rows(&self.database, &format!("SELECT count(*) FROM {}", self.table));
        let count = rows.ok().and_then(|rows| rows.first()?.first()?.as_ref()?.parse().ok());
        count.unwrap_or(0)
    }

    fn folder(&self) -> &Path {
        self.config.parent().unwrap_or(&self.config)
    }

    fn failed(&self, what: &str) -> Failure {
        let log = std::fs::read_to_string(self.config.with_extension("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines[lines.len().saturating_sub(15)..].join("\n");
        Failure::new(format!("`faucet mirror {}.yaml` {what}\n{tail}", self.table))
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        if let Some((watchdog, mut child)) = self.process.take() {
            drop(watchdog);
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn configuration(table: &str, url: &str, transforms: &str) -> String {
    format!(
        r#"version: 1
name: shop_{table}

pipeline:
  source:
    type: postgres-cdc
    config:
      connection_url: {url}
      slot_name: shop_{table}
      publication_name: shop_{table}
      create_slot_if_missing: true
  transforms:
    - type: cdc_unwrap
      config: {{}}
{transforms}  sink:
    type: sqlite
    config:
      path: {table}.db
      table_name: {table}
      create_table: true
      write_mode: upsert
      key: [id]
      delete_marker: {{ field: __op, values: [d] }}
  state: {{ type: file, config: {{ path: state }} }}
mirror:
  mode: snapshot_then_cdc
  continuous: true
  snapshot:
    source:
      type: postgres
      config: {{ connection_url: {url}, query: "SELECT * FROM {table}" }}
"#
    )
}
