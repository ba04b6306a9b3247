//! What the rows of a page are, for transforms that compute values.

use faucet_sdk::{Op, Page, Result};

/// The operations of a page's rows; on a page of plain rows there are none.
#[derive(Debug, Clone)]
pub struct Changes(Option<Vec<Op>>);

impl Changes {
    /// Reads the page's `__op`.
    ///
    /// # Errors
    /// If it holds something else than operations.
    pub fn of(page: &Page<'_>) -> Result<Self> {
        page.ops().map(Self)
    }

    /// Whether the row deletes or truncates, so that only its key has values, if that.
    pub fn removes(&self, row: usize) -> bool {
        self.0.as_ref().is_some_and(|ops| ops[row].removes())
    }

    /// Whether the row truncates, so that no column has a value.
    pub fn truncates(&self, row: usize) -> bool {
        self.0.as_ref().is_some_and(|ops| ops[row] == Op::Truncate)
    }

    /// Whether the row updates. Only there does an absent value stand for one that is at the destination already.
    pub fn updates(&self, row: usize) -> bool {
        self.0.as_ref().is_some_and(|ops| ops[row] == Op::Update)
    }
}
