//! A machine on which an instance gets no memory.

use crate::built::component;
use faucet_tests::faucet::binary;
use std::process::Command;

#[test]
fn what_the_machine_refuses_is_not_the_plugin_s_fault() {
    let file = component("examples/plugins/uppercase", "uppercase");
    let script = "ulimit -v 3000000; exec \"$0\" plugin inspect \"$1\"";
    let output = Command::new("sh").args(["-c", script]).arg(binary()).arg(file).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let flowing = told.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(!output.status.success() && flowing.contains("plugin.engine"), "{told}");
    assert!(flowing.contains("can't be started: ") && flowing.contains("`ulimit -v`"), "{told}");
}
