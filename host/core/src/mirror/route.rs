//! Routes the records of one stream to the tables of a mirror. With one table there is one route, and a guard.

use async_trait::async_trait;

use crate::error::{Blame, Code, Error, Result, Retry};
use crate::model::TableId;
use crate::ports::{Batch, Bookmark, Source};

/// The stream carries a table the mirror has no place for.
pub static SECOND_TABLE: Code = Code {
    id: "mirror.second_table",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the change stream carries more than one table, but the mirror writes one",
    help: "All changes of the stream go to the one table this mirror writes; changes of a second table would be mixed \
           into it. Nothing of the page was written. Make a publication for the one table (CREATE PUBLICATION name FOR \
           TABLE ...) and name it in `publication_name`; use one mirror with its own slot for each table.",
};

/// A source whose changes belong to one table: the first it delivers. A second one is an error, not a mixture.
pub(super) struct OneTable {
    source: Box<dyn Source>,
    table: Option<TableId>,
}

impl OneTable {
    /// Guards `source`.
    pub(super) fn new(source: Box<dyn Source>) -> Self {
        Self { source, table: None }
    }

    fn check(&mut self, batch: &Batch) -> Result<()> {
        for page in &batch.pages {
            let found = &page.schema().table;
            let expected = self.table.get_or_insert_with(|| found.clone());
            if expected != found {
                let what = format!("the stream carries changes of {found} besides {expected}");
                return Err(Error::new(&SECOND_TABLE, what).hint("limit the publication to one table"));
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Source for OneTable {
    async fn next(&mut self) -> Result<Option<Batch>> {
        let batch = self.source.next().await?;
        batch.as_ref().map(|b| self.check(b)).transpose()?;
        Ok(batch)
    }

    async fn confirm(&mut self, durable: &Bookmark) -> Result<()> {
        self.source.confirm(durable).await
    }

    async fn close(&mut self) -> Result<()> {
        self.source.close().await
    }
}
