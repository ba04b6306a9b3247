//! The command `faucet`: arguments in, exit codes out; one file per command.
//!
//! Exit codes: 0 done (or stopped in good order), 1 the run failed, 2 the configuration or the arguments are wrong,
//! 3 the environment is (a file, a permission, a missing runtime).
//!
//! This crate alone prints and exits.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod bundled;
mod catalog;
mod completions;
mod display;
mod doctor;
mod drop_mirror;
mod explain;
mod init;
mod list;
mod load;
mod logging;
mod look;
mod mirror;
mod plugin;
mod plugins;
mod progress;
mod recipe;
mod record;
mod replay;
mod run;
mod schema;
mod screen;
mod session;
mod snippet;
mod trace;
mod validate;

use clap::Parser;
use std::process::ExitCode;

use args::{Cli, Command, MirrorCommand};
use display::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            display::print(&failure, cli.global.output);
            failure.exit_code()
        }
    }
}

fn dispatch(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Run(args) => run::execute(&cli.global, args),
        Command::Mirror(args) => match (&args.command, &args.config) {
            (Some(MirrorCommand::Drop(args)), _) => drop_mirror::execute(&cli.global, args),
            (None, Some(config)) => mirror::execute(&cli.global, config, mirror::existing(args)),
            (None, None) => Err(Failure::Usage("a configuration is needed: faucet mirror CONFIG".to_owned())),
        },
        Command::Doctor(args) => doctor::execute(&cli.global, args),
        Command::Validate(args) => validate::execute(&cli.global, args),
        Command::Trace(args) => trace::execute(&cli.global, args),
        Command::Record(args) => record::execute(&cli.global, args),
        Command::Replay(args) => replay::execute(&cli.global, args),
        Command::Plugin(args) => plugin::execute(&cli.global, &args.command),
        Command::Schema(args) => schema::execute(args),
        Command::List(args) => list::execute(&cli.global, args),
        Command::Explain(args) => explain::execute(args),
        Command::Init(args) => init::execute(args),
        Command::Completions(args) => completions::execute(args),
    }
}
