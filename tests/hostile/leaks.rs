//! Instances come and go; memory does not grow with them.

use crate::lair::{apply, open, page, villain};
use serde_json::json;

/// Resident memory of this process, in KiB (`proc(5)`).
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

/// Runs in a process of its own: other tests allocate.
#[test]
fn instances_leave_nothing_behind() {
    const CHILD: &str = "FAUCET_TEST_LEAKS";
    if std::env::var_os(CHILD).is_some() {
        return measure();
    }
    let this = std::env::current_exe().unwrap();
    let arguments = ["--exact", "leaks::instances_leave_nothing_behind", "--nocapture"];
    let output = std::process::Command::new(this).args(arguments).env(CHILD, "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn measure() {
    let cycle = || {
        apply(&mut villain().open(json!("good")).unwrap(), page()).unwrap();
        // A trap, twice, with a backtrace and the words of the guest.
        apply(&mut open("use-panic").unwrap(), page()).unwrap_err();
    };
    (0..50).for_each(|_| cycle());
    let before = resident();
    (0..250).for_each(|_| cycle());
    let grown = resident().saturating_sub(before);
    assert!(grown < 4096, "resident memory grew by {grown} KiB over 250 instances and 500 traps");
}
