//! Which transform of the recorded pipeline is meant, and its configuration.

use faucet_core::config::{ConfigText, Purpose};
use faucet_core::error::Error;
use faucet_core::recording::{Origin, Step};
use serde_json::Value;
use std::path::Path;

use super::NO_SUCH_STEP;
use crate::args::{Global, ReplayArgs};
use crate::display::Failure;
use crate::load;
use crate::look::config_digest;

/// A transform of the recorded pipeline.
pub struct Chosen {
    /// Its number; the first is 1.
    pub number: u32,
    /// Its type.
    pub name: String,
    /// The configuration to open components with.
    pub config: Value,
}

impl Chosen {
    /// The transform that the arguments mean.
    pub fn find(global: &Global, args: &ReplayArgs, origin: &Origin) -> Result<Self, Failure> {
        let (number, step) = choose(args, origin)?;
        let config = match &args.plugin_config {
            Some(file) => by_itself(file)?,
            None => of_pipeline(global, args, origin, (number, step))?,
        };
        if config_digest(&config) != step.config && !global.quiet {
            eprintln!(
                "warning: the configuration of '{}' is not the recorded one; differences may come from that",
                step.name
            );
        }
        Ok(Self { number: number as u32, name: step.name.clone(), config })
    }
}

/// The number of a step, from 1, and the step.
type Numbered<'a> = (usize, &'a Step);

fn choose<'a>(args: &ReplayArgs, origin: &'a Origin) -> Result<Numbered<'a>, Error> {
    let steps = || (1..).zip(&origin.steps);
    let stem = args.plugin.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut fitting: Vec<Numbered<'_>> = match &args.step {
        Some(wanted) => {
            steps().filter(|(number, step)| step.name == *wanted || number.to_string() == *wanted).collect()
        }
        None => steps().filter(|(_, step)| step.name == stem).collect(),
    };
    if fitting.is_empty() && args.step.is_none() {
        fitting = steps().filter(|(_, step)| step.digest.is_some()).collect();
    }
    match fitting.as_slice() {
        [one] => Ok(*one),
        _ => Err(unclear(origin, fitting.len())),
    }
}

fn unclear(origin: &Origin, fitting: usize) -> Error {
    let steps: Vec<String> = (1..).zip(&origin.steps).map(|(number, step)| format!("{number} {}", step.name)).collect();
    let steps = if steps.is_empty() { "none".to_owned() } else { steps.join(", ") };
    let what = format!("{fitting} transforms of the recorded pipeline '{}' could be meant", origin.pipeline);
    Error::new(&NO_SUCH_STEP, what).hint(format!("name one by --step; its transforms are: {steps}"))
}

fn by_itself(file: &Path) -> Result<Value, Failure> {
    let unreadable = |why: String| Failure::Usage(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
    serde_yaml::from_str(&text).map_err(|error| unreadable(error.to_string()))
}

fn of_pipeline(
    global: &Global,
    args: &ReplayArgs,
    origin: &Origin,
    (number, step): Numbered<'_>,
) -> Result<Value, Failure> {
    let recorded = origin.config.as_deref().map(Path::new);
    let Some(path) = args.config.as_deref().or(recorded) else {
        let what = "the recorded pipeline's configuration was no file";
        return Err(Error::new(&NO_SUCH_STEP, what).hint("name one by --config or --plugin-config").into());
    };
    // Read first, so that a file that is gone is told with what to do about it.
    ConfigText::read(path).map_err(|error| error.hint("name the configuration by --config or --plugin-config"))?;
    let plan = load::plan(path, Purpose::Run, global.quiet)?.plan;
    let stage = plan.transforms.get(number - 1).filter(|stage| stage.kind.name() == step.name);
    let missing = || {
        let what = format!("transform {number} of {} is not '{}' any more", path.display(), step.name);
        Error::new(&NO_SUCH_STEP, what).hint("name another configuration by --config, or --plugin-config")
    };
    Ok(stage.ok_or_else(missing)?.config.clone())
}
