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
    &NEEDS_ROWS,
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
    title: "the component is no faucet transform",
    help: "A transform exports the interface `faucet:connector/transforms`, and this component does not. Write it with \
           one of the SDKs, or against the WIT package in the folder `wit`.",
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
    help: "A component says what it imports. This one wants an interface that a transform does not get here, such as \
           outbound HTTP. Transforms work on their page and nothing else.",
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
    help: "One call may take `limits.deadline_ms` milliseconds, 2000 unless set. The plugin may loop for ever, or the \
           pages are large for what it does: raise the limit, or lower `batch_size`.",
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
    Open,
    Apply { table: String, rows: usize },
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Describe => f.write_str("in 'describe'"),
            Self::Open => f.write_str("in 'open'"),
            Self::Apply { table, rows: 0 } => write!(f, "in 'apply' on an empty page of table {table}"),
            Self::Apply { table, rows } => write!(f, "in 'apply' on rows 1 to {rows} of a page of table {table}"),
        }
    }
}

/// The last words of a guest.
#[derive(Debug)]
struct Written(String);

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
            Verdict::new(&DEADLINE, format!("did not finish within {} ms", limits.deadline_ms))
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
