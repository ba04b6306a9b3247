//! Connections, and databases that last as long as one test.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio_postgres::{Config, NoTls, SimpleQueryMessage};

use crate::compare::{Row, Rows};
use crate::postgres::{MAJORS, Postgres, PostgresOptions};
use crate::runtime;

/// A blocking connection. Values go in as SQL and come out as PostgreSQL's own text, which is what an oracle wants.
#[derive(Debug, Clone)]
pub struct Client {
    inner: std::sync::Arc<tokio_postgres::Client>,
}

impl Client {
    /// Connects, or panics with the server's reason.
    #[track_caller]
    pub fn connect(url: &str) -> Self {
        match Self::try_connect(url) {
            Ok(client) => client,
            Err(reason) => panic!("cannot connect to the test server: {reason}"),
        }
    }

    /// Connects without TLS.
    pub fn try_connect(url: &str) -> Result<Self, String> {
        let mut config: Config = url.parse().map_err(|e: tokio_postgres::Error| describe(&e))?;
        config.application_name("faucet-test").connect_timeout(Duration::from_secs(10));
        let client = runtime::wait(async move {
            let (client, connection) = config.connect(NoTls).await?;
            tokio::spawn(connection);
            Ok(client)
        });
        client.map(|c| Self { inner: std::sync::Arc::new(c) }).map_err(|e| describe(&e))
    }

    /// Runs one or more statements, or panics with the server's message.
    #[track_caller]
    pub fn execute(&self, sql: &str) {
        if let Err(reason) = self.try_execute(sql) {
            panic!("{reason}\nin: {sql}");
        }
    }

    /// Runs one or more statements.
    pub fn try_execute(&self, sql: &str) -> Result<(), String> {
        let (client, sql) = (self.inner.clone(), sql.to_owned());
        runtime::wait(async move { client.batch_execute(&sql).await }).map_err(|e| describe(&e))
    }

    /// Rows of a query, each value as PostgreSQL prints it.
    #[track_caller]
    pub fn rows(&self, sql: &str) -> Vec<Row> {
        self.try_rows(sql).unwrap_or_else(|reason| panic!("{reason}\nin: {sql}"))
    }

    /// Rows of a query.
    pub fn try_rows(&self, sql: &str) -> Result<Vec<Row>, String> {
        let (client, text) = (self.inner.clone(), sql.to_owned());
        let messages = runtime::wait(async move { client.simple_query(&text).await }).map_err(|e| describe(&e))?;
        let row = |message| match message {
            SimpleQueryMessage::Row(row) => Some((0..row.len()).map(|i| row.get(i).map(str::to_owned)).collect()),
            _ => None,
        };
        Ok(messages.into_iter().filter_map(row).collect())
    }

    /// The first column of the first row, as text. Panics if there is no row or the value is null.
    #[track_caller]
    pub fn one(&self, sql: &str) -> String {
        let first = self.rows(sql).into_iter().next().and_then(|row| row.into_iter().next());
        first.flatten().unwrap_or_else(|| panic!("no value from: {sql}"))
    }
}

impl Rows for Client {
    fn text_rows(&self, sql: &str) -> Result<Vec<Row>, String> {
        self.try_rows(sql)
    }
}

/// The server's own words: `tokio_postgres` prints only "db error".
fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => {
            let cause = std::error::Error::source(error).map(|c| format!(": {c}")).unwrap_or_default();
            format!("{error}{cause}")
        }
    }
}

/// The server all tests of this test binary share; started on first use. Never stop or break this one: a test that
/// does needs a `Postgres::start` of its own.
pub fn shared_postgres() -> &'static Postgres {
    static SERVER: OnceLock<Postgres> = OnceLock::new();
    SERVER.get_or_init(|| Postgres::start(PostgresOptions::default()))
}

/// The same of a certain major version.
pub fn shared_postgres_of(major: u32) -> &'static Postgres {
    static SERVERS: [OnceLock<Postgres>; MAJORS.len()] = [const { OnceLock::new() }; MAJORS.len()];
    let place = MAJORS.iter().position(|m| *m == major).expect("tests run on the majors of the list");
    SERVERS[place].get_or_init(|| Postgres::start_major(major))
}

/// An empty database on the shared server, dropped with its replication slots at the end of the test.
pub fn fresh_database() -> Database {
    Database::create_on(shared_postgres())
}

/// The same on the shared server of a certain major version.
pub fn fresh_database_on(major: u32) -> Database {
    Database::create_on(shared_postgres_of(major))
}

/// A database that is dropped with this handle.
#[derive(Debug)]
pub struct Database {
    name: String,
    url: String,
    admin: Client,
    client: OnceLock<Client>,
}

impl Database {
    /// An empty database with a name of its own on `server`.
    #[track_caller]
    pub fn create_on(server: &Postgres) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let admin = server.connect("postgres");
        admin.execute(&format!("CREATE DATABASE {name} TEMPLATE template0"));
        Self { url: server.url(&name), name, admin, client: OnceLock::new() }
    }

    /// Its name. Also a good start for slot and publication names, which are per server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Connection URL as superuser.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A new connection.
    #[track_caller]
    pub fn connect(&self) -> Client {
        Client::connect(&self.url)
    }

    /// A connection kept for the life of the handle.
    #[track_caller]
    pub fn client(&self) -> &Client {
        self.client.get_or_init(|| Client::connect(&self.url))
    }

    fn drop_everything(&self) -> Result<(), String> {
        let of_ours = format!("FROM pg_replication_slots WHERE database = '{}'", self.name);
        self.admin.try_execute(&format!("SELECT pg_terminate_backend(active_pid) {of_ours} AND active"))?;
        let slots_gone =
            || self.admin.try_rows(&format!("SELECT pg_drop_replication_slot(slot_name) {of_ours}")).map(|_| ());
        crate::wait::try_eventually(Duration::from_secs(5), slots_gone)?;
        self.admin.try_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The server may be stopped or broken by the test that owns it; it goes away with its data anyway.
        let _ = self.drop_everything();
    }
}
