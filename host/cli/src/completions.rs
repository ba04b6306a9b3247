//! `faucet completions SHELL`.

use clap::CommandFactory;
use std::io;

use crate::args::{Cli, CompletionsArgs};
use crate::display::Failure;

/// Prints the completion script.
pub fn execute(args: &CompletionsArgs) -> Result<(), Failure> {
    clap_complete::generate(args.shell, &mut Cli::command(), "faucet", &mut io::stdout());
    Ok(())
}
