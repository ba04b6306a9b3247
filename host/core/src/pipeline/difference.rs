//! In what two outputs of a transform differ.

use std::fmt;
use std::sync::Arc;

use crate::model::{Column, Page};
use crate::ports::Output;

/// What differs first, from the coarse to the fine: values are compared only when all else is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// Another number of pages.
    Pages {
        /// Of the one.
        one: usize,
        /// Of the other.
        other: usize,
    },
    /// A page has other columns, another key or another table.
    Schema {
        /// The page's number, from 0.
        page: usize,
    },
    /// A page has another number of rows.
    Rows {
        /// The page's number, from 0.
        page: usize,
        /// Of the one.
        one: usize,
        /// Of the other.
        other: usize,
    },
    /// Columns have other values.
    Values(Vec<Values>),
    /// Other rows are rejected, or for other reasons.
    Rejected {
        /// By the one.
        one: usize,
        /// By the other.
        other: usize,
    },
}

/// The rows in which a column has other values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values {
    /// The page's number, from 0.
    pub page: usize,
    /// The column's name.
    pub column: Arc<str>,
    /// The rows' numbers, from 0; never empty.
    pub rows: Vec<usize>,
}

impl Difference {
    /// In what `other` differs from `one`; `None` if both are the same to the last bit.
    ///
    /// ```
    /// use faucet_core::pipeline::Difference;
    /// use faucet_core::ports::{Output, Rejected};
    /// let one = Output::default();
    /// assert_eq!(Difference::of(&one, &one), None);
    /// let other = Output { rejected: vec![Rejected { row: 0, reason: "no number".into() }], ..Output::default() };
    /// let difference = Difference::of(&one, &other);
    /// assert_eq!(difference, Some(Difference::Rejected { one: 0, other: 1 }));
    /// ```
    pub fn of(one: &Output, other: &Output) -> Option<Self> {
        if one.pages.len() != other.pages.len() {
            return Some(Self::Pages { one: one.pages.len(), other: other.pages.len() });
        }
        let pages = || one.pages.iter().zip(&other.pages).enumerate();
        if let Some(shape) = pages().find_map(|(page, (one, other))| shape(page, one, other)) {
            return Some(shape);
        }
        let found: Vec<Values> = pages().flat_map(|(page, (one, other))| values(page, one, other)).collect();
        if !found.is_empty() {
            return Some(Self::Values(found));
        }
        let rejected = Self::Rejected { one: one.rejected.len(), other: other.rejected.len() };
        (one.rejected != other.rejected).then_some(rejected)
    }
}

fn shape(page: usize, one: &Page, other: &Page) -> Option<Difference> {
    if one.schema() != other.schema() {
        return Some(Difference::Schema { page });
    }
    let rows = Difference::Rows { page, one: one.rows(), other: other.rows() };
    (one.rows() != other.rows()).then_some(rows)
}

fn values(page: usize, one: &Page, other: &Page) -> Vec<Values> {
    let fields = one.schema().fields.iter().zip(one.columns().iter().zip(other.columns()));
    let found = fields.map(|(field, (one, other))| Values { page, column: field.name.clone(), rows: rows(one, other) });
    found.filter(|values| !values.rows.is_empty()).collect()
}

fn rows(one: &Column, other: &Column) -> Vec<usize> {
    (0..one.len()).filter(|row| !one.value(*row).same(&other.value(*row))).collect()
}

/// What the other does, without a value of the rows.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pages { one, other } => write!(f, "it makes {other} pages instead of {one}"),
            Self::Schema { .. } => f.write_str("its columns, key or table are others"),
            Self::Rows { one, other, .. } => write!(f, "it makes {other} rows instead of {one}"),
            Self::Values(columns) => columns.iter().enumerate().try_for_each(|(nth, values)| {
                let comma = if nth == 0 { "" } else { ", " };
                write!(f, "{comma}column '{}' has other values in {} rows", values.column, values.rows.len())
            }),
            Self::Rejected { one, other } if one == other => {
                f.write_str("it rejects other rows, or gives other reasons")
            }
            Self::Rejected { one, other } => write!(f, "it rejects {other} rows instead of {one}"),
        }
    }
}
