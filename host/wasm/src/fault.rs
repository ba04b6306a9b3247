//! What goes wrong with a plugin, and how it is said: which plugin, in which call, over which rows, and the last words
//! of the guest.

use crate::limits::{Limits, Refused};
use crate::log::cut;
use faucet_core::error::{Blame, Code, Error, Retry};
use std::fmt;
use wasmtime::Trap;

/// Every code of this crate.
pub static CODES: &[&Code] = &[
    &NOT_FOUND,
    &DIGEST_MISMATCH,
    &NOT_A_COMPONENT,
    &WRONG_WORLD,
    &WRONG_VERSION,
    &NOT_OFFERED,
    &ENGINE,
    &TRAP,
    &DEADLINE,
    &OUT_OF_MEMORY,
    &OUTPUT_TOO_LARGE,
    &BAD_OUTPUT,
    &INVALID_CONFIG,
    &FAILED,
    &UNAVAILABLE,
    &UNSUPPORTED,
    &SESSION_LOST,
    &REJECTED,
    &FOREIGN_BOOKMARK,
    &NEEDS_ROWS,
    &crate::grant::CEILING,
];

/// A plugin's file can't be read.
pub static NOT_FOUND: Code = Code {
    id: "plugin.not_found",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the plugin's file can't be read",
    help: "A plugin is named in `plugins:` with a `path` to its .wasm file. A relative path starts at the folder of the \
           configuration file. Check that the file is there and that this user may read it.",
};

/// A plugin is not the one that was pinned.
pub static DIGEST_MISMATCH: Code = Code {
    id: "plugin.digest_mismatch",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the plugin's file is not the one that was pinned",
    help: "`sha256` in `plugins:` pins the exact file. The file there has another digest: it was rebuilt, replaced or \
           damaged. If the new file is the one you want, put its digest (`sha256sum FILE`) into the configuration.",
};

/// A plugin's file is something else than a component.
pub static NOT_A_COMPONENT: Code = Code {
    id: "plugin.not_a_component",
    blame: Blame::Plugin,
    retry: Retry::Operator,
    title: "the plugin's file is no WebAssembly component",
    help: "A plugin is a WebAssembly component. Build it for the target wasm32-wasip2, which makes one, or turn a core \
           module into one with `wasm-tools component new`. A file that was cut short is none either.",
};

/// A component that is no transform.
pub static WRONG_WORLD: Code = Code {
    id: "plugin.wrong_world",
    blame: Blame::Plugin,
    retry: Retry::Operator,
    title: "the component is no faucet plugin",
    help: "A plugin exports one of the interfaces `faucet:connector/transforms`, `sources` and `sinks`, and this component \
           does not. Write it with one of the SDKs, or against the WIT package in the folder `wit`.",
};

/// A component of another version of the boundary.
pub static WRONG_VERSION: Code = Code {
    id: "plugin.wrong_version",
    blame: Blame::Plugin,
    retry: Retry::Operator,
    title: "the component speaks another version of the plugin interface",
    help: "The message says which version the component was built for and which this faucet understands. Rebuild the \
           plugin with the SDK of this faucet, or use the faucet the plugin was made for.",
};

/// A component needs what this host does not offer.
pub static NOT_OFFERED: Code = Code {
    id: "plugin.not_offered",
    blame: Blame::Plugin,
    retry: Retry::Operator,
    title: "the component needs something this host does not offer",
    help: "A component says what it imports. This one wants an interface that no plugin gets here. A plugin has the \
           interfaces of the WIT package in the folder `wit`, WASI 0.2 and outgoing HTTP, and of those only what is \
           granted does anything.",
};

/// The engine can't start.
pub static ENGINE: Code = Code {
    id: "plugin.engine",
    blame: Blame::Environment,
    retry: Retry::Backoff,
    title: "the WebAssembly engine can't start",
    help: "The engine needs to map memory and to start a thread. Check the limits this process runs under (`ulimit -a`, \
           the container's memory).",
};

/// A guest trapped.
pub static TRAP: Code = Code {
    id: "plugin.trap",
    blame: Blame::Plugin,
    retry: Retry::Never,
    title: "the plugin crashed",
    help: "The component panicked, overflowed its stack or broke a rule of its sandbox. What it wrote before is part of \
           the error. The page was tried twice, each time on a fresh instance. This is a fault of the plugin, or of a \
           page it was not made for: report it to its author with the code and the message.",
};

/// A guest took too long.
pub static DEADLINE: Code = Code {
    id: "plugin.deadline",
    blame: Blame::Plugin,
    retry: Retry::Never,
    title: "the plugin did not finish in time",
    help: "One call may take `limits.deadline_ms` milliseconds, unless set 2000 in a transform and 60000 in a source or a \
           sink. The plugin may loop for ever, wait for a server that does not answer, or the pages are large for what it \
           does: raise the limit, or lower `batch_size`.",
};

/// A guest wanted too much memory.
pub static OUT_OF_MEMORY: Code = Code {
    id: "plugin.out_of_memory",
    blame: Blame::Plugin,
    retry: Retry::Never,
    title: "the plugin wanted more memory than it may have",
    help: "An instance may use `limits.memory_mb` MiB, 64 unless set. A page lies in it at least once: raise the limit, \
           or lower `batch_size`.",
};

/// A guest answered with too much.
pub static OUTPUT_TOO_LARGE: Code = Code {
    id: "plugin.output_too_large",
    blame: Blame::Plugin,
    retry: Retry::Never,
    title: "the plugin made far more of a page than it was given",
    help: "An output may have `limits.output_ratio` times the size and rows of its page, 16 unless set; 4 MiB are always \
           allowed. Raise the ratio if the plugin is meant to grow data that much.",
};

/// A guest's answer breaks the contract.
pub static BAD_OUTPUT: Code = Code {
    id: "plugin.bad_output",
    blame: Blame::Plugin,
    retry: Retry::Never,
    title: "the plugin's answer breaks the contract",
    help: "Everything a plugin hands over is checked: lengths, offsets, UTF-8, the grammar of decimals and JSON, row and \
           column indices. The message says which part is wrong. This is a fault of the plugin: report it to its author.",
};

/// A guest refused its configuration.
pub static INVALID_CONFIG: Code = Code {
    id: "plugin.invalid_config",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the plugin does not accept its configuration",
    help: "The message comes from the plugin. `faucet list` shows the keys it knows.",
};

/// A guest said that it can't process a page.
pub static FAILED: Code = Code {
    id: "plugin.failed",
    blame: Blame::Plugin,
    retry: Retry::Never,
    title: "the plugin can't process a page",
    help: "The message comes from the plugin: often a column is missing or of another kind than it expects. Mend its \
           configuration, or put another transform before it.",
};

/// What a plugin talks to can't answer now.
pub static UNAVAILABLE: Code = Code {
    id: "plugin.unavailable",
    blame: Blame::Plugin,
    retry: Retry::Backoff,
    title: "what the plugin talks to can't answer now",
    help: "The message comes from the plugin: the server it talks to is down, overloaded, or asks to come back later. It is \
           tried again under `execution.retry`.",
};

/// A plugin was asked for what it does not do.
pub static UNSUPPORTED: Code = Code {
    id: "plugin.unsupported",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the plugin does not do this",
    help: "The message comes from the plugin: it was asked for something it does not offer, such as its list of tables or \
           its current position. Use another connector for that.",
};

/// A source or sink broke in the middle of its work.
pub static SESSION_LOST: Code = Code {
    id: "plugin.session_lost",
    blame: Blame::Plugin,
    retry: Retry::Backoff,
    title: "a source or sink plugin broke in the middle of its work",
    help: "The component crashed, ran out of time or wanted too much memory; the message says which. Its instance is \
           dropped, with all that was not committed, and another one goes on from the last bookmark under \
           `execution.retry`. If it breaks each time, raise `limits`, or report it to the plugin's author.",
};

/// A sink rejected a row.
pub static REJECTED: Code = Code {
    id: "plugin.row_rejected",
    blame: Blame::Sink,
    retry: Retry::Never,
    title: "a sink plugin can't write a row",
    help: "The message comes from the plugin. A `dlq` sets such rows aside and goes on with the others.",
};

/// A bookmark of something else.
pub static FOREIGN_BOOKMARK: Code = Code {
    id: "plugin.foreign_bookmark",
    blame: Blame::State,
    retry: Retry::Operator,
    title: "the stored bookmark is not one of this plugin",
    help: "The pipeline had another source before, or its state was edited. Give the pipeline another `name`, so that it \
           starts over, or bring the earlier source back.",
};

/// A page of changes reached a guest.
pub static NEEDS_ROWS: Code = Code {
    id: "plugin.needs_rows",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "a plugin was given change events",
    help: "Plugins take plain rows. Put `{ type: cdc_unwrap }` before them: it turns each change into a row with a column \
           `__op`.",
};

/// Which plugin: its name and the start of its digest.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) digest: String,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plugin '{}' ({})", self.name, &self.digest[..12])
    }
}

/// Which call.
#[derive(Debug, Clone)]
pub(crate) enum Call {
    Describe,
    Check,
    Open,
    Apply { table: String, rows: usize },
    Capture,
    Discover,
    Read,
    Confirm,
    LastToken,
    Write { table: String, rows: usize },
    Commit,
    Finish,
}

impl Call {
    /// Its name in `wit/`.
    fn name(&self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::Check => "check",
            Self::Open => "open",
            Self::Apply { .. } => "apply",
            Self::Capture => "capture",
            Self::Discover => "discover",
            Self::Read => "read",
            Self::Confirm => "confirm",
            Self::LastToken => "last-token",
            Self::Write { .. } => "write",
            Self::Commit => "commit",
            Self::Finish => "finish",
        }
    }

    /// Whether it is part of a session that can be opened again at a bookmark.
    pub(crate) fn is_of_a_session(&self) -> bool {
        match self {
            Self::Read | Self::Confirm | Self::LastToken | Self::Write { .. } | Self::Commit | Self::Finish => true,
            Self::Describe | Self::Check | Self::Open | Self::Apply { .. } | Self::Capture | Self::Discover => false,
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self {
            Self::Apply { table, rows: 0 } | Self::Write { table, rows: 0 } => {
                write!(f, "in '{name}' on an empty page of table {table}")
            }
            Self::Apply { table, rows } | Self::Write { table, rows } => {
                write!(f, "in '{name}' on rows 1 to {rows} of a page of table {table}")
            }
            _ => write!(f, "in '{name}'"),
        }
    }
}

/// The last words of a guest.
#[derive(Debug)]
pub(crate) struct Written(pub(crate) String);

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the plugin wrote: {}", self.0)
    }
}

impl std::error::Error for Written {}

/// An error about a call; `written` is what the guest wrote before.
pub(crate) fn fault(code: &'static Code, subject: &Subject, what: &str, call: &Call, written: String) -> Error {
    let error = Error::new(code, format!("{subject} {what} {call}"));
    if written.is_empty() { error } else { error.caused_by(Written(written)) }
}

/// Many messages in one.
pub(crate) fn joined(messages: impl Iterator<Item = String>) -> String {
    messages.map(|message| cut(&message)).collect::<Vec<_>>().join("; ")
}

/// What the end of a call is about: its code, what the plugin did, and what to do about it.
pub(crate) struct Verdict {
    pub(crate) code: &'static Code,
    pub(crate) what: String,
    pub(crate) hint: Option<String>,
}

impl Verdict {
    fn new(code: &'static Code, what: impl Into<String>) -> Self {
        Self { code, what: what.into(), hint: None }
    }

    fn hint(mut self, hint: String) -> Self {
        self.hint = Some(hint);
        self
    }
}

/// The start of wasmtime's message when a guest hands over more than the store's allowance. It has no type of its own.
const ALLOWANCE_SPENT: &str = "fuel allocated for hostcalls has been exhausted";

/// Why a call did not come back: a trap, or data the host could not read.
pub(crate) fn judge(error: &wasmtime::Error, refused: Option<Refused>, limits: &Limits) -> Verdict {
    let root = error.root_cause().to_string();
    if root.contains(ALLOWANCE_SPENT) {
        return too_large(limits);
    }
    let trap = error.downcast_ref::<Trap>();
    match (trap, refused) {
        (Some(Trap::Interrupt), _) => {
            Verdict::new(&DEADLINE, format!("did not finish within {} ms", limits.deadline_ms()))
                .hint("raise limits.deadline_ms, or lower batch_size".to_owned())
        }
        (_, Some(Refused::Memory(bytes))) => {
            Verdict::new(&OUT_OF_MEMORY, format!("wanted more memory than its {} MiB", bytes >> 20))
                .hint("raise limits.memory_mb, or lower batch_size".to_owned())
        }
        (_, Some(Refused::Table(entries))) => {
            Verdict::new(&OUT_OF_MEMORY, format!("wanted more than {entries} table entries"))
        }
        (Some(trap), None) => Verdict::new(&TRAP, format!("crashed ({})", reason(*trap))),
        (None, None) if error.downcast_ref::<wasmtime_wasi::I32Exit>().is_some() => {
            Verdict::new(&TRAP, "ended its own process")
        }
        (None, None) if error.downcast_ref::<wasmtime_wasi::ResourceTableError>().is_some() => {
            Verdict::new(&TRAP, "asked for more handles than it may have")
        }
        (None, None) => Verdict::new(&BAD_OUTPUT, format!("handed over what can't be read ({})", cut(&root))),
    }
}

/// An answer beyond what the page's size allows.
pub(crate) fn too_large(limits: &Limits) -> Verdict {
    let ratio = limits.output_ratio;
    Verdict::new(&OUTPUT_TOO_LARGE, format!("made more than {ratio} times the size of what it was given"))
        .hint("raise limits.output_ratio if it is meant to grow data that much".to_owned())
}

fn reason(trap: Trap) -> String {
    match trap {
        Trap::UnreachableCodeReached => "panic or unreachable code".to_owned(),
        Trap::StackOverflow => "stack overflow".to_owned(),
        trap => trap.to_string(),
    }
}
