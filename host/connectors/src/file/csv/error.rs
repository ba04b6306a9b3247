//! What goes wrong with CSV, said with file and line and never with a value.

use faucet_core::error::{Blame, Code, Error, Retry};
use faucet_core::model::NotOfKind;
use std::fmt;
use std::path::Path;

/// A record can't be read.
pub static BAD_RECORD: Code = Code {
    id: "csv.bad_record",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "a record of a CSV file can't be read",
    help: "The file breaks the rules of RFC 4180 at the line that is named, or has other characters than \
           `delimiter` and `quote` say. Often the delimiter is `;` or a tab, a text with a line break lacks quotes, or \
           the file is not UTF-8 (`iconv -f latin1 -t utf8` mends that). Rows before the line were read.",
};

/// A value is not of its column's kind.
pub static BAD_VALUE: Code = Code {
    id: "csv.bad_value",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "a value in a CSV file is not of the kind that `columns` declares",
    help: "`columns` says that every value of a column is of one kind, and the value on the line that is named is not. \
           Correct the file, declare another kind (`text` takes everything), or say how a null is written with \
           `null_value`.",
};

/// The header can't be used.
pub static BAD_HEADER: Code = Code {
    id: "csv.bad_header",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "the first line of a CSV file can't be used as the names of its columns",
    help: "Names have to be there, and no two may be the same. Set `has_header: false` when the first line is a row \
           already: the columns are then called column_1, column_2 and so on.",
};

/// The file's columns are not those of the rows.
pub static OTHER_COLUMNS: Code = Code {
    id: "csv.other_columns",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "rows have a column that the CSV file has no place for",
    help: "The columns of a CSV file are fixed by its first line. A row with a further column can't be written into it \
           without losing that column. Write to a new file, drop the column in a transform, or use `jsonl`, whose rows \
           may differ.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&BAD_RECORD, &BAD_VALUE, &BAD_HEADER, &OTHER_COLUMNS];

/// What is wrong with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A quoted field has no end.
    OpenQuote,
    /// A quoted field is followed by something that is no delimiter.
    AfterQuote,
    /// Bytes that are no UTF-8.
    NotUtf8,
    /// Longer than any record may be.
    TooLarge,
    /// Another number of fields than the first line has.
    Fields { expected: usize, found: usize },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::OpenQuote => f.write_str("a quote is never closed"),
            Fault::AfterQuote => f.write_str("text follows a closing quote"),
            Fault::NotUtf8 => f.write_str("it is not UTF-8"),
            Fault::TooLarge => f.write_str("the record is larger than 64 MiB, so a quote is likely never closed"),
            Fault::Fields { expected, found } => write!(f, "it has {found} fields where the first line has {expected}"),
        }
    }
}

/// The error of a record.
pub(crate) fn bad_record(path: &Path, line: u64, fault: Fault) -> Error {
    let error = Error::new(&BAD_RECORD, format!("can't read {}, line {line}: {fault}", path.display()));
    match fault {
        Fault::Fields { .. } | Fault::AfterQuote => error.hint("check `delimiter` and `quote`"),
        Fault::OpenQuote | Fault::TooLarge => error.hint("check `quote`"),
        Fault::NotUtf8 => error.hint("convert the file to UTF-8"),
    }
}

/// The error of a value.
pub(crate) fn bad_value(path: &Path, line: u64, column: &str, fault: NotOfKind) -> Error {
    let what = format!("can't read {}, line {line}: the value of column \"{column}\" is {fault}", path.display());
    Error::new(&BAD_VALUE, what).hint(format!("declare another kind: columns: {{ {column}: text }}"))
}
