//! A PostgreSQL server to start private instances from.

use std::fs;
use std::path::Path;

use faucet_tests::postgres::Installation;

use super::apt;
use crate::failure::{Failure, Result};

/// The installed server; installs Debian's where there is none.
pub fn ensure() -> Result<Installation> {
    let missing = match faucet_tests::postgres::find() {
        Ok(installation) => return Ok(installation),
        Err(reason) => reason,
    };
    if !apt::is_usable() {
        return Err(Failure::Environment(missing));
    }
    without_a_system_cluster(|| apt::install(&["postgresql"], "private test servers"))?;
    faucet_tests::postgres::find().map_err(Failure::Environment)
}

/// Debian's package makes and starts a cluster of its own; nobody asked for one, so it is told not to.
fn without_a_system_cluster(install: impl FnOnce() -> Result<()>) -> Result<()> {
    let folder = Path::new("/etc/postgresql-common/createcluster.d");
    let ours = folder.join("faucet-no-main-cluster.conf");
    fs::create_dir_all(folder)?;
    fs::write(&ours, "create_main_cluster = false\n")?;
    let outcome = install();
    fs::remove_file(&ours)?;
    outcome
}
