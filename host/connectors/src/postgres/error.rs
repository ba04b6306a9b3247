//! What can go wrong when talking to a PostgreSQL server, and the mapping from SQLSTATE to our codes.
//!
//! A server's message is shown except where it may quote a value (class 22, and exceptions raised by user code). Its
//! DETAIL, HINT and CONTEXT are never shown: they quote keys and rows.
//! Source: PostgreSQL manual, appendix "PostgreSQL Error Codes".

use faucet_core::error::{Blame, Code, Error, Retry};

/// Declares a documented code.
macro_rules! code {
    ($name:ident, $id:literal, $blame:ident, $retry:ident, $title:literal, $help:literal) => {
        #[doc = concat!("`", $id, "`: ", $title, ".")]
        pub static $name: Code =
            Code { id: $id, blame: Blame::$blame, retry: Retry::$retry, title: $title, help: $help };
    };
}
pub(super) use code;

code!(
    URL_INVALID,
    "postgres.url_invalid",
    Config,
    Never,
    "the connection URL can't be used",
    "A connection is given as `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=...` or as `host=... user=...` pairs, \
     the same two forms psql takes. Characters such as `@ : / ? # %` inside a user name or password must be \
     percent-encoded in the first form (`@` is `%40`) and values with spaces quoted in the second."
);
code!(
    UNREACHABLE,
    "postgres.unreachable",
    Environment,
    Backoff,
    "the PostgreSQL server can't be reached",
    "No connection could be opened. 'refused' means that nothing listens there: check host and port, and that the \
     server runs and listens on that address (`listen_addresses`). 'not found' means that the name doesn't resolve. \
     'timed out' is most often a firewall; `connect_timeout` in the URL sets how long to wait."
);
code!(
    AUTH_FAILED,
    "postgres.auth_failed",
    Config,
    Operator,
    "the server refused this user",
    "The password is wrong or missing, the role doesn't exist or may not log in, or pg_hba.conf has no line that lets \
     this user in from here (for a change stream the line's database column must name the database, and the role needs \
     REPLICATION). The server's own log says which."
);
code!(
    TLS_FAILED,
    "postgres.tls_failed",
    Config,
    Operator,
    "no trusted TLS connection could be made",
    "`sslmode=require` needs a server with `ssl = on`. `verify-ca` and `verify-full` need the certificate authority \
     that signed the server's certificate (`sslrootcert`, or `tls.ca_cert_path`; `system` for the machine's own store), \
     and `verify-full` also that the certificate names the host of the URL."
);
code!(
    DATABASE_MISSING,
    "postgres.database_missing",
    Config,
    Operator,
    "the database does not exist",
    "The part of the URL after the last slash names the database. `psql -l` lists those the server has."
);
code!(
    PERMISSION_DENIED,
    "postgres.permission_denied",
    Config,
    Operator,
    "the role lacks a privilege",
    "Grant what the message names. Reading tables needs SELECT and USAGE on the schema; writing needs SELECT, \
     INSERT, UPDATE, DELETE and, for `create_table` and the table of commit tokens, CREATE on the schema; a change stream needs `ALTER ROLE name REPLICATION`."
);
code!(
    ROWS_HIDDEN,
    "postgres.rows_hidden",
    Source,
    Operator,
    "row-level security hides rows of the table from the role",
    "A copy made by this role would lack the rows that the table's policies hide, while a change stream carries their \
     changes, so reading fails instead. Give the role BYPASSRLS (`ALTER ROLE name BYPASSRLS`), or use another role in \
     `connection_url` that has it. To leave rows out on purpose, give the publication a row filter, or use a `filter` transform."
);
code!(
    TOO_MANY_CONNECTIONS,
    "postgres.too_many_connections",
    Environment,
    Backoff,
    "the server has no connection left",
    "All of `max_connections` (or the role's or database's own limit, or `max_wal_senders` for a change stream) are in \
     use. faucet tries again; raise the limit or close other clients if it stays so."
);
code!(
    CONNECTION_LOST,
    "postgres.connection_lost",
    Environment,
    Backoff,
    "the connection to the server broke",
    "The server or the network ended the connection. faucet reconnects and resumes at the last durable position."
);
code!(
    SHUTTING_DOWN,
    "postgres.shutting_down",
    Environment,
    Backoff,
    "the server is starting, stopping, or ended this session",
    "An administrator ended the session or restarted the server, or a setting of the role, the database or the server did: \
     the message says which. faucet tries again."
);
code!(
    OUT_OF_RESOURCES,
    "postgres.out_of_resources",
    Environment,
    Backoff,
    "the server is out of disk, memory or another resource",
    "The message names it. faucet tries again; the server needs room first."
);
code!(
    CONFLICT,
    "postgres.conflict",
    Environment,
    Backoff,
    "another transaction was in the way",
    "A serialization failure, a deadlock, a lock that wasn't granted in time or a cancelled statement. Nothing was \
     committed; faucet tries again."
);
code!(
    READ_ONLY,
    "postgres.read_only",
    Environment,
    Backoff,
    "the server accepts no writes",
    "It is a standby, or its default is read-only transactions. Point the URL at the primary; with several hosts use \
     `target_session_attrs=read-write`."
);
code!(
    WRONG_SESSION,
    "postgres.wrong_session",
    Environment,
    Backoff,
    "no host is of the kind `target_session_attrs` asks for",
    "Every host was reached, but none was, for instance, the writable primary. During a failover this passes by itself."
);
code!(
    TABLE_MISSING,
    "postgres.table_missing",
    Config,
    Operator,
    "a table or view does not exist",
    "Names are case-sensitive when quoted and looked up along `search_path`; write `schema.table` to be exact. A role \
     without USAGE on the schema is told the same."
);
code!(
    COLUMN_MISSING,
    "postgres.column_missing",
    Config,
    Operator,
    "a column does not exist",
    "The query or the destination names a column that the table doesn't have. Compare with `\\d table` in psql."
);
code!(
    OBJECT_MISSING,
    "postgres.object_missing",
    Config,
    Operator,
    "a schema, type, function or other object does not exist",
    "The message names it. Create it in the database that connection_url names, or correct the name in the configuration."
);
code!(
    QUERY_INVALID,
    "postgres.query_invalid",
    Config,
    Never,
    "the server can't make sense of the SQL",
    "Try the statement in psql; the message says where it goes wrong."
);
code!(
    CONSTRAINT_VIOLATED,
    "postgres.constraint_violated",
    Sink,
    Operator,
    "a row breaks a constraint of the table",
    "The message names the constraint. A unique violation under `append` often means that rows were there already: use \
     `write_mode: upsert`. A foreign key can be violated while tables catch up at different times."
);
code!(
    VALUE_REFUSED,
    "postgres.value_refused",
    Sink,
    Operator,
    "a value doesn't fit its column",
    "The column's type can't hold the value: too long, out of range, or of another form. Values are never shown; the \
     server's log has them. Widen the column, or cast in a transform."
);
code!(
    CHARACTER_REFUSED,
    "postgres.character_refused",
    Sink,
    Operator,
    "a text has a character that PostgreSQL can't store",
    "No `text` and no `jsonb` of PostgreSQL holds the character U+0000, which files, JSON (`\\u0000`) and other systems may \
     have in their texts; and a database in another encoding than UTF8 lacks most characters. Correct the value at the \
     source, remove the character in a plugin, or leave the column out with the transform `drop`. A \
     `bytea` column holds any bytes: turn the text into bytes with the transform `cast` and `bytes: utf8`. For another \
     encoding, load the destination into a database in UTF8."
);
code!(
    RAISED,
    "postgres.raised",
    Sink,
    Operator,
    "a trigger or function raised an exception",
    "Code inside the database stopped the statement. Its text may hold values and is only in the server's log."
);
code!(
    REFUSED,
    "postgres.refused",
    Environment,
    Operator,
    "the server refused a statement",
    "The message and SQLSTATE are the server's own; the SQLSTATE is explained in Appendix A of PostgreSQL's manual."
);
code!(
    SERVER_FAULT,
    "postgres.server_fault",
    Environment,
    Operator,
    "the server reports damage or an internal error",
    "Look at the server's log before anything else: the server reports that its own files or state are damaged."
);
code!(
    PROTOCOL,
    "postgres.protocol",
    Environment,
    Never,
    "what answers there doesn't speak PostgreSQL's protocol as expected",
    "Check that host and port are a PostgreSQL server's. Proxies that understand only a part of the protocol are another \
     cause: a change stream needs a direct connection."
);

/// The codes of this module.
pub static CODES: &[&Code] = &[
    &URL_INVALID,
    &UNREACHABLE,
    &AUTH_FAILED,
    &TLS_FAILED,
    &DATABASE_MISSING,
    &PERMISSION_DENIED,
    &ROWS_HIDDEN,
    &TOO_MANY_CONNECTIONS,
    &CONNECTION_LOST,
    &SHUTTING_DOWN,
    &OUT_OF_RESOURCES,
    &CONFLICT,
    &READ_ONLY,
    &WRONG_SESSION,
    &TABLE_MISSING,
    &COLUMN_MISSING,
    &OBJECT_MISSING,
    &QUERY_INVALID,
    &CONSTRAINT_VIOLATED,
    &VALUE_REFUSED,
    &CHARACTER_REFUSED,
    &RAISED,
    &REFUSED,
    &SERVER_FAULT,
    &PROTOCOL,
];

/// The parts of a server's ErrorResponse that may be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerError {
    /// Five characters.
    pub sqlstate: String,
    /// The primary message.
    pub message: String,
    /// The table at fault, where the server says it.
    pub table: Option<String>,
    /// The column at fault, where the server says it.
    pub column: Option<String>,
    /// The constraint at fault, where the server says it.
    pub constraint: Option<String>,
}

impl ServerError {
    /// What the driver has of one.
    pub fn of(db: &tokio_postgres::error::DbError) -> Self {
        Self {
            sqlstate: db.code().code().to_owned(),
            message: db.message().to_owned(),
            table: db.table().map(str::to_owned),
            column: db.column().map(str::to_owned),
            constraint: db.constraint().map(str::to_owned),
        }
    }

    /// The error for people, under the code its SQLSTATE stands for.
    pub fn into_error(self) -> Error {
        let code = code_of(&self.sqlstate);
        let error = Error::new(code, self.summary(code));
        match hint_of(&self.sqlstate) {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    fn summary(&self, code: &'static Code) -> String {
        // One that names nothing was raised by user code under a borrowed SQLSTATE.
        let raised = code.id == CONSTRAINT_VIOLATED.id && self.constraint.is_none() && self.column.is_none();
        let mut text = if raised || quotes_values(code) { code.title.to_owned() } else { self.message.clone() };
        let places = [("table", &self.table), ("column", &self.column), ("constraint", &self.constraint)];
        for (what, name) in places {
            if let Some(name) = name
                && !text.contains(name.as_str())
            {
                text.push_str(&format!(", {what} \"{name}\""));
            }
        }
        format!("{text} (SQLSTATE {})", self.sqlstate)
    }
}

/// Whether the primary message of such an error can quote a value.
fn quotes_values(code: &Code) -> bool {
    code.id == VALUE_REFUSED.id || code.id == RAISED.id
}

/// The code an SQLSTATE stands for.
pub fn code_of(sqlstate: &str) -> &'static Code {
    match sqlstate {
        "08P01" => &PROTOCOL,
        "3D000" => &DATABASE_MISSING,
        "42501" => &PERMISSION_DENIED,
        "53300" => &TOO_MANY_CONNECTIONS,
        "57014" | "55P03" | "55006" => &CONFLICT,
        "25006" => &READ_ONLY,
        "42P01" => &TABLE_MISSING,
        "42703" => &COLUMN_MISSING,
        "42704" | "42883" | "3F000" => &OBJECT_MISSING,
        "42601" | "42P02" | "42702" | "42725" | "42803" | "42P10" => &QUERY_INVALID,
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" | "25P03" | "25P04" => &SHUTTING_DOWN,
        "P0001" => &RAISED,
        _ => class_of(sqlstate),
    }
}

fn class_of(sqlstate: &str) -> &'static Code {
    match sqlstate.get(..2).unwrap_or_default() {
        "08" => &CONNECTION_LOST,
        "22" => &VALUE_REFUSED,
        "23" => &CONSTRAINT_VIOLATED,
        "28" => &AUTH_FAILED,
        "40" => &CONFLICT,
        "53" | "54" => &OUT_OF_RESOURCES,
        "58" | "XX" | "F0" => &SERVER_FAULT,
        _ => &REFUSED,
    }
}

fn hint_of(sqlstate: &str) -> Option<&'static str> {
    match sqlstate {
        "28P01" => Some("check user and password in `connection_url`; special characters must be percent-encoded"),
        "28000" => Some("check the role's name and the server's pg_hba.conf for this user, database, address and TLS"),
        "3D000" => Some("check the database's name in `connection_url`"),
        "42P01" => Some("check the table's name and schema, and that `connection_url` names the right database"),
        "42703" => Some("check the column's name; PostgreSQL folds unquoted names to lower case"),
        "42501" => Some("grant the role what is missing, or use another role in `connection_url`"),
        "53300" => Some("raise `max_connections`, or close other clients"),
        "53400" => Some(
            "if it is slots: drop one that nobody reads (pg_replication_slots), or raise `max_replication_slots` and restart the \
             server",
        ),
        "57P05" => {
            Some("`idle_session_timeout` is set: run `ALTER ROLE name SET idle_session_timeout = 0` for this role")
        }
        "25P03" => Some(
            "`idle_in_transaction_session_timeout` is set by something between faucet and the server, such as a pooler: \
             faucet sets it to 0",
        ),
        "25P04" => {
            Some("`transaction_timeout` is set: run `ALTER ROLE name SET transaction_timeout = 0` for this role")
        }
        "55P03" => Some(
            "`lock_timeout` is set and another session holds the lock (pg_locks says which): run `ALTER ROLE name SET \
             lock_timeout = 0` for this role to wait for it",
        ),
        "57P01" => Some("it was ended by pg_terminate_backend, a restart or a failover; the server's log says when"),
        _ => None,
    }
}

/// The error for people behind a failure of tokio-postgres.
pub fn from_driver(error: &tokio_postgres::Error) -> Error {
    if let Some(db) = error.as_db_error() {
        // The SQLSTATE is that of a missing privilege, and the text is in the server's language.
        if db.routine() == Some("check_enable_rls") {
            return Error::new(&ROWS_HIDDEN, db.message())
                .hint("run `ALTER ROLE name BYPASSRLS` as superuser for this role");
        }
        return ServerError::of(db).into_error();
    }
    if error.is_closed() {
        return Error::new(&CONNECTION_LOST, "the server closed the connection");
    }
    match std::error::Error::source(error).and_then(|s| s.downcast_ref::<std::io::Error>()) {
        Some(io) => from_io(io),
        // The driver's own texts (a type that can't be converted, a malformed message) hold no value.
        None if is_authentication(error) => Error::new(&AUTH_FAILED, error.to_string()),
        None => Error::new(&PROTOCOL, error.to_string()),
    }
}

/// Whether the driver itself gave up on authentication, such as for a channel binding that isn't there. It keeps the
/// kind of its errors to itself.
fn is_authentication(error: &tokio_postgres::Error) -> bool {
    error.to_string().starts_with("authentication error")
}

/// The error for people behind a failed read or write on an established connection.
pub fn from_io(error: &std::io::Error) -> Error {
    let what = match error.kind() {
        std::io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        kind => format!("the connection to the server broke: {kind}"),
    };
    Error::new(&CONNECTION_LOST, what)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn server(sqlstate: &str, message: &str) -> ServerError {
        ServerError { sqlstate: sqlstate.into(), message: message.into(), ..Default::default() }
    }

    #[test]
    fn a_value_quoted_by_the_server_is_not_repeated() {
        let mut bad = server("22P02", "invalid input syntax for type integer: \"s3cret\"");
        bad.column = Some("age".into());
        let error = bad.into_error();
        assert_eq!(error.code().id, "postgres.value_refused");
        assert_eq!(error.to_string(), "a value doesn't fit its column, column \"age\" (SQLSTATE 22P02)");
        // A trigger may raise under any SQLSTATE.
        for state in ["P0001", "23514"] {
            assert!(!server(state, "balance of Ann is 12").into_error().to_string().contains("Ann"), "{state}");
        }
    }

    #[test]
    fn the_retry_axis_follows_the_sqlstate() {
        for (state, id, retry) in [
            ("57P01", "postgres.shutting_down", Retry::Backoff),
            ("40001", "postgres.conflict", Retry::Backoff),
            ("40P01", "postgres.conflict", Retry::Backoff),
            ("08006", "postgres.connection_lost", Retry::Backoff),
            ("53100", "postgres.out_of_resources", Retry::Backoff),
            ("42P01", "postgres.table_missing", Retry::Operator),
            ("28P01", "postgres.auth_failed", Retry::Operator),
            ("23505", "postgres.constraint_violated", Retry::Operator),
            ("42601", "postgres.query_invalid", Retry::Never),
            ("", "postgres.refused", Retry::Operator),
        ] {
            let code = code_of(state);
            assert_eq!((code.id, code.retry), (id, retry), "{state}");
        }
    }

    #[test]
    fn codes_are_unique_and_documented() {
        let mut ids: Vec<_> = CODES.iter().map(|c| c.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), CODES.len());
        assert!(CODES.iter().all(|c| !c.help.is_empty() && c.id.starts_with("postgres.")));
    }
}
