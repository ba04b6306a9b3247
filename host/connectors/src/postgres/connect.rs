//! Connects: hosts in order, each with the attempts its `sslmode` allows, until one fits.
//!
//! Ordinary sessions go through tokio-postgres on a [`Link`] that is open and encrypted already; the change stream has
//! its own protocol on the same links (`cdc/wire.rs`). Both share this file, so every `sslmode` means the same on both.
//!
//! Every session speaks ISO dates, ISO 8601 intervals, UTC, shortest exact floats, hex bytes and UTF-8, whatever the
//! role's or the database's own settings are: the value decoders rely on it.

use faucet_core::error::{Error, Result};
use rand::seq::SliceRandom;
use std::convert::Infallible;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_postgres::config::{SslMode as DriverSslMode, SslNegotiation};
use tokio_postgres::tls::{ChannelBinding as DriverBinding, TlsConnect, TlsStream};
use tokio_postgres::{Client, Connection};

use super::dial::{Encryption, Link, dial};
use super::endpoint::{ChannelBinding, Endpoint, Host, TargetSession};
use super::error::{AUTH_FAILED, CONNECTION_LOST, ServerError, TLS_FAILED, WRONG_SESSION, from_driver};
use super::tls::SslMode;

/// What every session is set to before it is used. `statement_timeout` and its kin would end long reads; the last of them
/// came with PostgreSQL 17. A database in SQL_ASCII converts nothing and refuses to show as UTF-8 what is none: its bytes are
/// taken as they are, so that the decoder can say which column they are in.
pub const SESSION_SETTINGS: &str = "SET DateStyle = 'ISO'; SET IntervalStyle = 'iso_8601'; SET TimeZone = 'UTC'; \
     SET extra_float_digits = 3; SET bytea_output = 'hex'; SET client_encoding = 'UTF8'; \
     SET xmloption = 'content'; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
     SET idle_session_timeout = 0; \
     SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name = 'transaction_timeout'; \
     SELECT pg_catalog.set_config('client_encoding', 'SQL_ASCII', false) \
     WHERE pg_catalog.current_setting('server_encoding') = 'SQL_ASCII'";

/// A protocol spoken over an open link: the start-up up to a usable session.
pub(super) trait Start: Sync {
    /// What a successful start-up gives.
    type Session: Send;

    /// Authenticates and makes the session usable.
    fn start(&self, endpoint: &Endpoint, link: Link) -> impl Future<Output = Result<Self::Session>> + Send;

    /// What kind of server it turned out to be.
    fn role(session: &Self::Session) -> Role;
}

/// What a server says about itself at start-up (from PostgreSQL 14 on).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Role {
    standby: bool,
    read_only: bool,
}

impl Role {
    /// Reads the parameters reported at start-up.
    pub(super) fn of<'a>(parameter: impl Fn(&str) -> Option<&'a str>) -> Self {
        let on = |name| parameter(name) == Some("on");
        let standby = on("in_hot_standby");
        Self { standby, read_only: standby || on("default_transaction_read_only") }
    }

    fn fits(self, target: TargetSession) -> bool {
        match target {
            TargetSession::Any | TargetSession::PreferStandby => true,
            TargetSession::ReadWrite => !self.read_only,
            TargetSession::ReadOnly => self.read_only,
            TargetSession::Primary => !self.standby,
            TargetSession::Standby => self.standby,
        }
    }
}

/// Opens a session of protocol `start` on the first host that fits.
pub(super) async fn establish<S: Start>(endpoint: &Endpoint, start: &S) -> Result<S::Session> {
    let mut hosts: Vec<&Host> = endpoint.hosts.iter().collect();
    if endpoint.shuffle {
        hosts.shuffle(&mut rand::rng());
    }
    let targets: &[TargetSession] = match endpoint.target {
        TargetSession::PreferStandby => &[TargetSession::Standby, TargetSession::Any],
        _ => &[endpoint.target],
    };
    let mut last = None;
    for &target in targets {
        for &host in &hosts {
            match at_host(endpoint, host, start).await {
                Ok(session) if S::role(&session).fits(target) => return Ok(session),
                Ok(_) => last = Some(wrong_session(host)),
                Err(error) if hosts.len() == 1 => return Err(error),
                Err(error) => {
                    tracing::debug!(%host, code = error.code().id, %error, "trying the next host");
                    last = Some(error);
                }
            }
        }
    }
    Err(last.unwrap_or_else(|| Error::new(&WRONG_SESSION, "the URL lists no host")))
}

async fn at_host<S: Start>(endpoint: &Endpoint, host: &Host, start: &S) -> Result<S::Session> {
    let attempts: &[Encryption] = match endpoint.tls.mode {
        SslMode::Disable => &[Encryption::Plain],
        SslMode::Allow => &[Encryption::Plain, Encryption::Required],
        SslMode::Prefer => &[Encryption::Offered, Encryption::Plain],
        SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => &[Encryption::Required],
    };
    let mut first: Option<Error> = None;
    for &encryption in attempts {
        let (encrypted, result) = attempt(endpoint, host, encryption, start).await;
        let error = match result {
            Ok(session) => return Ok(session),
            Err(error) => error,
        };
        // Only a server that wants the other way is worth the other attempt: a wrong password stays wrong.
        let other_way = match (endpoint.tls.mode, encryption) {
            (SslMode::Allow, Encryption::Plain) => error.code() == &AUTH_FAILED,
            (SslMode::Prefer, Encryption::Offered) => {
                error.code() == &TLS_FAILED || (encrypted && error.code() == &AUTH_FAILED)
            }
            _ => false,
        };
        let error = first.take().unwrap_or(error);
        if !other_way {
            return Err(error);
        }
        first = Some(error);
    }
    Err(first.unwrap_or_else(|| Error::new(&TLS_FAILED, format!("no way to connect to {host} was tried"))))
}

/// One attempt, and whether its link was encrypted.
async fn attempt<S: Start>(
    endpoint: &Endpoint,
    host: &Host,
    encryption: Encryption,
    start: &S,
) -> (bool, Result<S::Session>) {
    let link = match dial(endpoint, host, encryption).await {
        Ok(link) => link,
        Err(error) => return (false, Err(error)),
    };
    let encrypted = link.is_tls();
    let started = tokio::time::timeout(endpoint.connect_timeout, start.start(endpoint, link)).await;
    let result = started.unwrap_or_else(|_| {
        let text = format!("{host} took the connection but didn't answer within the connect timeout");
        Err(Error::new(&super::error::UNREACHABLE, text).hint("is it a PostgreSQL server that listens on this port?"))
    });
    (encrypted, result.map_err(|e| e.context(format!("connecting to {host}"))))
}

fn wrong_session(host: &Host) -> Error {
    Error::new(&WRONG_SESSION, format!("{host} is not the kind of server `target_session_attrs` asks for"))
        .hint("list all hosts of the cluster in `connection_url`, or drop `target_session_attrs`")
}

/// An ordinary session. The task that moves its bytes ends with it.
#[derive(Debug)]
pub struct Session {
    client: Client,
    driver: Driver,
    role: Role,
    last_words: LastWords,
}

/// What the server said when it ended the session. It says that to nobody who asked, so no call on the client has it.
type LastWords = Arc<OnceLock<ServerError>>;

/// The task that moves a session's bytes; it never outlives its owner.
#[derive(Debug)]
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Deref for Session {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

impl Session {
    /// `error`, or what the server said when it ended the session, if the error is that it is gone.
    #[must_use]
    pub fn explain(&self, error: Error) -> Error {
        match self.last_words.get() {
            Some(said) if error.code() == &CONNECTION_LOST => {
                let explained = said.clone().into_error();
                error.contexts().iter().fold(explained, |explained, what| explained.context(what))
            }
            _ => error,
        }
    }

    /// Ends the session in good order: the goodbye is sent when this returns.
    pub async fn close(self) {
        let Self { client, mut driver, .. } = self;
        drop(client);
        // Bounded: a server that is gone holds nobody up.
        let _ = tokio::time::timeout(Duration::from_secs(2), &mut driver.0).await;
    }
}

impl Endpoint {
    /// Opens an ordinary session, set as [`SESSION_SETTINGS`] says and shown to the server as `faucet:<pipeline>`.
    ///
    /// # Errors
    /// `postgres.unreachable`, `postgres.tls_failed`, `postgres.auth_failed`, `postgres.database_missing` and others of
    /// this module's codes.
    pub async fn connect(&self, pipeline: &str) -> Result<Session> {
        establish(self, &Ordinary { pipeline }).await
    }

    /// Opens a session that rows are read in: a policy that hides rows from the role makes a query fail instead of giving
    /// fewer rows.
    ///
    /// # Errors
    /// As [`Endpoint::connect`].
    pub async fn connect_source(&self, pipeline: &str) -> Result<Session> {
        let session = self.connect(pipeline).await?;
        session.batch_execute("SET row_security = off").await.map_err(|e| from_driver(&e))?;
        Ok(session)
    }

    /// What the server shows as the session's name.
    pub(super) fn shown_name(&self, pipeline: &str) -> String {
        self.application_name.clone().unwrap_or_else(|| format!("faucet:{pipeline}"))
    }
}

struct Ordinary<'a> {
    pipeline: &'a str,
}

impl Start for Ordinary<'_> {
    type Session = Session;

    async fn start(&self, endpoint: &Endpoint, link: Link) -> Result<Session> {
        let config = driver_config(endpoint, self.pipeline, link.is_tls());
        let (client, connection) = config.connect_raw(link, Ready).await.map_err(|e| start_failed(endpoint, &e))?;
        let role = Role::of(|name| connection.parameter(name));
        let last_words = LastWords::default();
        let driver = Driver(tokio::spawn(drive(connection, last_words.clone())));
        let session = Session { client, driver, role, last_words };
        session.batch_execute(SESSION_SETTINGS).await.map_err(|e| session.explain(from_driver(&e)))?;
        Ok(session)
    }

    fn role(session: &Session) -> Role {
        session.role
    }
}

async fn drive(connection: Connection<Link, Link>, last_words: LastWords) {
    // It lives on until what it ended with is kept: its client learns of the end when it goes.
    let mut connection = pin!(connection);
    if let Err(error) = connection.as_mut().await {
        if let Some(said) = error.as_db_error() {
            let _ = last_words.set(ServerError::of(said));
        }
        // Whoever uses the session gets the error too; the text is the driver's, not the server's.
        tracing::debug!(closed = error.is_closed(), "a PostgreSQL session ended with an error");
    }
}

fn driver_config(endpoint: &Endpoint, pipeline: &str, tls: bool) -> tokio_postgres::Config {
    let mut config = tokio_postgres::Config::new();
    config.user(&endpoint.user).dbname(&endpoint.database).application_name(endpoint.shown_name(pipeline));
    // A server that wants a password it wasn't given then says so itself, under the usual SQLSTATE.
    config.password(endpoint.password.as_ref().map_or("", |p| &p.0));
    if let Some(options) = &endpoint.options {
        config.options(options);
    }
    config.channel_binding(match endpoint.channel_binding {
        ChannelBinding::Disable => tokio_postgres::config::ChannelBinding::Disable,
        ChannelBinding::Prefer => tokio_postgres::config::ChannelBinding::Prefer,
        ChannelBinding::Require => tokio_postgres::config::ChannelBinding::Require,
    });
    // The link is encrypted already: "direct" makes the driver hand it over without a negotiation of its own.
    if tls {
        config.ssl_mode(DriverSslMode::Require).ssl_negotiation(SslNegotiation::Direct);
    } else {
        config.ssl_mode(DriverSslMode::Disable);
    }
    config
}

fn start_failed(endpoint: &Endpoint, error: &tokio_postgres::Error) -> Error {
    let mut error = from_driver(error);
    if error.code() == &AUTH_FAILED && endpoint.password.is_none() {
        error = error.hint("`connection_url` holds no password, and the server may want one");
    }
    error
}

/// Hands an encrypted link to the driver as the outcome of its own handshake.
struct Ready;

impl TlsConnect<Link> for Ready {
    type Stream = Link;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Link, Infallible>>;

    fn connect(self, link: Link) -> Self::Future {
        std::future::ready(Ok(link))
    }
}

impl TlsStream for Link {
    fn channel_binding(&self) -> DriverBinding {
        self.end_point().map_or_else(DriverBinding::none, DriverBinding::tls_server_end_point)
    }
}
