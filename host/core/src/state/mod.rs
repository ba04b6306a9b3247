//! State: where bookmarks and markers live between runs.
//!
//! [`StateKey`] says under which name, [`MemoryStore`] and [`FileStore`] are the stores that need no server, [`migrate`]
//! keeps positions across releases that name them differently. The invariant of every store: a value is read back whole
//! or the read fails; a store never takes damage for "nothing stored", because that would start a pipeline over.

mod belongs;
#[cfg(any(test, feature = "testing"))]
pub mod conformance;
mod escape;
mod file;
pub mod key;
mod kinds;
mod lock;
mod memory;
mod migrate;
mod one_writer;
mod sealed;

pub use belongs::{Belongs, NOT_THIS_PIPELINE};
pub use file::FileStore;
pub use key::{KEY_SCHEME_VERSION, Marker, StateKey};
pub use kinds::{FileConfig, open, stores};
pub use memory::MemoryStore;
pub use migrate::{MIGRATIONS_TOTAL, Migration, migrate};
pub use one_writer::OneWriter;
pub use sealed::{Algorithm, Encryption, Sealer};

use crate::error::{Blame, Code, Error, Retry};

/// Somebody else changed the value first.
pub static CONFLICT: Code = Code {
    id: "state.conflict",
    blame: Blame::State,
    retry: Retry::Operator,
    title: "another process works on this pipeline's state",
    help: "Two processes use the same state key: usually two copies of one pipeline, or two pipelines with the same \
           `name` and state store. The one that was started later has the place; this one found that it had lost it, \
           stopped, and changed nothing. See that only one runs, or give one of two pipelines another `name`; then \
           start it again. The state goes on from what is stored.",
};

/// The store's files can't be read or written.
pub static UNAVAILABLE: Code = Code {
    id: "state.unavailable",
    blame: Blame::State,
    retry: Retry::Backoff,
    title: "the state store can't be read or written",
    help: "The folder of the `file` state store can't be used: it may not exist and not be creatable, belong to another \
           user, be on a full or read-only disk, or be on a network file system that went away. The message names the \
           file and the reason. Bookmarks already stored are safe.",
};

/// Another process holds the store's lock.
pub static BUSY: Code = Code {
    id: "state.busy",
    blame: Blame::State,
    retry: Retry::Backoff,
    title: "another process holds the lock of the state store",
    help: "Writes to a `file` state store take a lock for a few milliseconds. One process held it for longer, which \
           happens when it was stopped in the middle (Ctrl-Z, a debugger) or when its disk hangs. End or resume that \
           process.",
};

/// A stored value is damaged.
pub static CORRUPT: Code = Code {
    id: "state.corrupt",
    blame: Blame::State,
    retry: Retry::Operator,
    title: "a state file is damaged",
    help: "A file in the state folder is not one that faucet wrote, or not all of it: it was edited, cut off by a broken \
           disk, or copied over another key's file. faucet doesn't go on, because taking it for \"nothing stored\" would \
           start the pipeline over. Restore the file from a backup. If you do want to start over, delete the file; \
           for a mirror run `faucet mirror drop CONFIG`, then `faucet mirror --replace CONFIG`, because its destination has \
           rows that the source may not have any more.",
};

/// A sealed value and no key that opens it.
pub static SEALED: Code = Code {
    id: "state.sealed",
    blame: Blame::State,
    retry: Retry::Operator,
    title: "a state file is encrypted and can't be opened",
    help: "The file was written with `encryption` on the state store. Either the configuration has no `encryption` block \
           now, or its `key` is another one, or the file was tampered with or belongs to another key. Put the key it was \
           written with under `encryption.key`, or, after changing keys, under `encryption.previous_keys`.",
};

/// A value that can't be part of a state key.
pub static UNUSABLE_KEY: Code = Code {
    id: "state.unusable_key",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "a parent record has no usable key",
    help: "Each parent record of a child that keeps state needs a key of its own: a text, a number or a bool that is \
           neither missing, nor null, nor empty. Without it two parents would share one bookmark. Choose another key \
           field, or filter such records out.",
};

/// A type of state store that doesn't exist.
pub static UNKNOWN_STORE: Code = Code {
    id: "state.unknown_store",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "there is no state store of that type",
    help: "`state.type` names a store that this build doesn't have. `faucet list` names those it has.",
};

/// Every kind of failure this module raises.
pub static CODES: &[&Code] =
    &[&CONFLICT, &UNAVAILABLE, &BUSY, &CORRUPT, &SEALED, &UNUSABLE_KEY, &UNKNOWN_STORE, &NOT_THIS_PIPELINE];

/// The error of a put whose expectation does not hold.
pub fn conflict(key: &str) -> Error {
    Error::new(&CONFLICT, format!("another process works on this pipeline's state: it changed '{key}'"))
        .hint("see that only one process runs a pipeline of this name on this state store, and start it again")
}
