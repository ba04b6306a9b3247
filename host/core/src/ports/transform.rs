//! Transforms: what happens to pages on their way.

use async_trait::async_trait;
use serde_json::Value;

use crate::error::{Problem, Result};
use crate::model::Page;

/// A row a transform could not handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Its index in the page that was applied.
    pub row: u32,
    /// Why, without the row's values.
    pub reason: String,
}

/// What became of a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Output {
    /// Pages to hand on, in order.
    pub pages: Vec<Page>,
    /// Rows that are in none of them because they could not be handled.
    pub rejected: Vec<Rejected>,
}

impl From<Page> for Output {
    fn from(page: Page) -> Self {
        Self { pages: vec![page], rejected: Vec::new() }
    }
}

/// One step between source and sink. Pages are applied in order, one at a time; rows of one key keep their order.
#[async_trait]
pub trait Transform: Send {
    /// What to call it in errors and logs.
    fn name(&self) -> &str;

    /// Whether it takes pages of changes as they are; otherwise it is given plain rows (change envelopes).
    fn takes_changes(&self) -> bool;

    /// Applies the transform to a page.
    ///
    /// # Errors
    /// The page as a whole failed; the transform stays usable.
    async fn apply(&mut self, page: Page) -> Result<Output>;
}

/// A kind of transform, native or a component, whose configuration is still JSON: what the registry holds and what a
/// plugin becomes once it is loaded.
#[async_trait]
pub trait AnyTransform: Send + Sync {
    /// The `type:` it goes by.
    fn name(&self) -> &str;
    /// One line for `faucet list`.
    fn summary(&self) -> String;
    /// JSON Schema of the `config:` block.
    fn schema(&self) -> Value;
    /// Whether it takes pages of changes. Others take plain rows and come after one that does.
    fn takes_changes(&self) -> bool;
    /// What is wrong with a configuration that passed the check against [`AnyTransform::schema`]; no I/O. Paths are
    /// relative to the block.
    fn validate(&self, config: &Value) -> Vec<Problem>;
    /// Makes an instance.
    async fn open(&self, config: &Value) -> Result<Box<dyn Transform>>;
}
