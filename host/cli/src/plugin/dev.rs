//! `faucet plugin dev`: builds and tests a project whenever one of its files changes. A pipeline that runs with
//! `reload: on_change` takes each new component up.

use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use super::project::Project;
use super::{build, test};
use crate::args::{Global, PluginTestArgs, ProjectArgs};
use crate::display::{self, Failure};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_millis(300);

/// Folders that hold what tools make and what is not edited.
const NOT_WATCHED: [&str; 7] = ["vendor", "faucet", "target", "node_modules", "__pycache__", "packages", "dist"];

/// Builds and tests now, and after every change, until it is stopped.
pub fn execute(global: &Global, args: &ProjectArgs) -> Result<(), Failure> {
    let mut seen = None;
    loop {
        let project = Project::open(&args.folder)?;
        let now = newest(&project.folder);
        if now != seen {
            seen = now;
            if let Err(failure) = once(global, &project) {
                // Whatever it is, the next change may mend it.
                display::print(&failure, global.output);
            }
            println!("waiting for a change in {}", project.folder.display());
        }
        thread::sleep(LOOK);
    }
}

fn once(global: &Global, project: &Project) -> Result<(), Failure> {
    build::build(project)?;
    test::execute(global, &PluginTestArgs { folder: project.folder.clone(), component: None })
}

/// When the newest file of a project was changed, and how many there are: one that is removed is a change too.
fn newest(folder: &Path) -> Option<(SystemTime, usize)> {
    let mut found: Option<(SystemTime, usize)> = None;
    for entry in folder.read_dir().ok()?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || NOT_WATCHED.contains(&name.as_str()) || name.contains(".wasm") {
            continue;
        }
        let Ok(meta) = entry.metadata() else { continue };
        let changed = match meta.is_dir() {
            true => newest(&entry.path()),
            false => meta.modified().ok().map(|moment| (moment, 1)),
        };
        if let Some((moment, files)) = changed {
            let (last, count) = found.unwrap_or((moment, 0));
            found = Some((last.max(moment), count + files));
        }
    }
    found
}
