//! The transforms of a pipeline, in order.

use std::mem;

use crate::error::{Blame, Code, Error, Result, Retry};
use crate::model::{Envelope, Page};
use crate::ports::{Output, Transform};

/// A transform could not handle rows and nobody asked for them to be kept aside.
pub static ROWS_REJECTED: Code = Code {
    id: "pipeline.rows_rejected",
    blame: Blame::Plugin,
    retry: Retry::Operator,
    title: "a transform rejected rows",
    help: "A transform reported rows it can't handle. Nothing of the page was written, so nothing is lost: correct the \
           transform's configuration or the rows at the source, then run again from where it stopped.",
};

/// Transforms applied one after the other.
///
/// Sinks and components see plain rows. A page of changes that no `cdc_unwrap` flattened is turned into envelope rows
/// (`op`, `before`, `after`, ...) before the first step that needs rows.
pub struct Chain {
    steps: Vec<Box<dyn Transform>>,
    envelope: Envelope,
}

impl Chain {
    /// The given steps in order; none hands pages through.
    pub fn new(steps: Vec<Box<dyn Transform>>) -> Self {
        Self { steps, envelope: Envelope::default() }
    }

    /// Applies every step to a page and returns the pages for the sink, in order, without empty ones.
    ///
    /// # Errors
    /// Of a step; also [`ROWS_REJECTED`] when a step rejected rows.
    pub async fn apply(&mut self, page: Page) -> Result<Vec<Page>> {
        let mut pages = vec![page];
        for step in &mut self.steps {
            for page in mem::take(&mut pages) {
                let page = if step.takes_changes() { page } else { self.envelope.apply(page)? };
                pages.extend(apply_step(step.as_mut(), page).await?);
            }
        }
        let rows = pages.into_iter().filter(|page| !page.is_empty()).map(|page| self.envelope.apply(page));
        rows.collect()
    }
}

async fn apply_step(step: &mut dyn Transform, page: Page) -> Result<Vec<Page>> {
    let table = page.schema().table.clone();
    let Output { pages, rejected } = step.apply(page).await?;
    match rejected.first() {
        None => Ok(pages),
        Some(first) => Err(Error::new(
            &ROWS_REJECTED,
            format!("transform '{}' rejected {} rows of {table}: {}", step.name(), rejected.len(), first.reason),
        )),
    }
}
