//! Collects rows and sends them. Nothing counts as written before the server says 2xx.

use crate::batch::Batch;
use crate::config::{Config, Format, Method, OnRefused};
use crate::row::Rows;
use client::{Attempt, Backoff, Call, Client, Transport, encoded, refusal};
use faucet_sdk::{Error, Level, Page, Rejected, Result};
use faucet_values::push_hex;
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::time::{Duration, Instant};

/// How long one call of the host may spend on pauses and repeated requests. Its deadline is a minute unless set.
const PATIENCE: Duration = Duration::from_secs(30);

/// A destination.
#[derive(Debug)]
pub(crate) struct Session<T> {
    config: Config,
    pipeline: String,
    client: Client<T>,
    pending: Batch,
    /// When the call of the host began that is running.
    since: Instant,
}

impl<T: Transport> Session<T> {
    pub(crate) fn new(config: Config, pipeline: &str, transport: T) -> Self {
        let timeout = Duration::from_secs(config.timeout_seconds.into());
        let client = Client::new(transport, config.auth.clone(), timeout);
        Self { config, pipeline: pipeline.to_owned(), client, pending: Batch::default(), since: Instant::now() }
    }

    /// Takes the rows of a page, and sends those that fill a request. Where refused rows are to be found, sends them all:
    /// only this call can say which of its rows they are.
    pub(crate) fn write(&mut self, page: Page<'_>) -> Result<Vec<Rejected>> {
        self.since = Instant::now();
        let mut rejected = Vec::new();
        if page.table() != self.pending.table() {
            self.send(0, &mut rejected)?;
            self.pending = Batch::new(page.table());
        }
        let rows = Rows::new(&page, self.config.big_numbers)?;
        let mut first = 0;
        for row in 0..page.rows() {
            self.pending.push(|out| rows.push(row, out));
            if self.is_full() {
                self.send(first, &mut rejected)?;
                first = row + 1;
            }
        }
        if self.config.on_refused == OnRefused::Split {
            self.send(first, &mut rejected)?;
        }
        Ok(rejected)
    }

    /// Sends what is pending.
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.since = Instant::now();
        self.send(0, &mut Vec::new())
    }

    fn is_full(&self) -> bool {
        let most = if self.config.format == Format::Row { 1 } else { self.config.batch_size as usize };
        self.pending.rows() >= most || self.pending.size() >= self.config.batch_bytes as usize
    }

    /// Sends what is pending, whose first row is row `first` of its page.
    fn send(&mut self, first: usize, rejected: &mut Vec<Rejected>) -> Result<()> {
        let batch = std::mem::take(&mut self.pending);
        self.pending = Batch::new(batch.table());
        if batch.rows() == 0 {
            return Ok(());
        }
        let mut refused = Vec::new();
        self.send_rows(&batch, 0..batch.rows(), &mut refused)?;
        let reject = |(row, status): (usize, u16)| Rejected { row: first + row, reason: reason(status) };
        rejected.extend(refused.into_iter().map(reject));
        Ok(())
    }

    /// Sends rows, in halves where they are refused.
    fn send_rows(&mut self, batch: &Batch, rows: Range<usize>, refused: &mut Vec<(usize, u16)>) -> Result<()> {
        let call = self.call(batch, rows.clone());
        let status = self.status(&call)?;
        if (200..300).contains(&status) {
            return Ok(());
        }
        if self.config.on_refused == OnRefused::Fail || !matches!(status, 400 | 413 | 422) {
            return Err(refusal(&call.method, &call.url, status));
        }
        match rows.len() {
            1 => refused.push((rows.start, status)),
            count => {
                let middle = rows.start + count / 2;
                self.send_rows(batch, rows.start..middle, refused)?;
                self.send_rows(batch, middle..rows.end, refused)?;
            }
        }
        Ok(())
    }

    /// Sends a request until it is answered.
    fn status(&mut self, call: &Call) -> Result<u16> {
        let mut backoff = Backoff::new(self.config.retry);
        loop {
            let later = match self.client.attempt(call)? {
                Attempt::Answer(answer) => return Ok(answer.status),
                Attempt::Later(later) => later,
            };
            let pause = backoff.next(&later)?;
            // The host writes again what was not committed, on a fresh session.
            if self.since.elapsed() + pause > PATIENCE {
                return Err(Error::unavailable(format!("{}, and the next try would take too long", later.why)));
            }
            faucet_sdk::count("retries", 1);
            faucet_sdk::log(Level::Warn, &format!("{}; trying again in {} ms", later.why, pause.as_millis()));
            std::thread::sleep(pause);
        }
    }

    fn call(&self, batch: &Batch, rows: Range<usize>) -> Call {
        let config = &self.config;
        let body = batch.body(rows, config.format, &config.rows_key);
        let mut headers: Vec<(String, String)> =
            config.headers.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect();
        if !headers.iter().any(|(name, _)| name == "content-type") {
            let kind = if config.format == Format::Lines { "application/x-ndjson" } else { "application/json" };
            headers.push(("content-type".to_owned(), kind.to_owned()));
        }
        if let Some(name) = &config.idempotency_header {
            headers.push((name.to_lowercase(), self.digest(batch.table(), &body)));
        }
        let method = match config.method {
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
        };
        let url = config.url.replace("{table}", &encoded(batch.table()));
        Call { method: method.to_owned(), url, headers, body: Some(body) }
    }

    /// The same for the same rows of the same table of the same pipeline.
    fn digest(&self, table: &str, body: &[u8]) -> String {
        let mut hash = Sha256::new();
        for part in [self.pipeline.as_bytes(), table.as_bytes(), body] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let mut digits = String::with_capacity(64);
        push_hex(&mut digits, &hash.finalize());
        digits
    }
}

fn reason(status: u16) -> String {
    format!("the server refuses it with status {status}")
}

#[cfg(test)]
mod tests;
