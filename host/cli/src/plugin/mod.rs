//! `faucet plugin`: what an author of plugins, and whoever runs a stranger's, does with a component.

mod bench;
mod build;
mod dev;
mod inspect;
mod kit;
mod new;
pub mod project;
mod pull;
mod push;
pub mod subject;
mod test;
mod verify;

use crate::args::{Global, PluginCommand};
use crate::display::Failure;

/// Runs one of its commands.
pub fn execute(global: &Global, command: &PluginCommand) -> Result<(), Failure> {
    match command {
        PluginCommand::New(args) => new::execute(global, args),
        PluginCommand::Build(args) => build::execute(global, args),
        PluginCommand::Inspect(args) => inspect::execute(global, args),
        PluginCommand::Test(args) => test::execute(global, args),
        PluginCommand::Dev(args) => dev::execute(global, args),
        PluginCommand::Verify(args) => verify::execute(global, args),
        PluginCommand::Bench(args) => bench::execute(global, args),
        PluginCommand::Push(args) => push::execute(global, args),
        PluginCommand::Pull(args) => pull::execute(global, args),
    }
}
