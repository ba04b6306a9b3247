//! Valgrind, whose callgrind counts instructions.

use super::apt;
use crate::failure::{Failure, Result};
use crate::process;

/// Makes sure that it is there; installs Debian's where it isn't.
pub fn ensure() -> Result<()> {
    if process::which("valgrind").is_some() {
        return Ok(());
    }
    if !apt::is_usable() {
        return Err(Failure::Environment("valgrind is missing: the tests that count instructions need it".to_owned()));
    }
    apt::install(&["valgrind"], "tests that count instructions")
}
