//! What goes wrong with files, said with the file's name.

use faucet_core::error::{Blame, Code, Error, Retry};
use std::io::{self, ErrorKind};
use std::path::Path;

/// No such file, or no such folder.
pub static NOT_FOUND: Code = Code {
    id: "file.not_found",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "a file or its folder does not exist",
    help: "A source reads a file that has to be there; a sink creates its file, but not the folder around it. A \
           relative `path` starts at the folder faucet was started in.",
};

/// Not allowed to read or write.
pub static NOT_ALLOWED: Code = Code {
    id: "file.not_allowed",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "the user faucet runs as may not read or write a file",
    help: "Look at the permissions of the file and of every folder above it (`namei -l PATH`), and at the user faucet \
           runs as. A sink that overwrites needs the right to write in the folder.",
};

/// A folder where a file is expected.
pub static IS_A_FOLDER: Code = Code {
    id: "file.is_a_folder",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the path is a folder, not a file",
    help: "`path` names one file. To read several files, run one pipeline for each.",
};

/// No space.
pub static NO_SPACE: Code = Code {
    id: "file.no_space",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "there is no space left for a file",
    help: "The disk, or the quota of the user faucet runs as, is full. Nothing of the page that did not fit was kept. \
           Make room and run again: it continues from the last stored position.",
};

/// Another process writes the file.
pub static IN_USE: Code = Code {
    id: "file.in_use",
    blame: Blame::Config,
    retry: Retry::Backoff,
    title: "another process writes the same file",
    help: "Two sinks can't write one file: each would cut off what the other has not yet committed. Give each pipeline \
           a file of its own, or stop the other run.",
};

/// Anything else the operating system says.
pub static IO: Code = Code {
    id: "file.io",
    blame: Blame::Environment,
    retry: Retry::Backoff,
    title: "the operating system could not read or write a file",
    help: "The message carries the operating system's own words. A disk, a network file system or a mount may have \
           failed: `dmesg` often says more.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&NOT_FOUND, &NOT_ALLOWED, &IS_A_FOLDER, &NO_SPACE, &IN_USE, &IO];

/// The error of `verb` ("read", "create") on `path`.
pub(crate) fn io_error(verb: &str, path: &Path, cause: &io::Error) -> Error {
    let what = |why: &str| format!("can't {verb} {}: {why}", path.display());
    match cause.kind() {
        ErrorKind::NotFound => not_found(verb, path),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Error::new(&NOT_ALLOWED, what("permission denied")).hint("check the permissions of the file and its folder")
        }
        ErrorKind::IsADirectory => Error::new(&IS_A_FOLDER, what("it is a folder")).hint("`path` has to name a file"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::new(&NO_SPACE, what("no space left")),
        _ => Error::new(&IO, what(&cause.to_string())),
    }
}

fn not_found(verb: &str, path: &Path) -> Error {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.exists() => {
            let what = format!("can't {verb} {}: the folder {} does not exist", path.display(), folder.display());
            Error::new(&NOT_FOUND, what).hint("create the folder, or correct `path`")
        }
        _ => {
            let here = std::env::current_dir().map(|d| d.display().to_string()).unwrap_or_default();
            let hint = match path.is_relative() {
                true => format!("`path` is relative to {here}"),
                false => "check `path`".to_owned(),
            };
            Error::new(&NOT_FOUND, format!("can't {verb} {}: there is no such file", path.display())).hint(hint)
        }
    }
}
