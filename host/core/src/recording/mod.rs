//! Recordings: the pages a source delivered, and what each transform made of them, in a file (`.fpg`).
//!
//! A recording is made by reading a source without an effect on anything, and serves to look at single records and to run
//! another version of a transform over the same pages. It has the values of the rows, so only its owner may read it; it has
//! no configuration, because a configuration can have secrets.
//!
//! The file is the line `faucet pages 1`, then frames (`frame.rs`), each with a checksum: one [`Origin`], then [`Entry`]s in
//! the order in which things happened.
//!
//! * **R1** After each page of the source come the applications of step 1 to it, then those of step 2 to the pages of step
//!   1, and so on: the nth application of a step is to the nth page of the step before.
//! * **R2** A reader trusts nothing: lengths are bounded before anything is allocated, checksums come before contents, and
//!   buffers are checked like those of a component ([`crate::model::Column::from_raw`]).

mod frame;
mod page;
mod read;
mod write;

pub use read::Recording;
pub use write::Recorder;

use serde::{Deserialize, Serialize};

use crate::error::{Blame, Code, Retry};
use crate::model::Page;
use crate::ports::{Boundary, Rejected};

/// The file is no recording.
pub static NOT_A_RECORDING: Code = Code {
    id: "recording.not_one",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the file is not a recording of pages that this faucet can read",
    help: "Recordings are made by `faucet record` and begin with the line `faucet pages 1`. A greater number there means that \
           a newer faucet made it: read it with that one.",
};

/// A recording is damaged.
pub static DAMAGED: Code = Code {
    id: "recording.damaged",
    blame: Blame::Environment,
    retry: Retry::Never,
    title: "the recording is damaged or cut short",
    help: "A checksum does not fit, or the file ends inside a page, as it does when `faucet record` was killed. What comes \
           before the place in the message is whole and was used. Record again.",
};

/// A recording can't be read or written.
pub static FILE: Code = Code {
    id: "recording.file",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "the file of a recording can't be read or written",
    help: "The operating system refused to open, read or write the file; the message says why. `faucet record` never writes \
           over a file that is there: name another one, or remove it.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&NOT_A_RECORDING, &DAMAGED, &FILE];

/// What a recording is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The version of faucet that made it.
    pub faucet: String,
    /// The pipeline's name.
    pub pipeline: String,
    /// The configuration's file, where it was one.
    pub config: Option<String>,
    /// The type of the source.
    pub source: String,
    /// The transforms in order.
    pub steps: Vec<Step>,
    /// When it began: microseconds since the Unix epoch.
    pub began: i64,
}

/// A transform of a recorded pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its `type`.
    pub name: String,
    /// The digest of its component; `None` for one that is part of faucet.
    pub digest: Option<String>,
    /// A digest of its configuration, too short to tell what is in it.
    pub config: String,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// The source delivered a page.
    Delivered(Page),
    /// A step was applied to a page.
    Applied {
        /// The step's number; the first is 1.
        step: u32,
        /// The pages it made.
        pages: Vec<Page>,
        /// The rows it rejected.
        rejected: Vec<Rejected>,
    },
    /// A batch of the source ended.
    Ended(Boundary),
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
