//! The statements that a page would take, without a row written.

use faucet_core::error::Result;
use faucet_core::model::Page;

use super::writer::{Into, Keyed, PostgresSink, Prepared};
use super::{create, drift};
use crate::postgres::error::from_driver;

/// A look must not wait for those who work.
const LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '2s'";

impl PostgresSink {
    /// The statements that writing `page` would take. What they need that is not there yet (a table, the temporary stage) is
    /// made in a transaction that ends with the session, by a rollback.
    ///
    /// # Errors
    /// Those of preparing to write the page.
    pub(super) async fn explain(mut self, page: &Page) -> Result<Vec<String>> {
        let folded = self.fold(page)?;
        self.begin().await?;
        self.client().batch_execute(LOCK_TIMEOUT).await.map_err(|e| from_driver(&e))?;
        let schema = page.schema();
        let mut said = Vec::new();
        match self.target() {
            None => said.push(create::statement(self.client(), &self.config, schema).await?),
            Some(target) => {
                let change = (target, None, &**schema);
                let alterations = drift::alterations(self.client(), &self.config, self.schema, change).await?;
                if !alterations.is_empty() {
                    // The rest depends on what the table is then, and to alter it even for a moment holds others up.
                    return Ok(alterations.statements(&target.sql()));
                }
            }
        }
        self.prepare(schema).await?;
        said.extend(self.statements(page, folded)?);
        Ok(said)
    }

    /// The statements for a page for which all is prepared.
    fn statements(&self, page: &Page, folded: Option<Keyed>) -> Result<Vec<String>> {
        let (Prepared { plan, into, .. }, target) = self.prepared();
        match (into, folded) {
            (Into::Merge(merge), Some(Keyed { folded, .. })) => {
                let truncate = folded.truncate.then(|| target.emptying());
                Ok(truncate.into_iter().chain(merge.explain(plan, page, &folded)?).collect())
            }
            (Into::Direct(direct), _) => {
                let copies = direct.explain(plan, page);
                let swap = self.side().map(|side| side.replacing(target));
                Ok(copies.into_iter().chain(swap.into_iter().flatten()).collect())
            }
            (Into::Merge(_), None) => unreachable!("bug: pages are merged only after they were folded"),
        }
    }
}
