//! The commit tokens: one row per scope in a table beside the destination, written in the rows' own transaction.

use faucet_core::error::{Error, Result};
use tokio_postgres::{Client, Statement};

use crate::postgres::error::from_driver;
use crate::postgres::name::qualified;

/// Its name, in the destination's schema.
pub(super) const TABLE: &str = "_faucet_commit_token";

/// The table of tokens in one schema.
#[derive(Debug)]
pub struct Tokens {
    name: String,
    upsert: Option<Statement>,
}

impl Tokens {
    /// In `schema`, which is the destination's.
    pub fn new(schema: &str) -> Self {
        Self { name: qualified(Some(schema), TABLE), upsert: None }
    }

    /// The token of `scope`; `None` without the table or the row.
    ///
    /// # Errors
    /// Failures of the server.
    pub async fn last(&self, client: &Client, scope: &str) -> Result<Option<String>> {
        if !self.exists(client).await? {
            return Ok(None);
        }
        let query = format!("SELECT token FROM {} WHERE scope = $1", self.name);
        let row = client.query_opt(&query, &[&scope]).await.map_err(|e| self.failed(&e))?;
        Ok(row.map(|row| row.get(0)))
    }

    /// Stores the token in the open transaction.
    ///
    /// # Errors
    /// Failures of the server.
    pub async fn put(&mut self, client: &Client, scope: &str, token: &str) -> Result<()> {
        let upsert = match &self.upsert {
            Some(upsert) => upsert.clone(),
            None => self.prepare(client).await?,
        };
        client.execute(&upsert, &[&scope, &token]).await.map_err(|e| self.failed(&e))?;
        Ok(())
    }

    async fn prepare(&mut self, client: &Client) -> Result<Statement> {
        if !self.exists(client).await? {
            // Two pipelines may be first at once: the lock makes one of them find the other's table.
            let create = format!(
                "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('{TABLE}')); \
                 CREATE TABLE IF NOT EXISTS {} (scope pg_catalog.text PRIMARY KEY, token pg_catalog.text NOT NULL)",
                self.name
            );
            client.batch_execute(&create).await.map_err(|e| self.failed(&e))?;
        }
        let upsert = format!(
            "INSERT INTO {} (scope, token) VALUES ($1, $2) ON CONFLICT (scope) DO UPDATE SET token = EXCLUDED.token",
            self.name
        );
        let upsert = client.prepare(&upsert).await.map_err(|e| self.failed(&e))?;
        Ok(self.upsert.insert(upsert).clone())
    }

    async fn exists(&self, client: &Client) -> Result<bool> {
        let query = "SELECT pg_catalog.to_regclass($1::pg_catalog.text) IS NOT NULL";
        let row = client.query_one(query, &[&self.name]).await.map_err(|e| self.failed(&e))?;
        Ok(row.get(0))
    }

    fn failed(&self, error: &tokio_postgres::Error) -> Error {
        from_driver(error).context(format!("keeping the commit token in {}", self.name))
    }
}
