//! `faucet plugin pull`: components from their registries, for a configuration or into a file.

use faucet_core::config::{ConfigText, ProcessSurroundings, references};
use faucet_registry::{Fetched, Mode, Reference, Report, lock_all};
use serde_json::json;
use std::path::Path;

use super::push::client;
use crate::args::{Global, Output, PluginPullArgs};
use crate::display::Failure;
use crate::{plugins, session};

/// Pulls, and prints what is new.
pub fn execute(global: &Global, args: &PluginPullArgs) -> Result<(), Failure> {
    match &args.file {
        Some(file) => one(global, args, file),
        None => all(global, args),
    }
}

fn one(global: &Global, args: &PluginPullArgs, file: &Path) -> Result<(), Failure> {
    let reference: Reference = args.what.parse()?;
    let client = client(args.plain_http)?;
    let pulled = session::block_on(client.pull(&reference))??;
    pulled.write_to(file)?;
    let pinned = reference.pinned(pulled.manifest);
    match (global.output, global.quiet) {
        (Output::Json, _) => println!(
            "{}",
            json!({ "reference": pinned.to_string(), "sha256": pulled.component.hex(), "file": file.display().to_string() })
        ),
        (Output::Text, false) => println!("{pinned} is in {}", file.display()),
        (Output::Text, true) => {}
    }
    Ok(())
}

fn all(global: &Global, args: &PluginPullArgs) -> Result<(), Failure> {
    let path = Path::new(&args.what);
    if !path.exists() && args.what.parse::<Reference>().is_ok() {
        return Err(Failure::Usage(format!(
            "there is no configuration '{0}'; to pull the component {0}, name a file for it by \
                                           --file",
            args.what
        )));
    }
    let text = ConfigText::read(path)?;
    let found = match references(&text, &ProcessSurroundings::new(text.folder.clone())) {
        Ok(found) => found,
        Err(report) => return Err(Failure::Config { report, text: text.text }),
    };
    let parse = |(name, reference): &(String, String)| {
        reference.parse::<Reference>().map_err(|error| error.context(format!("plugins.{name}.oci")))
    };
    let wanted = found.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let mode = match (args.locked, args.update) {
        (true, _) => Mode::Locked,
        (_, true) => Mode::Update,
        _ => Mode::Add,
    };
    let (store, lock) = (plugins::store()?, plugins::lock_file(&text.folder));
    let client = client(args.plain_http)?;
    let report = session::block_on(lock_all(&wanted, &lock, mode, &store, &client))??;
    print(global, &report);
    Ok(())
}

fn print(global: &Global, report: &Report) {
    match (global.output, global.quiet) {
        (Output::Json, _) => report.fetched.iter().for_each(|fetched| println!("{}", as_json(fetched))),
        (Output::Text, false) if report.fetched.is_empty() => println!("no plugin of this configuration has `oci`"),
        (Output::Text, false) => report.fetched.iter().for_each(|fetched| println!("{}", as_text(fetched))),
        (Output::Text, true) => {}
    }
}

fn as_text(fetched: &Fetched) -> String {
    let what = match (&fetched.before, fetched.added, fetched.downloaded) {
        (Some(before), _, _) => format!("was {}", before.component),
        (None, true, _) => "locked now".to_owned(),
        (None, false, true) => "fetched again".to_owned(),
        (None, false, false) => "as locked".to_owned(),
    };
    format!("{}  {} ({what})", fetched.reference, fetched.locked.component)
}

fn as_json(fetched: &Fetched) -> serde_json::Value {
    json!({
        "reference": fetched.reference.to_string(),
        "manifest": fetched.locked.manifest.to_string(),
        "component": fetched.locked.component.to_string(),
        "before": fetched.before.map(|before| before.component.to_string()),
        "added": fetched.added,
        "downloaded": fetched.downloaded,
    })
}
