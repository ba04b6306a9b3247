//! `faucet replay FILE --plugin NEW.wasm`: another version of a transform over recorded pages.

mod compared;
mod step;

use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::model::Page;
use faucet_core::pipeline::Chain;
use faucet_core::ports::Output as Made;
use faucet_core::recording::{Entry, Recording};
use faucet_wasm::Role;
use std::path::Path;

use self::compared::Compared;
use self::step::Chosen;
use crate::args::{Global, Output, ReplayArgs};
use crate::display::Failure;
use crate::plugin::subject;
use crate::session;

/// The versions differ.
pub static DIFFERS: Code = Code {
    id: "replay.differs",
    blame: Blame::Plugin,
    retry: Retry::Never,
    title: "the component makes something else of the recorded pages",
    help: "`faucet replay` printed in what: columns with other values and how many rows, pages with other columns or another \
           number of rows, rows rejected. If that is what the new version is for, all is well; the exit code is there for \
           scripts.",
};

/// The recording has no such step.
pub static NO_SUCH_STEP: Code = Code {
    id: "replay.no_such_step",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "it is not clear which transform of the recorded pipeline the component stands for",
    help: "A recording has the pages before and after each transform of its pipeline. Name the one the component replaces by \
           `--step`, with its type or its number; and give its configuration by `--config` or `--plugin-config` if that of the \
           recording can't be read any more.",
};

/// Replays, prints what differs, and fails if anything does.
pub fn execute(global: &Global, args: &ReplayArgs) -> Result<(), Failure> {
    let recording = Recording::open(&args.recording)?;
    let chosen = Chosen::find(global, args, recording.origin())?;
    let compared = session::block_on(replay(recording, args, &chosen))??;
    match global.output {
        Output::Text => print!("{}", compared.text(&chosen.name)),
        Output::Json => println!("{}", compared.json(&chosen.name)),
    }
    match compared.differing {
        0 => Ok(()),
        pages => Err(Error::new(&DIFFERS, format!("{pages} of {} pages differ", compared.pages)).into()),
    }
}

async fn replay(recording: Recording, args: &ReplayArgs, chosen: &Chosen) -> Result<Compared, Failure> {
    let mut candidate = open(&args.plugin, chosen)?;
    let mut other = args.against.as_deref().map(|file| open(file, chosen)).transpose()?;
    let mut compared = Compared::new(args.show);
    let mut inputs = Inputs::of(chosen.number);
    for entry in recording {
        let Some((page, recorded)) = inputs.take(entry?) else { continue };
        let before = match &mut other {
            Some(other) => outcome(other.step(0, page.clone()).await),
            None => Ok(recorded),
        };
        compared.add(&page, &before, &outcome(candidate.step(0, page.clone()).await));
    }
    Ok(compared)
}

/// What a component made of a page; its error as text, because two may well say the same.
fn outcome(applied: Result<(Page, Made)>) -> Result<Made, String> {
    applied.map(|(_, output)| output).map_err(|error| error.to_string())
}

fn open(file: &Path, chosen: &Chosen) -> Result<Chain, Failure> {
    let plugin = subject::load(file)?;
    if plugin.role() != Role::Transform {
        return Err(Failure::Usage(format!("{} is no transform", file.display())));
    }
    Ok(Chain::new(vec![plugin.open(chosen.config.clone())?], true))
}

/// The pages that went into one step (R1 of recordings).
struct Inputs {
    step: u32,
    /// What the step before made and the step has not been applied to yet, in order.
    waiting: std::collections::VecDeque<Page>,
}

impl Inputs {
    fn of(step: u32) -> Self {
        Self { step, waiting: std::collections::VecDeque::new() }
    }

    /// A page that went into the step and what came out of it, once both are known.
    fn take(&mut self, entry: Entry) -> Option<(Page, Made)> {
        match entry {
            Entry::Delivered(page) => {
                self.waiting.clear();
                self.waiting.extend((self.step == 1).then_some(page));
                None
            }
            Entry::Applied { step, pages, .. } if step + 1 == self.step => {
                self.waiting.extend(pages);
                None
            }
            Entry::Applied { step, pages, rejected } if step == self.step => {
                self.waiting.pop_front().map(|page| (page, Made { pages, rejected }))
            }
            Entry::Applied { .. } | Entry::Ended(_) => None,
        }
    }
}
