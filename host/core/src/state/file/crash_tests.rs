//! Processes that die while they write. The child is this test binary, told by an environment variable what to do.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::failpoint;

/// Names the folder in which the child writes; unset in the parent.
const FOLDER: &str = "FAUCET_STATE_CRASH_FOLDER";

fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// The child: raises the number under `k` without end, and says each number once it is durable.
#[test]
fn child_that_writes_without_end() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    block(async {
        let store = FileStore::open(folder, None).await.unwrap();
        loop {
            let (number, expect) = match store.get("k").await.unwrap() {
                Some(stored) => (stored.value.as_u64().unwrap(), Expect::Version(stored.version)),
                None => (0, Expect::Absent),
            };
            match store.put("k", &json!(number + 1), expect).await {
                Ok(_) => say(number + 1),
                Err(error) => assert_eq!(error.code().id, "state.conflict"),
            }
        }
    });
}

/// In one write, so that a process killed meanwhile says all of it or nothing.
fn say(number: u64) {
    std::io::stdout().write_all(format!("durable {number}\n").as_bytes()).unwrap();
}

/// A child, and what it says.
struct Running {
    child: Child,
    lines: Box<dyn Iterator<Item = u64>>,
    /// The last number it said was durable, and how often it said one.
    last: u64,
    count: u64,
}

impl Running {
    fn start(folder: &Path, failpoint: Option<&str>) -> Self {
        let name = "state::file::crash_tests::child_that_writes_without_end";
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(FOLDER, folder);
        match failpoint {
            Some(failpoint) => command.env(failpoint::VARIABLE, failpoint),
            None => command.env_remove(failpoint::VARIABLE),
        };
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let lines = lines.filter_map(|line| line.split_once("durable ")?.1.parse().ok());
        Self { child, lines: Box::new(lines), last: 0, count: 0 }
    }

    /// Waits until it has said `count` numbers, or has ended.
    fn wait_for(&mut self, count: u64) {
        while self.count < count
            && let Some(number) = self.lines.next()
        {
            self.last = number;
            self.count += 1;
        }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.wait_for(u64::MAX);
        self.child.wait().unwrap();
    }
}

fn stored(folder: &Path) -> Option<u64> {
    let store = block(FileStore::open(folder, None)).unwrap();
    block(store.get("k")).unwrap().map(|stored| stored.value.as_u64().unwrap())
}

fn temporaries(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with(TEMPORARY)).count()
}

#[test]
fn a_process_that_dies_in_the_middle_of_a_write_leaves_the_old_value() {
    let folder = TempDir::new().unwrap();
    let mut child = Running::start(folder.path(), Some("mid_state_write:3"));
    child.wait_for(u64::MAX);
    assert!(!child.child.wait().unwrap().success());
    assert_eq!((child.last, child.count), (2, 2));
    assert_eq!(temporaries(folder.path()), 1, "the third value was written beside the second");
    assert_eq!(stored(folder.path()), Some(2));
    assert_eq!(temporaries(folder.path()), 0, "opening removed it");
}

#[test]
fn a_process_killed_at_any_instant_loses_nothing_it_called_durable() {
    let folder = TempDir::new().unwrap();
    let mut before = 0;
    for round in 0..15 {
        let mut child = Running::start(folder.path(), None);
        child.wait_for(1 + round % 4);
        std::thread::sleep(Duration::from_micros(round * 317));
        child.kill();
        let now = stored(folder.path()).unwrap();
        assert!(child.last > before, "it went on from what the last one left");
        assert!(now == child.last || now == child.last + 1, "{} was durable, {now} is stored", child.last);
        before = now;
    }
}

#[test]
fn two_processes_never_both_win() {
    let folder = TempDir::new().unwrap();
    let mut children = [Running::start(folder.path(), None), Running::start(folder.path(), None)];
    children.iter_mut().for_each(|child| child.wait_for(10));
    children.iter_mut().for_each(Running::kill);
    let counts = children.map(|child| child.count);
    let said = counts.iter().sum::<u64>();
    let raises = stored(folder.path()).unwrap();
    // Each raise was said once, except that a process may have died between writing and saying so.
    assert!(said <= raises && raises <= said + 2, "{counts:?} for {raises}");
    assert!(counts.iter().all(|count| *count >= 10), "{counts:?}");
}
