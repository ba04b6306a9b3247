//! What goes wrong with JSON lines, said with file and line and never with a value.

use faucet_core::error::{Blame, Code, Error, Retry};
use faucet_core::model::Kind;
use std::fmt;
use std::path::Path;

/// A line can't be read.
pub static BAD_LINE: Code = Code {
    id: "jsonl.bad_line",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "a line of a JSON lines file is not one JSON object",
    help: "Each line of the file has to be one JSON object, all of it on that line, in UTF-8. One large JSON array \
           becomes lines with `jq -c '.[]' FILE`. A last line that stops in the middle was torn by a crash of whoever \
           wrote it. Lines before the one that is named were read.",
};

/// A value is not of its column's kind.
pub static BAD_VALUE: Code = Code {
    id: "jsonl.bad_value",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "a value in a JSON lines file is not of the kind that `columns` declares",
    help: "`columns` says that every value of a member is of one kind, and the value on the line that is named is not. \
           Correct the file, declare another kind (`json` takes every value), or leave the member out of `columns`: \
           its kind is then found from its values.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&BAD_LINE, &BAD_VALUE];

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No JSON, from this byte of the line on.
    NotJson { column: usize },
    /// JSON, but no object.
    NotAnObject,
    /// Something follows the object.
    Trailing { column: usize },
    /// A member comes twice.
    Twice,
    /// An escape in a string stands for no character.
    NoCharacter,
    /// Bytes that are no UTF-8.
    NotUtf8,
    /// Longer than any line may be.
    TooLarge,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotJson { column } => write!(f, "it is not JSON from column {column} on"),
            Fault::NotAnObject => f.write_str("it is not a JSON object"),
            Fault::Trailing { column } => write!(f, "something follows the object, at column {column}"),
            Fault::Twice => f.write_str("the object has a member twice"),
            Fault::NoCharacter => f.write_str("an escape in a string is half of a surrogate pair, no character"),
            Fault::NotUtf8 => f.write_str("it is not UTF-8"),
            Fault::TooLarge => f.write_str("it is longer than 64 MiB"),
        }
    }
}

/// The error of a line.
pub(crate) fn bad_line(path: &Path, line: u64, fault: Fault) -> Error {
    let error = Error::new(&BAD_LINE, format!("can't read {}, line {line}: {fault}", path.display()));
    match fault {
        Fault::NotAnObject | Fault::TooLarge => {
            error.hint("each line has to be one object: jq -c '.[]' splits an array")
        }
        Fault::NotUtf8 => error.hint("convert the file to UTF-8"),
        Fault::NotJson { .. } | Fault::Trailing { .. } | Fault::Twice | Fault::NoCharacter => error,
    }
}

/// The error of a value that is not of the declared kind.
pub(crate) fn bad_value(path: &Path, line: u64, member: &str, kind: Kind, found: &str) -> Error {
    let what = format!("can't read {}, line {line}: \"{member}\" is declared {kind}, but is {found}", path.display());
    Error::new(&BAD_VALUE, what).hint("declare another kind under `columns`, or leave it out")
}
