//! What can go wrong with a change stream, beyond what any connection can meet.

use faucet_core::error::{Blame, Code, Error, Retry};
use faucet_core::mirror::RESYNC;

use crate::postgres::error::{ServerError, code};

code!(
    VERSION_UNSUPPORTED,
    "postgres.version_unsupported",
    Source,
    Operator,
    "the server is too old for a change stream",
    "The stream uses an option of the pgoutput plugin that came with PostgreSQL 14."
);
code!(
    WAL_LEVEL,
    "postgres.wal_level",
    Source,
    Operator,
    "the server doesn't log what a change stream needs",
    "`wal_level` must be `logical`: `ALTER SYSTEM SET wal_level = 'logical'`, then restart the server. On managed \
     services it is a parameter of the instance (`rds.logical_replication`, `cloudsql.logical_decoding`)."
);
code!(
    PUBLICATION_MISSING,
    "postgres.publication_missing",
    Config,
    Operator,
    "the publication does not exist",
    "A publication says which tables a change stream covers. Its owner creates it in the source database: `CREATE \
     PUBLICATION name FOR TABLE schema.table, ...`, `FOR TABLES IN SCHEMA ...` or `FOR ALL TABLES`. It must exist before \
     the slot is created."
);
code!(
    PUBLICATION_EMPTY,
    "postgres.publication_empty",
    Config,
    Operator,
    "the publication covers no table",
    "The stream would stay silent for ever. Add tables: `ALTER PUBLICATION name ADD TABLE schema.table`. A mirror that has \
     begun misses what happened meanwhile: then copy its table anew, with `faucet mirror drop CONFIG` and `faucet mirror \
     --replace CONFIG`."
);
code!(
    PUBLICATION_GONE,
    "postgres.publication_gone",
    Source,
    Operator,
    "there was no such publication at the position that the stream is at",
    "The server reads its log with the catalog as it was then, and at that position there was no such publication: it was \
     made after the slot, or dropped, or dropped and made again. No later start gets past it, and no new publication helps. Copy the \
     table anew: `faucet mirror drop CONFIG`, then `faucet mirror --replace CONFIG`. Make the publication before the slot."
);
code!(
    SLOT_MISSING,
    "postgres.slot_missing",
    Source,
    Operator,
    "the replication slot does not exist",
    "The slot makes the server keep its log for this stream. Without a stored bookmark faucet creates it, unless \
     `create_slot_if_missing: false`. With one it doesn't: whatever was committed since the slot was dropped can't be \
     streamed any more. Then copy the table anew: `faucet mirror drop CONFIG`, then `faucet mirror --replace CONFIG`. A \
     failover to a server that doesn't have the slot ends the same way."
);
code!(
    SLOT_ACTIVE,
    "postgres.slot_active",
    Source,
    Backoff,
    "another session streams from the slot",
    "A slot serves one reader. Another faucet with the same `slot_name` may be running, or the server hasn't noticed yet \
     that an earlier session is gone (it does after `wal_sender_timeout`). faucet tries again."
);
code!(
    SLOT_UNFINISHED,
    "postgres.slot_unfinished",
    Source,
    Backoff,
    "the slot is still being created",
    "Creating a slot waits for every transaction that is open on the server. `faucet doctor` and the log name those it waits \
     for; it goes on when they have ended. A run that finds such a slot waits for it."
);
code!(
    SLOT_PLUGIN,
    "postgres.slot_plugin",
    Config,
    Operator,
    "the slot is not one for pgoutput",
    "The slot of that name is physical or was made for another output plugin. Choose another `slot_name`, or drop the \
     slot if nobody needs it: `SELECT pg_drop_replication_slot('name')`."
);
code!(
    SLOT_WRONG_DATABASE,
    "postgres.slot_wrong_database",
    Config,
    Operator,
    "the slot belongs to another database",
    "Slot names are shared by the whole server, and a logical slot streams one database. Choose another `slot_name` for \
     this database, or correct the database in `connection_url`."
);
code!(
    SLOT_LOST,
    "postgres.slot_lost",
    Source,
    Operator,
    "the server gave the slot up",
    "The slot fell further behind than `max_slot_wal_keep_size` allows, was not read for as long as \
     `idle_replication_slot_timeout` says (PostgreSQL 18), or, on a standby, needs what its primary removed \
     (`hot_standby_feedback`). The changes in between are lost to it. Copy the \
     table anew: `faucet mirror drop CONFIG`, then `faucet mirror --replace CONFIG`; raise the limit, or watch the lag."
);
code!(
    SLOT_AHEAD,
    "postgres.slot_ahead",
    Source,
    Operator,
    "the slot is past the stored bookmark",
    "The server has given up changes that were never stored here: the slot was advanced, or dropped and made again, or \
     state from an older backup was restored. Going on would skip them silently. Copy the table anew: `faucet mirror \
     drop CONFIG`, then `faucet mirror --replace CONFIG`."
);
code!(
    OTHER_SERVER,
    "postgres.other_server",
    Source,
    Operator,
    "the stored bookmark belongs to another server",
    "Positions in the log are a cluster's own; on another cluster, or on a timeline that left the old one before the \
     bookmark, the same number means other bytes. If the URL is right, copy the table anew: `faucet mirror drop CONFIG`, \
     then `faucet mirror --replace CONFIG`."
);
code!(
    BOOKMARK_INVALID,
    "postgres.bookmark_invalid",
    State,
    Operator,
    "the stored bookmark can't be read",
    "It was written by another source or changed by hand. Restore it, or copy the table anew: `faucet mirror drop CONFIG`, then \
     `faucet mirror --replace CONFIG`."
);
code!(
    STREAM_CORRUPT,
    "postgres.stream_corrupt",
    Source,
    Backoff,
    "the change stream can't be understood",
    "A message of the stream is not as the protocol says. Nothing of it was used. faucet reconnects and reads it again; \
     if the error stays, something between faucet and the server changes the bytes."
);
code!(
    STREAM_UNEXPECTED,
    "postgres.stream_unexpected",
    Source,
    Never,
    "the change stream holds a message that was not asked for",
    "It may hold rows, so it isn't skipped. Streaming of transactions in progress and two-phase commit are never \
     requested; a slot created with `two_phase = true` causes them. Use a slot of faucet's own."
);

/// What the server said while it read its log for the stream of `publication`.
pub(super) fn decoding(said: ServerError, publication: &str) -> Error {
    if said.sqlstate == "42704" && said.message.contains(&format!("\"{publication}\"")) {
        return gone(publication);
    }
    said.into_error()
}

/// The error of a publication that wasn't there at the position of the stream.
pub(super) fn gone(publication: &str) -> Error {
    let what = "it was dropped, made later than the slot, or made anew";
    let text = format!("at the stream's position publication \"{publication}\" did not exist: {what}");
    Error::new(&PUBLICATION_GONE, text).hint(RESYNC)
}

/// The codes of this module.
pub static CODES: &[&Code] = &[
    &VERSION_UNSUPPORTED,
    &WAL_LEVEL,
    &PUBLICATION_MISSING,
    &PUBLICATION_EMPTY,
    &PUBLICATION_GONE,
    &SLOT_MISSING,
    &SLOT_ACTIVE,
    &SLOT_UNFINISHED,
    &SLOT_PLUGIN,
    &SLOT_WRONG_DATABASE,
    &SLOT_LOST,
    &SLOT_AHEAD,
    &OTHER_SERVER,
    &BOOKMARK_INVALID,
    &STREAM_CORRUPT,
    &STREAM_UNEXPECTED,
];
