//! What goes wrong with SQLite, in terms of the file and the table.

use faucet_core::error::{Blame, Code, Error, Retry};
use rusqlite::{ErrorCode, ffi};
use std::path::Path;

use crate::file::error::{NO_SPACE, io_error};

/// The file can't be opened.
pub static NOT_OPENED: Code = Code {
    id: "sqlite.not_opened",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "a SQLite database can't be opened",
    help: "The folder has to exist, and the user faucet runs as needs the right to read and write both the file and its \
           folder: SQLite keeps its journal (`-wal`, `-shm`) beside the database, also when it only reads.",
};

/// The file is something else, or broken.
pub static NOT_A_DATABASE: Code = Code {
    id: "sqlite.not_a_database",
    blame: Blame::Environment,
    retry: Retry::Operator,
    title: "a file is not a SQLite database, or is damaged",
    help: "Look at the file with `sqlite3 FILE 'PRAGMA integrity_check'`. A file that was copied while a program wrote to \
           it is often damaged: copy with `sqlite3 FILE '.backup COPY'`. Encrypted databases can't be read.",
};

/// Someone else holds the lock.
pub static BUSY: Code = Code {
    id: "sqlite.busy",
    blame: Blame::Environment,
    retry: Retry::Backoff,
    title: "another program holds the SQLite database",
    help: "SQLite lets one program write at a time, and faucet waited `busy_timeout` for its turn. Look for a program \
           that keeps a transaction open, or raise `busy_timeout`.",
};

/// Something the statement names is not there, or the statement is no SQL.
pub static REFUSED: Code = Code {
    id: "sqlite.refused",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "SQLite refused a statement",
    help: "The message carries SQLite's own words. A query of yours may name a table or column that does not exist, or \
           have a mistake in its SQL: try it with `sqlite3 FILE`.",
};

/// A constraint of the table.
pub static CONSTRAINT: Code = Code {
    id: "sqlite.constraint",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "a row breaks a constraint of the SQLite table",
    help: "The table has a NOT NULL, UNIQUE, CHECK or foreign key constraint, or is STRICT, and a row does not satisfy \
           it. Nothing of the transaction was written. Under `append` a repeated run often meets its own rows again: \
           use `write_mode: upsert` with `key`.",
};

/// Reading or writing failed.
pub static IO: Code = Code {
    id: "sqlite.io",
    blame: Blame::Environment,
    retry: Retry::Backoff,
    title: "SQLite could not read or write its file",
    help: "The operating system failed to read, write or lock the database. Network file systems are a frequent cause: \
           SQLite needs one that locks. The message carries SQLite's own words.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&NOT_OPENED, &NOT_A_DATABASE, &BUSY, &REFUSED, &CONSTRAINT, &IO];

/// An error of the driver on the database at `path`.
pub(super) fn from_driver(path: &Path, cause: &rusqlite::Error) -> Error {
    let (failure, words) = match cause {
        rusqlite::Error::SqliteFailure(failure, words) => (Some(failure), words.clone()),
        rusqlite::Error::SqlInputError { error, msg, .. } => (Some(error), Some(msg.clone())),
        other => (None, Some(other.to_string())),
    };
    let words = words.unwrap_or_else(|| "no further words".to_owned());
    let Some(failure) = failure else {
        return Error::new(&REFUSED, format!("SQLite refused a statement on {}: {words}", path.display()));
    };
    translate(path, failure, &words)
}

fn translate(path: &Path, failure: &ffi::Error, words: &str) -> Error {
    let shown = path.display();
    match failure.code {
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly => not_opened(path, words),
        ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => {
            Error::new(&NOT_A_DATABASE, format!("{shown} can't be read: {words}")).hint("check `path`")
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            Error::new(&BUSY, format!("another program holds {shown}"))
                .hint("raise `busy_timeout`, or end that program")
        }
        ErrorCode::DiskFull => Error::new(&NO_SPACE, format!("can't write {shown}: no space left")),
        ErrorCode::ConstraintViolation => constraint(path, failure, words),
        ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed | ErrorCode::NoLargeFileSupport => {
            Error::new(&IO, format!("can't read or write {shown}: {words}"))
        }
        _ => Error::new(&REFUSED, format!("SQLite refused a statement on {shown}: {words}")),
    }
}

/// SQLite's words name tables and columns; only those of a trigger can hold anything else.
fn constraint(path: &Path, failure: &ffi::Error, words: &str) -> Error {
    let words = if failure.extended_code == ffi::SQLITE_CONSTRAINT_TRIGGER { "a trigger refused a row" } else { words };
    Error::new(&CONSTRAINT, format!("a row breaks a constraint in {}: {words}", path.display()))
}

fn not_opened(path: &Path, words: &str) -> Error {
    match std::fs::metadata(path) {
        Ok(about) if about.is_dir() => io_error("open", path, &std::io::ErrorKind::IsADirectory.into()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && !has_folder(path) => io_error("open", path, &e),
        Ok(_) | Err(_) => Error::new(&NOT_OPENED, format!("can't open {}: {words}", path.display()))
            .hint("check the permissions of the file and its folder"),
    }
}

fn has_folder(path: &Path) -> bool {
    path.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder.exists())
}
