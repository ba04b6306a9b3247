//! Whether the publication still covers what was mirrored, and whether the snapshot's query reads the same.
//!
//! [`record`] reads from the catalog what the publication covers, by OIDs: names are given again to other things, OIDs are
//! not. A row of `pg_publication_rel` has another OID after its table was taken out and put back, and a row of
//! `pg_publication` another `xmin` after it was altered. [`compare`] says what differs, [`partitions`] what came or went with
//! a partition.

mod compare;
mod partitions;
mod record;

use async_trait::async_trait;
use faucet_core::error::{Error, Result};
use faucet_core::ports::{Covered, Difference, Look, Survey, Weight};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_postgres::Client;

use self::record::{Published, Seen};
use super::capture::SHOWN;
use super::config::PostgresCdcConfig;
use super::error::BOOKMARK_INVALID;
use super::{covered, preflight};
use crate::postgres::endpoint::Endpoint;
use crate::postgres::query::reads::Reads;

pub(super) use self::record::Record;

/// Looks at a publication.
pub(super) struct PublicationSurvey {
    pub(super) config: PostgresCdcConfig,
}

#[async_trait]
impl Survey for PublicationSurvey {
    async fn look(&mut self, known: Option<&Covered>, reads: Option<&Value>) -> Result<Look> {
        let known = known.map(Record::read).transpose()?;
        // A snapshot of another kind of source can't be compared.
        let reads = reads.and_then(|reads| Reads::deserialize(reads).ok());
        let endpoint = Endpoint::new(&self.config.connection_url, self.config.tls.as_ref())?;
        let session = endpoint.connect_source(SHOWN).await?;
        let looked = look(&session, &self.config.publication_name, known, reads.as_ref()).await;
        session.close().await;
        looked.map_err(|error| error.context("looking at what the change stream covers"))
    }
}

async fn look(client: &Client, publication: &str, known: Option<Record>, reads: Option<&Reads>) -> Result<Look> {
    let seen = Seen::load(client, publication).await?;
    let Some(published) = &seen.published else {
        let Some(known) = known else {
            preflight::publication(client, publication).await?;
            return Err(Error::new(&BOOKMARK_INVALID, "the publication came and went while it was looked at"));
        };
        let what = format!("publication \"{publication}\" was dropped, and changes since then are in no stream");
        return Ok(Look { now: known.covered(), findings: vec![Difference::new(Weight::Refused, what)] });
    };
    if known.is_none() {
        preflight::publication(client, publication).await?;
    }
    let mut findings = Vec::new();
    let wanted = match wanted(known.as_ref(), reads, published) {
        Ok(wanted) => wanted,
        Err(unclear) => {
            findings.push(unclear);
            None
        }
    };
    let mut now = Record::of(client, &seen, wanted).await?;
    let columns = match &now.table {
        Some(table) => required(client, publication, table).await?,
        None => None,
    };
    findings.extend(compare::with_query(&now, published, reads, columns.as_deref()));
    let (partitions, came_or_went) =
        partitions::look(client, publication, known.as_ref().map(|k| &k.partitions)).await?;
    if let Some(known) = &known {
        findings.extend(compare::with_known(&now, known, &name_taken(client, known).await?));
        findings.extend(came_or_went);
        now.former.clone_from(&known.former);
        let gone = known.partitions.keys().filter(|oid| !partitions.contains_key(oid));
        now.former.extend(gone);
    }
    now.partitions = partitions;
    Ok(Look { now: now.covered(), findings })
}

/// The OID of the mirrored table, if it can be told.
fn wanted(known: Option<&Record>, reads: Option<&Reads>, published: &Published) -> Result<Option<u32>, Difference> {
    let recorded = known.and_then(|known| known.table.as_ref()).map(|table| table.oid);
    let read = reads.and_then(|reads| reads.table.as_ref()).map(|table| table.root);
    match (recorded.or(read), &published.roots[..]) {
        (Some(oid), _) => Ok(Some(oid)),
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(only.0)),
        (None, several) => {
            let what = format!(
                "the publication covers {} tables, and the snapshot's query doesn't tell which one is mirrored",
                several.len()
            );
            Err(Difference::new(Weight::Misread("write the query as `SELECT * FROM table`"), what))
        }
    }
}

/// The columns that the stream carries of the table; `None` where they differ from partition to partition.
async fn required(client: &Client, publication: &str, table: &record::Table) -> Result<Option<Vec<String>>> {
    let coverage = covered::coverage(client, publication).await?;
    let own = coverage.iter().find(|c| c.table == table.id());
    Ok(match own {
        Some(own) => Some(own.columns.clone()),
        None if coverage.is_empty() => Some(table.columns.values().cloned().collect()),
        None => None,
    })
}

/// The OID of the table that has the recorded table's name now.
async fn name_taken(client: &Client, known: &Record) -> Result<Option<u32>> {
    match &known.table {
        Some(table) => record::named(client, &table.id()).await,
        None => Ok(None),
    }
}

impl Record {
    /// Reads what was recorded earlier.
    ///
    /// # Errors
    /// `postgres.bookmark_invalid` for anything else.
    pub(super) fn read(covered: &Covered) -> Result<Self> {
        Self::deserialize(&covered.record).map_err(|_| {
            Error::new(&BOOKMARK_INVALID, "what the marker holds of the source is not from postgres-cdc")
                .hint("run `faucet mirror drop CONFIG`, then `faucet mirror --replace CONFIG`")
        })
    }

    /// The partitioned table that the relation `oid` belonged to when it was looked at, whatever became of it since.
    pub(super) fn once_above(&self, oid: u32) -> Option<u32> {
        let known = self.partitions.contains_key(&oid) || self.former.contains(&oid);
        self.table.as_ref().map(|table| table.oid).filter(|root| known && *root != oid)
    }

    fn covered(&self) -> Covered {
        Covered { table: self.table.as_ref().map(|table| table.oid.to_string()), record: json!(self) }
    }
}
