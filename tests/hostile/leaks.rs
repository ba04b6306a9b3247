//! Instances come and go; memory does not grow with them.

use crate::lair::{apply, load, open, page, plain_page, spec, villain, wait};
use faucet_core::config::Part;
use faucet_core::ports::{SinkContext, SourceContext};
use serde_json::json;

/// Resident memory of this process, in KiB (`proc(5)`).
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

/// Runs a test of this file in a process of its own: other tests allocate. Its cycles may grow memory by so many KiB.
fn assert_flat(test: &str, cycles: usize, most: u64, cycle: impl Fn()) {
    const CHILD: &str = "FAUCET_TEST_LEAKS";
    if std::env::var_os(CHILD).is_some() {
        (0..50).for_each(|_| cycle());
        let before = resident();
        (0..cycles).for_each(|_| cycle());
        let grown = resident().saturating_sub(before);
        assert!(grown < most, "resident memory grew by {grown} KiB over {cycles} cycles");
        return;
    }
    let this = std::env::current_exe().unwrap();
    let name = format!("leaks::{test}");
    let output = std::process::Command::new(this).args(["--exact", &name, "--nocapture"]).env(CHILD, "1").output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn instances_leave_nothing_behind() {
    assert_flat("instances_leave_nothing_behind", 250, 4096, || {
        apply(&mut villain().open(json!("good")).unwrap(), page()).unwrap();
        // A trap, twice, with a backtrace and the words of the guest.
        apply(&mut open("use-panic").unwrap(), page()).unwrap_err();
    });
}

/// The compiled component goes with the last of its plugin. One that stayed would be a thousand times a third of a MiB.
#[test]
fn plugins_leave_nothing_behind() {
    assert_flat("plugins_leave_nothing_behind", 1000, 16_384, || {
        let mut echo = load(&spec("echo.wasm")).unwrap().open(json!("buffers")).unwrap();
        apply(&mut echo, page()).unwrap();
    });
}

#[test]
fn sources_and_sinks_leave_nothing_behind() {
    assert_flat("sources_and_sinks_leave_nothing_behind", 500, 16_384, || {
        let Part::Source(source) = Part::from(load(&spec("hostile_source.wasm")).unwrap()) else { panic!("a source") };
        for mode in ["good", "use-panic"] {
            let mut session = wait(source.open(&json!({ "mode": mode }), SourceContext::default())).unwrap();
            while let Ok(Some(_)) = wait(session.next()) {}
        }
        let Part::Sink(sink) = Part::from(load(&spec("hostile_sink.wasm")).unwrap()) else { panic!("a sink") };
        for mode in ["good", "write-panic"] {
            let mut session = wait(sink.open(&json!({ "mode": mode }), SinkContext::default())).unwrap();
            if wait(session.write(plain_page())).is_ok() {
                wait(session.commit(None)).unwrap();
            }
        }
    });
}
