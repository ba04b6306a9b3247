//! `faucet plugin test`: the cases of a project, and what every component has to bear, in the real host.

use std::path::Path;

use faucet_wasm::Plugin;
use faucet_wasm::cases::{self, Case, Verdict};
use faucet_wasm::trials::{self, Trial};
use serde_json::{Value, json};

use super::project::Project;
use super::subject;
use crate::args::{Global, Output, PluginTestArgs};
use crate::display::Failure;
use crate::session;

/// Runs them all; fails if one of them does.
pub fn execute(global: &Global, args: &PluginTestArgs) -> Result<(), Failure> {
    let component = match &args.component {
        Some(file) => file.clone(),
        None => Project::open(&args.folder)?.component(),
    };
    let folder = args.folder.join("cases");
    let cases = cases::read(&folder).map_err(Failure::Usage)?;
    if cases.is_empty() {
        return Err(Failure::Usage(format!("there is no case in {}", folder.display())));
    }
    let results = session::block_on(run(&component, &cases))??;
    report(global, &results)
}

/// Runs cases and trials on a component.
pub async fn run(component: &Path, cases: &[Case]) -> Result<Vec<Trial>, Failure> {
    let mut results = Vec::new();
    for case in cases {
        let scratch = tempfile::tempdir().map_err(|error| Failure::Usage(error.to_string()))?;
        let plugin = subject::load_with_folders(component, scratch.path())?;
        let verdict = cases::run(&plugin, case, scratch.path()).await;
        results.push(Trial { what: case.case.clone(), failure: explained(&verdict) });
    }
    let scratch = tempfile::tempdir().map_err(|error| Failure::Usage(error.to_string()))?;
    let plugin: Plugin = subject::load_with_folders(component, scratch.path())?;
    let trials = trials::run(&plugin, cases).await;
    results.extend(trials);
    Ok(results)
}

fn explained(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Passed => None,
        Verdict::Unreadable(why) => Some(format!("the case can't be read: {why}")),
        Verdict::Differs { wanted, got } => {
            let mut lines = Vec::new();
            differences("", wanted, got, &mut lines);
            Some(lines.join("\n"))
        }
    }
}

/// Differences that are shown of one case.
const SHOWN: usize = 10;

/// Where two values differ, one line each.
fn differences(at: &str, wanted: &Value, got: &Value, out: &mut Vec<String>) {
    if wanted == got || out.len() > SHOWN {
        return;
    }
    match (wanted, got) {
        (Value::Object(w), Value::Object(g)) => {
            for key in w.keys().chain(g.keys().filter(|key| !w.contains_key(*key))) {
                let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                differences(&path, w.get(key).unwrap_or(&Value::Null), g.get(key).unwrap_or(&Value::Null), out);
            }
        }
        (Value::Array(w), Value::Array(g)) if w.len() == g.len() => {
            for (nth, (w, g)) in w.iter().zip(g).enumerate() {
                differences(&format!("{at}[{nth}]"), w, g, out);
            }
        }
        _ => out.push(format!("{at}: wanted {wanted}, got {got}")),
    }
}

fn report(global: &Global, results: &[Trial]) -> Result<(), Failure> {
    let failed = results.iter().filter(|tried| tried.failure.is_some()).count();
    match global.output {
        Output::Json => {
            let one =
                |tried: &Trial| json!({ "case": tried.what, "passed": tried.failure.is_none(), "why": tried.failure });
            println!("{}", json!({ "failed": failed, "results": results.iter().map(one).collect::<Vec<_>>() }));
        }
        Output::Text => {
            results.iter().for_each(|tried| print(tried, global.quiet));
            println!("{} passed, {failed} failed", results.len() - failed);
        }
    }
    if failed == 0 { Ok(()) } else { Err(Failure::Found) }
}

fn print(tried: &Trial, quiet: bool) {
    match &tried.failure {
        None if quiet => {}
        None => println!("ok      {}", tried.what),
        Some(why) => {
            println!("FAILED  {}", tried.what);
            why.lines().for_each(|line| println!("        {line}"));
        }
    }
}
