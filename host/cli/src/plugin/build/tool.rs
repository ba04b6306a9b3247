//! The tools that builds run.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::display::Failure;

/// A command of a build.
pub struct Tool {
    command: Command,
    name: String,
    /// How to get it.
    install: &'static str,
}

impl Tool {
    /// A program, found as the shell finds it.
    pub fn new(program: impl AsRef<OsStr>, install: &'static str) -> Self {
        let name = program.as_ref().to_string_lossy().into_owned();
        Self { command: Command::new(program), name, install }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it in a folder. What it prints is shown if it fails.
    pub fn run(mut self, folder: &Path) -> Result<(), Failure> {
        let output = self.command.current_dir(folder).output().map_err(|error| {
            Failure::Usage(format!("can't run {}: {error}. It is needed to build this: {}", self.name, self.install))
        })?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        Err(Failure::Usage(format!("{} failed ({}):\n{}", self.name, output.status, said.trim_end())))
    }

    /// Whether it is there and runs with these arguments.
    pub fn works(mut self) -> bool {
        self.command.output().is_ok_and(|output| output.status.success())
    }
}
