//! Routes the records of one stream to the tables of a mirror. With one table there is one route, and a guard.

use async_trait::async_trait;
use std::collections::HashSet;

use crate::error::{Blame, Code, Error, Result, Retry};
use crate::model::{Page, TableId};
use crate::ports::{Batch, Bookmark, Source};

/// The stream carries a table the mirror has no place for.
pub static SECOND_TABLE: Code = Code {
    id: "mirror.second_table",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the change stream carries more than one table, and it can't be told which one is mirrored",
    help: "All changes of the stream go to the one table this mirror writes; changes of a second table would be mixed \
           into it. Nothing of the page was written. Where the snapshot's query is a plain `SELECT * FROM table`, faucet knows \
           the table by the number its server knows it by, and leaves out the changes of others: write the query so.",
};

/// A source whose changes belong to one table. Those of other tables are left out where the source says which table is
/// mirrored; else the first that it delivers is the one, and a second is an error, not a mixture.
pub(super) struct OneTable {
    source: Box<dyn Source>,
    wanted: Option<String>,
    first: Option<TableId>,
    /// Other tables that were told of.
    others: HashSet<TableId>,
}

impl OneTable {
    /// Guards `source`; `wanted` is what it calls the mirrored table.
    pub(super) fn new(source: Box<dyn Source>, wanted: Option<String>) -> Self {
        Self { source, wanted, first: None, others: HashSet::new() }
    }

    fn guard(&mut self, batch: &mut Batch) -> Result<()> {
        let Some(wanted) = self.wanted.clone() else { return self.check(batch) };
        let (ours, others) = std::mem::take(&mut batch.pages).into_iter().partition(|page| is(page, &wanted));
        batch.pages = ours;
        let others: Vec<Page> = others;
        for other in others {
            let table = other.schema().table.clone();
            if self.others.insert(table.clone()) {
                tracing::warn!(%table, "the stream carries changes of another table than the mirrored one: left out");
            }
        }
        Ok(())
    }

    fn check(&mut self, batch: &Batch) -> Result<()> {
        for page in &batch.pages {
            let found = &page.schema().table;
            let expected = self.first.get_or_insert_with(|| found.clone());
            if expected != found {
                let what = format!("the stream carries changes of {found} besides {expected}");
                return Err(Error::new(&SECOND_TABLE, what).hint(
                    "write the snapshot's query as `SELECT * FROM table`, so that it is known which one is mirrored",
                ));
            }
        }
        Ok(())
    }
}

fn is(page: &Page, wanted: &str) -> bool {
    page.schema().source_id.as_deref() == Some(wanted)
}

#[async_trait]
impl Source for OneTable {
    async fn next(&mut self) -> Result<Option<Batch>> {
        let mut batch = self.source.next().await?;
        batch.as_mut().map(|batch| self.guard(batch)).transpose()?;
        Ok(batch)
    }

    async fn confirm(&mut self, durable: &Bookmark) -> Result<()> {
        self.source.confirm(durable).await
    }

    async fn close(&mut self) -> Result<()> {
        self.source.close().await
    }
}
