//! A replication session: start-up, authentication, simple queries, and the step into the stream.
//!
//! Source: PostgreSQL manual, "Frontend/Backend Protocol": "Message Flow" (start-up, simple query, COPY) and "Streaming
//! Replication Protocol". Why it is our own: `host/adr/0005-replication-transport.md`.

use bytes::BytesMut;
use faucet_core::error::{Error, Result};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding as Bound, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::frontend;
use std::collections::HashMap;
use std::io;
use tokio::io::{AsyncWriteExt, ReadHalf, WriteHalf};

use super::inbox::Inbox;
use crate::postgres::connect::{Role, SESSION_SETTINGS, Start, establish};
use crate::postgres::dial::Link;
use crate::postgres::endpoint::{ChannelBinding, Endpoint};
use crate::postgres::error::{AUTH_FAILED, PROTOCOL, ServerError, from_io};

/// A row of a simple query, every value as text.
pub(super) type Row = Vec<Option<String>>;

/// A session that can run simple queries and then become a stream.
#[derive(Debug)]
pub(super) struct Wire {
    inbox: Inbox<ReadHalf<Link>>,
    out: WriteHalf<Link>,
    parameters: HashMap<String, String>,
    /// The server's process.
    pid: i32,
}

impl Wire {
    /// Opens a replication session.
    ///
    /// # Errors
    /// As [`Endpoint::connect`]; `postgres.permission_denied` for a role without REPLICATION.
    pub(super) async fn connect(endpoint: &Endpoint, pipeline: &str) -> Result<Self> {
        let session = establish(endpoint, &Replication { pipeline }).await;
        session.map_err(|error| match error.code().id {
            "postgres.permission_denied" => {
                let role = &endpoint.user;
                error.hint(format!("a change stream needs `ALTER ROLE \"{role}\" REPLICATION`"))
            }
            _ => error,
        })
    }

    /// The server's process that serves this session.
    pub(super) fn pid(&self) -> i32 {
        self.pid
    }

    /// Runs one or more statements, or a replication command; the rows of all of them.
    ///
    /// # Errors
    /// The server's refusal, after which the session goes on; or a broken connection.
    pub(super) async fn query(&mut self, sql: &str) -> Result<Vec<Row>> {
        self.send(|out| frontend::query(sql, out)).await?;
        let mut rows = Vec::new();
        let mut refused = None;
        loop {
            let message = self.receive().await?;
            match message.tag {
                b'D' => rows.push(data_row(&message.body)?),
                b'E' => refused = Some(server_error(&message.body).into_error()),
                b'Z' => return refused.map_or(Ok(rows), Err),
                // Row descriptions, command tags, an empty statement.
                b'T' | b'C' | b'I' => {}
                tag => return Err(unexpected(tag)),
            }
        }
    }

    /// Sends a START_REPLICATION command; the halves of the stream once the server agreed.
    ///
    /// # Errors
    /// The server's refusal comes with the session, which can be used again.
    pub(super) async fn start(mut self, command: &str) -> Result<Started, Box<(Option<Self>, Error)>> {
        if let Err(error) = self.send(|out| frontend::query(command, out)).await {
            return Err(Box::new((None, error)));
        }
        let mut refused = None;
        loop {
            match self.receive().await {
                Ok(message) => match message.tag {
                    b'W' => return self.paced().map_err(|error| Box::new((None, from_io(&error)))),
                    b'E' => refused = Some(server_error(&message.body).into_error()),
                    b'Z' => return Err(Box::new((Some(self), refused.unwrap_or_else(|| unexpected(b'Z'))))),
                    tag => return Err(Box::new((None, unexpected(tag)))),
                },
                Err(error) => return Err(Box::new((None, error))),
            }
        }
    }

    /// The halves of a stream. What it brings is many small messages, and is read in pauses.
    fn paced(self) -> io::Result<Started> {
        let (read, buffer) = self.inbox.into_parts();
        let mut link = read.unsplit(self.out);
        link.pace()?;
        let (read, out) = tokio::io::split(link);
        Ok((Inbox::resume(read, buffer), out))
    }

    /// Says goodbye. A failure to do so is no failure.
    pub(super) async fn close(mut self) {
        let terminate = |out: &mut BytesMut| {
            frontend::terminate(out);
            Ok(())
        };
        let _ = self.send(terminate).await;
        let _ = self.out.shutdown().await;
    }

    async fn send(&mut self, write: impl FnOnce(&mut BytesMut) -> io::Result<()>) -> Result<()> {
        let mut out = BytesMut::new();
        // Refused by the encoder: a zero byte inside a string.
        write(&mut out).map_err(|e| Error::new(&PROTOCOL, format!("a command can't be sent: {e}")))?;
        self.out.write_all(&out).await.map_err(|e| from_io(&e))?;
        self.out.flush().await.map_err(|e| from_io(&e))
    }

    /// The next message that means something to the caller; notices and parameters are dealt with.
    async fn receive(&mut self) -> Result<Owned> {
        loop {
            let message = receive(&mut self.inbox).await?;
            match message.tag {
                b'N' | b'A' => {}
                b'S' => {
                    let mut texts = message.body.split(|&b| b == 0).map(|t| String::from_utf8_lossy(t).into_owned());
                    let (name, value) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
                    self.parameters.insert(name, value);
                }
                _ => return Ok(message),
            }
        }
    }
}

/// The halves of a stream.
pub(super) type Started = (Inbox<ReadHalf<Link>>, WriteHalf<Link>);

/// A message outside the stream, where a copy costs nothing.
struct Owned {
    tag: u8,
    body: Vec<u8>,
}

async fn receive(inbox: &mut Inbox<ReadHalf<Link>>) -> Result<Owned> {
    loop {
        if let Some(length) = inbox.ready().map_err(|_| not_postgres())? {
            let (tag, body) = inbox.message(length);
            let message = Owned { tag, body: body.to_vec() };
            inbox.consume(length);
            return Ok(message);
        }
        inbox.fill().await.map_err(|e| from_io(&e))?;
    }
}

struct Replication<'a> {
    pipeline: &'a str,
}

impl Start for Replication<'_> {
    type Session = Wire;

    async fn start(&self, endpoint: &Endpoint, link: Link) -> Result<Wire> {
        let binding = link.end_point();
        let (read, out) = tokio::io::split(link);
        let mut wire = Wire { inbox: Inbox::new(read), out, parameters: HashMap::new(), pid: 0 };
        let name = endpoint.shown_name(self.pipeline);
        let mut parameters = vec![
            ("user", endpoint.user.as_str()),
            ("database", &endpoint.database),
            ("replication", "database"),
            ("client_encoding", "UTF8"),
            ("application_name", &name),
        ];
        parameters.extend(endpoint.options.as_deref().map(|o| ("options", o)));
        wire.send(|out| frontend::startup_message(parameters, out)).await?;
        wire.authenticate(endpoint, binding).await?;
        wire.query(SESSION_SETTINGS).await?;
        Ok(wire)
    }

    fn role(session: &Wire) -> Role {
        Role::of(|name| session.parameters.get(name).map(String::as_str))
    }
}

impl Wire {
    async fn authenticate(&mut self, endpoint: &Endpoint, end_point: Option<Vec<u8>>) -> Result<()> {
        loop {
            let message = self.receive().await?;
            match message.tag {
                b'R' => self.answer(&message.body, endpoint, end_point.clone()).await?,
                // The process, and the key for cancel requests, which a stream has no use for.
                b'K' => self.pid = message.body.first_chunk().map_or(0, |pid| i32::from_be_bytes(*pid)),
                b'Z' => return Ok(()),
                b'E' => return Err(refused(&message.body, endpoint)),
                b'v' => return Err(not_postgres()),
                tag => return Err(unexpected(tag)),
            }
        }
    }

    async fn answer(&mut self, body: &[u8], endpoint: &Endpoint, end_point: Option<Vec<u8>>) -> Result<()> {
        let (method, rest) = body.split_first_chunk::<4>().ok_or_else(not_postgres)?;
        let method = i32::from_be_bytes(*method);
        if endpoint.channel_binding == ChannelBinding::Require && !matches!(method, 0 | 10) {
            return Err(unbound());
        }
        let password = endpoint.password.as_ref().map_or("", |p| &p.0).as_bytes();
        match method {
            0 => Ok(()),
            3 => self.send(|out| frontend::password_message(password, out)).await,
            5 => {
                let salt = rest.first_chunk::<4>().ok_or_else(not_postgres)?;
                let hash = md5_hash(endpoint.user.as_bytes(), password, *salt);
                self.send(|out| frontend::password_message(hash.as_bytes(), out)).await
            }
            10 => self.scram(password, choose(rest, endpoint, end_point)?, endpoint).await,
            _ => Err(Error::new(&AUTH_FAILED, "the server asks for a way of authentication that is not supported")
                .hint(
                    "passwords (SCRAM, MD5, plain), client certificates and trust are supported; change pg_hba.conf",
                )),
        }
    }

    async fn scram(&mut self, password: &[u8], how: (&str, Bound), endpoint: &Endpoint) -> Result<()> {
        let (mechanism, binding) = how;
        let mut scram = ScramSha256::new(password, binding);
        self.send(|out| frontend::sasl_initial_response(mechanism, scram.message(), out)).await?;
        let challenge = self.sasl_part(11, endpoint).await?;
        scram.update(&challenge).map_err(|_| mistrusted())?;
        self.send(|out| frontend::sasl_response(scram.message(), out)).await?;
        let proof = self.sasl_part(12, endpoint).await?;
        scram.finish(&proof).map_err(|_| mistrusted())
    }

    async fn sasl_part(&mut self, expected: i32, endpoint: &Endpoint) -> Result<Vec<u8>> {
        let message = self.receive().await?;
        match (message.tag, message.body.split_first_chunk::<4>()) {
            (b'R', Some((method, rest))) if i32::from_be_bytes(*method) == expected => Ok(rest.to_vec()),
            (b'E', _) => Err(refused(&message.body, endpoint)),
            (tag, _) => Err(unexpected(tag)),
        }
    }
}

/// Which SCRAM mechanism, and how it is bound to the TLS session.
fn choose(offered: &[u8], endpoint: &Endpoint, end_point: Option<Vec<u8>>) -> Result<(&'static str, Bound)> {
    let offers = |mechanism: &str| offered.split(|&b| b == 0).any(|m| m == mechanism.as_bytes());
    let wanted = endpoint.channel_binding != ChannelBinding::Disable;
    match end_point.filter(|_| wanted) {
        Some(hash) if offers(SCRAM_SHA_256_PLUS) => Ok((SCRAM_SHA_256_PLUS, Bound::tls_server_end_point(hash))),
        _ if endpoint.channel_binding == ChannelBinding::Require => Err(unbound()),
        // "Unrequested" lets the server notice that somebody took its offer of channel binding out.
        Some(_) if offers(SCRAM_SHA_256) => Ok((SCRAM_SHA_256, Bound::unrequested())),
        None if offers(SCRAM_SHA_256) => Ok((SCRAM_SHA_256, Bound::unsupported())),
        _ => Err(Error::new(&AUTH_FAILED, "the server offers no SCRAM mechanism that is supported")),
    }
}

fn refused(body: &[u8], endpoint: &Endpoint) -> Error {
    let error = server_error(body).into_error();
    if error.code() == &AUTH_FAILED && endpoint.password.is_none() {
        return error.hint("`connection_url` holds no password, and the server may want one");
    }
    error
}

fn unbound() -> Error {
    Error::new(&AUTH_FAILED, "channel_binding=require, but the server didn't bind authentication to the TLS session")
}

fn mistrusted() -> Error {
    Error::new(&AUTH_FAILED, "the server's part of SCRAM authentication is wrong")
        .hint("something between faucet and the server may be pretending to be the server")
}

fn not_postgres() -> Error {
    Error::new(&PROTOCOL, "what answers there doesn't speak PostgreSQL's protocol")
}

pub(super) fn unexpected(tag: u8) -> Error {
    Error::new(&PROTOCOL, format!("the server sent a message of kind '{}' out of turn", tag.escape_ascii()))
}

/// Reads an ErrorResponse; what isn't shown is dropped here.
pub(super) fn server_error(body: &[u8]) -> ServerError {
    let mut error = ServerError::default();
    for field in body.split(|&b| b == 0) {
        let Some((&kind, text)) = field.split_first() else { break };
        let text = String::from_utf8_lossy(text).into_owned();
        match kind {
            b'C' => error.sqlstate = text,
            b'M' => error.message = text,
            b't' => error.table = Some(text),
            b'c' => error.column = Some(text),
            b'n' => error.constraint = Some(text),
            _ => {}
        }
    }
    error
}

/// Whether a notice or error comes from this routine of the server: unlike its message, that is in no language.
pub(super) fn is_from(body: &[u8], routine: &str) -> bool {
    body.split(|&b| b == 0).any(|field| field.split_first() == Some((&b'R', routine.as_bytes())))
}

fn data_row(body: &[u8]) -> Result<Row> {
    let mut rest = body.get(2..).ok_or_else(not_postgres)?;
    let mut row = Row::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        rest = after;
        row.push(match i32::from_be_bytes(*length) {
            -1 => None,
            length => {
                let length = usize::try_from(length).map_err(|_| not_postgres())?;
                let (value, after) = rest.split_at_checked(length).ok_or_else(not_postgres)?;
                rest = after;
                Some(String::from_utf8_lossy(value).into_owned())
            }
        });
    }
    Ok(row)
}

/// A text as an SQL literal (with `standard_conforming_strings`, which the replication grammar always has).
pub(super) fn quote_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_error_response_keeps_what_may_be_shown() {
        let body = b"SERROR\0VERROR\0C23505\0Mduplicate key\0DKey (id)=(7) exists.\0tt\0nt_pkey\0\0";
        let error = server_error(body);
        assert_eq!((error.sqlstate.as_str(), error.constraint.as_deref()), ("23505", Some("t_pkey")));
        assert!(!format!("{:?}", error.into_error()).contains("(7)"));
    }

    #[test]
    fn rows_are_read_and_nulls_kept() {
        let body = [&[0, 2], [0, 0, 0, 1].as_slice(), b"x", &[255, 255, 255, 255]].concat();
        assert_eq!(data_row(&body).unwrap(), [Some("x".into()), None]);
    }

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quote_text("it's"), "'it''s'");
    }

    proptest! {
        #[test]
        fn garbage_never_panics(body in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = (server_error(&body), data_row(&body));
        }
    }
}
