//! Running other programs.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::failure::{Failure, Result};
use crate::workspace;

static GUEST_COMPILER: OnceLock<PathBuf> = OnceLock::new();

/// Has every later cargo build components with this compiler.
pub fn build_guests_with(compiler: PathBuf) {
    // For this process, which runs such builds too. The first one stays: there is one fallback.
    let _ = GUEST_COMPILER.set(compiler);
}

static TOOLS: OnceLock<PathBuf> = OnceLock::new();

/// Has every later cargo find programs in this folder first.
pub fn find_tools_in(folder: PathBuf) {
    // The first one stays: there is one.
    let _ = TOOLS.set(folder);
}

/// The compiler components are built with, if not the active one.
pub fn guest_compiler() -> Option<&'static Path> {
    GUEST_COMPILER.get().map(PathBuf::as_path)
}

/// The cargo that runs us, in the root of the checkout, with our target folder.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace::root()).env("CARGO_TARGET_DIR", workspace::target());
    if let Some(compiler) = GUEST_COMPILER.get() {
        command.env(faucet_guest_build::COMPILER, compiler);
    }
    let mut command = with_tools(command);
    // Set for us by `cargo run`; they would describe xtask to whatever is built next.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|n| n.starts_with("CARGO_PKG_") || n.starts_with("CARGO_MANIFEST_")) {
            command.env_remove(name);
        }
    }
    command
}

/// The command with the tools of [`find_tools_in`] on its path.
pub fn with_tools(mut command: Command) -> Command {
    if let Some(tools) = TOOLS.get() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(tools.clone()).chain(std::env::split_paths(&path));
        if let Ok(path) = std::env::join_paths(folders) {
            command.env("PATH", path);
        }
    }
    command
}

/// Runs it with our terminal; an error names the command line.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|e| cannot_run(command, &e))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` failed ({status})", display(command))))
}

/// Runs it and returns what it printed; its error output is shown only when it fails.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|e| cannot_run(command, &e))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Failure::new(format!("`{}` failed ({})\n{}", display(command), output.status, text.trim_end())))
}

fn cannot_run(command: &Command, error: &std::io::Error) -> Failure {
    Failure::Environment(format!("cannot run `{}`: {error}", command.get_program().to_string_lossy()))
}

/// The command line as a person would type it.
pub fn display(command: &Command) -> String {
    let mut text = name(command.get_program());
    for argument in command.get_args() {
        let _ = write!(text, " {}", quoted(&argument.to_string_lossy()));
    }
    text
}

fn name(program: &OsStr) -> String {
    let file = Path::new(program).file_name().unwrap_or(program);
    file.to_string_lossy().into_owned()
}

fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

/// Where a program is, if `PATH` has it.
pub fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_can_be_pasted() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["test", "--test", "e2e", "it's one", ""]);
        assert_eq!(display(&command), r"cargo test --test e2e 'it'\''s one' ''");
    }
}
