//! Claims: how a destination tells the run that has the place from one that has lost it.

use crate::error::{Blame, Code, Error, Retry};

/// A commit of a run that another one has followed.
pub static FENCED: Code = Code {
    id: "sink.fenced",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "another run of this pipeline has taken over the destination",
    help: "A pipeline is one writer: its newest run has the destination, and what an earlier one still had in hand is \
           rolled back, so that it can't overwrite what the newer one wrote. Nothing was written by this run after that. \
           It is what should happen when a process was frozen or cut off and started again elsewhere. When both were \
           started on purpose, stop one; two pipelines that write to one schema or file need names of their own.",
};

/// The table is another one than before.
pub static REPLACED: Code = Code {
    id: "sink.replaced",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "the destination's table is not the one that this pipeline wrote before",
    help: "What this pipeline wrote so far is in a table that was dropped, renamed or replaced, or the configuration \
           names another one now. To go on from the stored position would leave a table without the rows from before. \
           Put the old table or name back, or copy anew: for a mirror `faucet mirror drop CONFIG`, then \
           `faucet mirror --replace CONFIG`. Where the other table has those rows and is right, delete the row of \
           `_faucet_commit_token` that the message names, and start again.",
};

/// The table has lost its rows.
pub static EMPTIED: Code = Code {
    id: "sink.emptied",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "the destination's table was emptied behind the pipeline's back",
    help: "The table had rows when this pipeline last ended, nothing of it was committed since, and now it has none: \
           somebody deleted or truncated them. They are in no change that is still to come. Restore them, or copy anew: \
           for a mirror `faucet mirror drop CONFIG`, then `faucet mirror --replace CONFIG`. Where an empty table is right, \
           delete the row of `_faucet_commit_token` that the message names, and start again.",
};

/// A run of a pipeline that keeps state, as a destination knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What it writes under: the scope of its tokens.
    pub scope: String,
    /// Tells this run from every other.
    pub writer: String,
}

impl Claim {
    /// The scope under which the destination keeps who claimed [`Claim::scope`].
    pub fn writer_scope(&self) -> String {
        format!("{}::__writer__", self.scope)
    }

    /// The scope under which the destination keeps which table was written.
    pub fn table_scope(&self) -> String {
        format!("{}::__table__", self.scope)
    }

    /// The error of a commit that lost its place.
    pub fn lost(&self) -> Error {
        let what = format!("another run under \"{}\" has taken over the destination since this one began", self.scope);
        Error::new(&FENCED, what).hint("see that only one process runs this pipeline; the newer one goes on")
    }
}

/// What a destination knows of a scope before a run claims it.
#[derive(Debug)]
pub enum Standing {
    /// It keeps no claims; the error says why, where something could be done about it.
    Unkept(Option<Error>),
    /// It keeps them.
    Kept {
        /// The run that claimed the scope last.
        writer: Option<String>,
        /// Why its table is not the one that the last run left.
        changed: Option<Error>,
    },
}
