//! Programs that Debian has a package for.

use super::apt;
use crate::failure::{Failure, Result};
use crate::process;

/// Makes sure that `program`, which `whoever` needs, is there; installs Debian's package of the same name where it isn't.
pub fn ensure(program: &str, whoever: &str) -> Result<()> {
    if process::which(program).is_some() {
        return Ok(());
    }
    if !apt::is_usable() {
        return Err(Failure::Environment(format!("{program} is missing: {whoever} need it")));
    }
    apt::install(&[program], whoever)
}
