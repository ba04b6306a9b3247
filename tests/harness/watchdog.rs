//! Kills a child when this process dies, however it dies.
//!
//! A small shell holds the read end of a pipe whose write end only this process has. When the process ends, even by
//! `kill -9`, the kernel closes the pipe, and the shell ends the child and removes its folder. `PR_SET_PDEATHSIG`
//! is no substitute: it fires when the *thread* that started the child ends, and each test is a thread.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Watches over one child process. Dropping it ends the watch and leaves the child alone.
#[derive(Debug)]
pub struct Watchdog {
    shell: Child,
}

const SCRIPT: &str = r#"
cat >/dev/null
kill -"$2" "$1" 2>/dev/null
n=0
while kill -0 "$1" 2>/dev/null && [ $n -lt 100 ]; do sleep 0.05; n=$((n+1)); done
kill -KILL "$1" 2>/dev/null
[ -z "$3" ] || rm -rf "$3"
"#;

impl Watchdog {
    /// Sends `signal` (such as `QUIT`) to process `pid` once this process is gone, and `KILL` 5 s later if that was
    /// not enough; then removes `folder`.
    pub fn over(pid: u32, signal: &str, folder: Option<&Path>) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "faucet-test-watchdog", &pid.to_string(), signal]);
        command.arg(folder.unwrap_or(Path::new("")));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
        outside_our_process_group(&mut command);
        Self { shell: command.spawn().expect("`sh` can be started") }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

/// Keeps Ctrl-C in a terminal from reaching the process: whoever started it decides when it ends.
pub fn outside_our_process_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

/// Sends a signal to a process. `false` if it no longer exists.
pub fn signal(pid: u32, name: &str) -> bool {
    let mut command = Command::new("kill");
    command.arg(format!("-{name}")).arg(pid.to_string()).stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}
