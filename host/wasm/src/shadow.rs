//! A candidate that is given the same pages as the component that runs. What it makes of them is compared and dropped:
//! nothing of it reaches the destination, and nothing that goes wrong with it stops the pipeline.

use crate::plugin::Plugin;
use faucet_core::error::{Error, Result};
use faucet_core::model::Page;
use faucet_core::pipeline::Difference;
use faucet_core::ports::{Output, Transform};
use serde_json::Value;
use tracing::{info, warn};

/// Differences that are logged one by one; all are counted.
const TOLD: u64 = 20;

/// A candidate at work.
pub(crate) struct Shadow {
    name: String,
    digest: String,
    transform: Box<dyn Transform>,
    pages: u64,
    differing: u64,
}

impl Shadow {
    /// Opens a candidate with the configuration of the component that runs.
    pub(crate) fn open(candidate: &Plugin, config: &Value) -> Result<Self> {
        let (name, digest) = (candidate.name().to_owned(), candidate.digest()[..12].to_owned());
        Ok(Self { name, digest, transform: candidate.open(config.clone())?, pages: 0, differing: 0 })
    }

    /// Gives it a page, and compares what it makes of it.
    pub(crate) async fn compare(&mut self, page: Page, output: Result<&Output, &Error>) {
        let rows = page.rows();
        let own = self.transform.apply(page).await;
        self.pages += 1;
        let Some(what) = difference(output, own.as_ref()) else { return };
        self.differing += 1;
        if self.differing <= TOLD {
            warn!("the candidate of plugin '{}' ({}) differs on a page of {rows} rows: {what}", self.name, self.digest);
        }
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        let (name, digest, pages, differing) = (&self.name, &self.digest, self.pages, self.differing);
        info!("the candidate of plugin '{name}' ({digest}) differed on {differing} of {pages} pages");
    }
}

/// In what two outcomes differ, without a value of the rows.
fn difference(current: Result<&Output, &Error>, candidate: Result<&Output, &Error>) -> Option<String> {
    match (current, candidate) {
        (Ok(current), Ok(candidate)) => Difference::of(current, candidate).map(|difference| difference.to_string()),
        (Err(_), Err(_)) => None,
        (Ok(_), Err(error)) => Some(format!("it fails: {error}")),
        (Err(_), Ok(_)) => Some("it does not fail, and the one that runs does".to_owned()),
    }
}
