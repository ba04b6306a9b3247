//! `cargo xtask ci`: every test, then the dependency rules of `deny.toml` where cargo-deny is at hand.

use crate::failure::Result;
use crate::{process, test};

/// Runs it all.
pub fn run() -> Result<()> {
    test::run(&test::Arguments::everything())?;
    if process::which("cargo-deny").is_none() {
        // The licences are checked by a test of ours as well; the rest waits for a machine that has it.
        println!("cargo-deny is not installed: bans, sources and advisories were not checked");
        return Ok(());
    }
    process::run(&mut process::cargo(&["deny", "--locked", "check", "licenses", "bans", "sources"]))
}
