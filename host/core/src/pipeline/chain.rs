//! The transforms of a pipeline, in order.

use std::mem;

use crate::error::{Blame, Code, Error, Result, Retry};
use crate::model::{Envelope, Page};
use crate::ports::{Output, Rejected, SetAside, Transform};

/// A transform could not handle rows and nobody asked for them to be kept aside.
pub static ROWS_REJECTED: Code = Code {
    id: "pipeline.rows_rejected",
    blame: Blame::Plugin,
    retry: Retry::Operator,
    title: "a transform rejected rows",
    help: "A transform reported rows it can't handle. Nothing of the page was written, so nothing is lost: correct the \
           transform's configuration or the rows at the source, then run again from where it stopped. With a `dlq` such \
           rows are set aside there and the others go on.",
};

/// Transforms applied one after the other.
///
/// Sinks and components see plain rows. A page of changes that no `cdc_unwrap` flattened is turned into envelope rows
/// (`op`, `before`, `after`, ...) before the first step that needs rows.
pub struct Chain {
    steps: Vec<Box<dyn Transform>>,
    envelope: Envelope,
    /// Rows that a step rejects are set aside; otherwise they fail their page.
    sets_aside: bool,
}

/// What became of a page.
#[derive(Debug, Default)]
pub struct Applied {
    /// Pages for the sink, in order.
    pub pages: Vec<Page>,
    /// Rows that a step rejected, with the step's name.
    pub aside: Vec<(String, SetAside)>,
}

impl Chain {
    /// The given steps in order; none hands pages through. `sets_aside` says whether rejected rows have a place to go.
    pub fn new(steps: Vec<Box<dyn Transform>>, sets_aside: bool) -> Self {
        Self { steps, envelope: Envelope::default(), sets_aside }
    }

    /// Applies every step to a page.
    ///
    /// # Errors
    /// Of a step; also [`ROWS_REJECTED`] when a step rejected rows that have no place to go.
    pub async fn apply(&mut self, page: Page) -> Result<Applied> {
        let mut pages = vec![page];
        let mut aside = Vec::new();
        for at in 0..self.steps.len() {
            for page in mem::take(&mut pages) {
                let (before, Output { pages: kept, rejected }) = self.step(at, page).await?;
                let step = &self.steps[at];
                pages.extend(kept);
                if rejected.is_empty() {
                    continue;
                }
                // Without its other half, a half of a changed key would be applied to another row than it means.
                if !self.sets_aside || rejected.iter().any(|row| is_half_of_a_move(&before, row)) {
                    return Err(refusal(step.name(), &before, &rejected));
                }
                aside.extend(rejected.iter().map(|row| (step.name().to_owned(), one(step.name(), &before, row))));
            }
        }
        let rows = pages.into_iter().filter(|page| !page.is_empty()).map(|page| self.rows(page));
        Ok(Applied { pages: rows.collect::<Result<_>>()?, aside })
    }

    /// Applies one step to a page. Returns the page as the step got it, and what became of it.
    ///
    /// # Errors
    /// Of the step.
    ///
    /// # Panics
    /// If there is no step `at`.
    pub async fn step(&mut self, at: usize, page: Page) -> Result<(Page, Output)> {
        let given = if self.steps[at].takes_changes() { page } else { self.envelope.apply(page)? };
        let output = self.steps[at].apply(given.clone()).await?;
        Ok((given, output))
    }

    /// The page as a sink gets it: plain rows.
    ///
    /// # Errors
    /// When a change can't be put into an envelope.
    pub fn rows(&mut self, page: Page) -> Result<Page> {
        self.envelope.apply(page)
    }
}

fn is_half_of_a_move(page: &Page, rejected: &Rejected) -> bool {
    page.moves().iter().any(|m| m.from == rejected.row || m.to == rejected.row)
}

/// The error for rows that have no place to go.
fn refusal(step: &str, page: &Page, rejected: &[Rejected]) -> Error {
    let first = rejected.first().map_or("", |row| &row.reason);
    let table = &page.schema().table;
    let what = format!("transform '{step}' rejected {} rows of {table}: {first}", rejected.len());
    let hint = "set such rows aside with a `dlq`; one half of a changed key can't be, only let both pass";
    Error::new(&ROWS_REJECTED, what).hint(hint)
}

/// One rejected row.
fn one(step: &str, page: &Page, rejected: &Rejected) -> SetAside {
    let what = format!("transform '{step}' rejected the row: {}", rejected.reason);
    SetAside { rows: page.take(&vec![rejected.row].into()), error: Error::new(&ROWS_REJECTED, what) }
}
