//! The rows of a planned query, page by page.

use async_trait::async_trait;
use faucet_core::error::{Error, Result};
use faucet_core::model::PageBuilder;
use faucet_core::ports::{Batch, Bookmark, Boundary, Source};
use futures_util::StreamExt;
use std::pin::Pin;
use tokio_postgres::{CopyOutStream, SimpleQueryMessage, SimpleQueryRow, SimpleQueryStream};

use super::copy::CopyDecoder;
use super::plan::{Plan, Read, failed};
use super::split::{PartSpec, SNAPSHOT_GONE};
use super::{NOT_A_QUERY, QueryConfig};
use crate::postgres::Session;
use crate::postgres::decode::text;
use crate::postgres::error::{CONNECTION_LOST, from_driver};
use crate::postgres::name::literal;

/// Bytes of row data after which a page is cut, whatever its number of rows.
const PAGE_BYTES: usize = 4 << 20;

/// A query that is running.
pub struct QuerySource {
    session: Option<Session>,
    rows: Rows,
    page: PageBuilder,
    page_bytes: usize,
    batch_size: usize,
    ended: bool,
}

enum Rows {
    Copy(Pin<Box<CopyOutStream>>, CopyDecoder),
    Text(Pin<Box<SimpleQueryStream>>, Vec<u8>),
}

impl QuerySource {
    /// Describes the query and starts it.
    pub async fn open(session: Session, part: &PartSpec, config: &QueryConfig, pipeline: &str) -> Result<Self> {
        let batch_size = config.batch_size;
        begin(&session, part.snapshot.as_deref()).await?;
        let plan = Plan::describe(&session, &part.query, config.timestamps, pipeline).await?;
        let rows = match plan.read {
            Read::Copy { statement, wires } => {
                let stream = session.copy_out(&statement).await.map_err(|e| failed(&e))?;
                Rows::Copy(Box::pin(stream), CopyDecoder::new(wires))
            }
            Read::Rows { query } => {
                let stream = session.simple_query_raw(&query).await.map_err(|e| failed(&e))?;
                Rows::Text(Box::pin(stream), Vec::new())
            }
        };
        let page = PageBuilder::rows(plan.schema);
        Ok(Self { session: Some(session), rows, page, page_bytes: 0, batch_size, ended: false })
    }

    fn page_is_full(&self) -> bool {
        self.page.len() >= self.batch_size || self.page_bytes >= PAGE_BYTES
    }

    /// Reads until the page is full or the rows end. Nothing is lost when this is dropped while it waits.
    async fn fill(&mut self) -> Result<()> {
        while !self.ended && !self.page_is_full() {
            match &mut self.rows {
                Rows::Copy(stream, decoder) => {
                    if let Some(bytes) = decoder.next_row(&mut self.page)? {
                        self.page_bytes += bytes;
                        continue;
                    }
                    match stream.next().await {
                        Some(chunk) => decoder.feed(chunk.map_err(|e| failed(&e))?),
                        None if decoder.ended() => self.ended = true,
                        None => return Err(Error::new(&CONNECTION_LOST, "the server ended the rows too early")),
                    }
                }
                Rows::Text(stream, scratch) => match stream.next().await.transpose().map_err(|e| failed(&e))? {
                    Some(SimpleQueryMessage::Row(row)) => {
                        self.page_bytes += push_row(&mut self.page, &row, scratch)?;
                    }
                    Some(_) => {}
                    None => self.ended = true,
                },
            }
        }
        Ok(())
    }
}

/// Begins the transaction, under the exported snapshot if there is one.
async fn begin(session: &Session, snapshot: Option<&str>) -> Result<()> {
    let Some(snapshot) = snapshot else {
        return session.batch_execute("BEGIN TRANSACTION READ ONLY").await.map_err(|e| from_driver(&e));
    };
    let begin = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
    session.batch_execute(begin).await.map_err(|e| from_driver(&e))?;
    let import = format!("SET TRANSACTION SNAPSHOT {}", literal(snapshot));
    let imported = session.batch_execute(&import).await;
    imported.map_err(|error| match error.as_db_error() {
        Some(_) => Error::new(&SNAPSHOT_GONE, "the snapshot that was exported for the ranges isn't there any more"),
        None => from_driver(&error),
    })
}

/// Adds a row that came as text, and returns its size in bytes.
fn push_row(page: &mut PageBuilder, row: &SimpleQueryRow, scratch: &mut Vec<u8>) -> Result<usize> {
    if row.len() != page.columns().len() {
        return Err(Error::new(&NOT_A_QUERY, "the statement returned other columns than it was described with"));
    }
    let mut bytes = 0;
    for index in 0..row.len() {
        let column = &mut page.columns()[index];
        match row.try_get(index).map_err(|e| from_driver(&e))? {
            None => column.push_null(),
            Some(value) => {
                bytes += value.len();
                if let Err(why) = text::push(column, value.as_bytes(), scratch) {
                    return Err(why.in_column(&page.schema().fields[index].name));
                }
            }
        }
    }
    page.end_row();
    Ok(bytes)
}

#[async_trait]
impl Source for QuerySource {
    async fn next(&mut self) -> Result<Option<Batch>> {
        self.fill().await?;
        if self.page.is_empty() {
            return Ok(None);
        }
        self.page_bytes = 0;
        Ok(Some(Batch { pages: vec![self.page.finish()], boundary: Boundary::Commit(None) }))
    }

    async fn confirm(&mut self, _: &Bookmark) -> Result<()> {
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        // A query that is still running is cut off with its connection; it has nothing to commit.
        if let Some(session) = self.session.take()
            && self.ended
        {
            session.close().await;
        }
        Ok(())
    }
}
