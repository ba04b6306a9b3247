//! The commit tokens: rows of a table beside the destination, written in the rows' own transaction.
//!
//! Under a scope lies its last token, under the scopes that [`Claim`] makes of it who claimed it and which table was
//! written. A commit compares and sets the token, and locks the claim against a change until it is done: of a commit and
//! a claim that meet, one waits for the other and then sees what it did.

use faucet_core::error::{Error, Result};
use faucet_core::ports::{Claim, FENCED};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Statement};

use crate::postgres::error::from_driver;
use crate::postgres::name::qualified;

/// Its name, in the destination's schema.
pub(super) const TABLE: &str = "_faucet_commit_token";

/// The table of tokens in one schema.
#[derive(Debug)]
pub struct Tokens {
    name: String,
    claim: Option<Claim>,
    /// The scope and token that was read or written last.
    known: Option<(String, Option<String>)>,
    check: Option<Statement>,
    /// Replaces a token.
    next: Option<Statement>,
}

impl Tokens {
    /// In `schema`, which is the destination's; for commits of the run with `claim`, if there is one.
    pub fn new(schema: &str, claim: Option<Claim>) -> Self {
        Self { name: qualified(Some(schema), TABLE), claim, known: None, check: None, next: None }
    }

    /// The table's name as SQL.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The claim that commits check.
    pub fn claim(&self) -> Option<&Claim> {
        self.claim.as_ref()
    }

    /// The last token of the scope that was asked for or written; `None` when there was neither.
    pub fn known(&self) -> Option<Option<&str>> {
        self.known.as_ref().map(|(_, token)| token.as_deref())
    }

    /// The token of `scope`; `None` without the table or the row.
    ///
    /// # Errors
    /// `sink.fenced`, and failures of the server.
    pub async fn last(&mut self, client: &Client, scope: &str) -> Result<Option<String>> {
        let is_there = self.exists(client).await?;
        if let Some(claim) = &self.claim {
            let writer = if is_there { self.read(client, &claim.writer_scope()).await? } else { None };
            if writer.as_ref() != Some(&claim.writer) {
                return Err(claim.lost());
            }
        }
        let token = if is_there { self.read(client, scope).await? } else { None };
        self.known = Some((scope.to_owned(), token.clone()));
        Ok(token)
    }

    /// What is kept under `scope` in the table, which has to be there.
    ///
    /// # Errors
    /// Failures of the server.
    pub async fn read(&self, client: &Client, scope: &str) -> Result<Option<String>> {
        let query = format!("SELECT token FROM {} WHERE scope = $1", self.name);
        let row = client.query_opt(&query, &[&scope]).await.map_err(|e| self.failed(&e))?;
        Ok(row.map(|row| row.get(0)))
    }

    /// Checks in the open transaction that the claim stands, and that it will until the end of the transaction.
    ///
    /// # Errors
    /// `sink.fenced`, and failures of the server.
    pub async fn check(&mut self, client: &Client) -> Result<()> {
        let Some(claim) = &self.claim else { return Ok(()) };
        let check = match &self.check {
            Some(check) => check.clone(),
            None => client.prepare(&self.held("$1", "$2")).await.map_err(|e| self.failed(&e))?,
        };
        let held = client.query_opt(&check, &[&claim.writer_scope(), &claim.writer]).await;
        let held = held.map_err(|e| self.failed(&e))?;
        self.check = Some(check);
        held.map(drop).ok_or_else(|| claim.lost())
    }

    /// Replaces the token of `scope` in the open transaction, if it is still the one that was read or written last and
    /// the claim stands.
    ///
    /// # Errors
    /// `sink.fenced`, and failures of the server.
    pub async fn put(&mut self, client: &Client, scope: &str, token: &str) -> Result<()> {
        if self.known.as_ref().is_none_or(|(known, _)| known != scope) {
            self.last(client, scope).await?;
        }
        let (_, before) = self.known.clone().unwrap_or_default();
        let done = match before {
            Some(before) => self.replace(client, scope, token, &before).await?,
            None => self.insert(client, scope, token).await?,
        };
        if done == 0 {
            return Err(self.overtaken(scope));
        }
        self.known = Some((scope.to_owned(), Some(token.to_owned())));
        Ok(())
    }

    /// Keeps `text` under another scope in the open transaction, if the claim stands.
    ///
    /// # Errors
    /// Failures of the server.
    pub async fn keep(&self, client: &Client, scope: &str, text: &str) -> Result<()> {
        let (with, from) = self.if_held("$3", "$4");
        let sql = format!(
            "{with}INSERT INTO {} (scope, token) SELECT $1::pg_catalog.text, $2::pg_catalog.text{from} \
             ON CONFLICT (scope) DO UPDATE SET token = EXCLUDED.token",
            self.name
        );
        let keep = client.prepare(&sql).await.map_err(|e| self.failed(&e))?;
        self.execute(client, &keep, &[&scope, &text]).await.map(drop)
    }

    async fn replace(&mut self, client: &Client, scope: &str, token: &str, before: &str) -> Result<u64> {
        let next = match &self.next {
            Some(next) => next.clone(),
            None => {
                let (with, from) = self.if_held("$4", "$5");
                let name = &self.name;
                let sql = format!("{with}UPDATE {name} AS t SET token = $2{from} WHERE t.scope = $1 AND t.token = $3");
                let next = client.prepare(&sql).await.map_err(|e| self.failed(&e))?;
                self.next.insert(next).clone()
            }
        };
        self.execute(client, &next, &[&scope, &token, &before]).await
    }

    async fn insert(&mut self, client: &Client, scope: &str, token: &str) -> Result<u64> {
        self.create(client).await?;
        let (with, from) = self.if_held("$3", "$4");
        let sql = format!(
            "{with}INSERT INTO {} (scope, token) SELECT $1::pg_catalog.text, $2::pg_catalog.text{from} \
             ON CONFLICT (scope) DO NOTHING",
            self.name
        );
        let first = client.prepare(&sql).await.map_err(|e| self.failed(&e))?;
        self.execute(client, &first, &[&scope, &token]).await
    }

    async fn execute(&self, client: &Client, statement: &Statement, own: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        let claimed = self.claim.as_ref().map(|claim| (claim.writer_scope(), &claim.writer));
        let mut values = own.to_vec();
        if let Some((scope, writer)) = &claimed {
            values.extend([scope as &(dyn ToSql + Sync), *writer]);
        }
        client.execute(statement, &values).await.map_err(|e| self.failed(&e))
    }

    /// What makes a statement do nothing unless the claim stands: what goes before it, and its FROM.
    fn if_held(&self, scope: &str, writer: &str) -> (String, &'static str) {
        match self.claim {
            Some(_) => (format!("WITH held AS ({}) ", self.held(scope, writer)), " FROM held"),
            None => (String::new(), ""),
        }
    }

    fn held(&self, scope: &str, writer: &str) -> String {
        format!("SELECT 1 FROM {} WHERE scope = {scope} AND token = {writer} FOR SHARE", self.name)
    }

    fn overtaken(&self, scope: &str) -> Error {
        match &self.claim {
            Some(claim) => claim.lost(),
            None => Error::new(&FENCED, format!("another session committed under \"{scope}\" since this one began")),
        }
    }

    /// Makes the table if there is none.
    ///
    /// # Errors
    /// What the server refuses.
    pub async fn create(&self, client: &Client) -> Result<()> {
        if self.exists(client).await? {
            return Ok(());
        }
        // Two pipelines may be first at once: the lock makes one of them find the other's table.
        let create = format!(
            "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('{TABLE}')); \
             CREATE TABLE IF NOT EXISTS {} (scope pg_catalog.text PRIMARY KEY, token pg_catalog.text NOT NULL)",
            self.name
        );
        client.batch_execute(&create).await.map_err(|e| self.failed(&e))
    }

    async fn exists(&self, client: &Client) -> Result<bool> {
        let query = "SELECT pg_catalog.to_regclass($1::pg_catalog.text) IS NOT NULL";
        let row = client.query_one(query, &[&self.name]).await.map_err(|e| self.failed(&e))?;
        Ok(row.get(0))
    }

    /// The error of a statement about the table.
    pub fn failed(&self, error: &tokio_postgres::Error) -> Error {
        from_driver(error).context(format!("keeping the commit token in {}", self.name))
    }
}
