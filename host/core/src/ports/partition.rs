//! Partitions: rows that come or go as a whole.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

use crate::error::Result;

/// The partitions of the tables that a stream covers, by the numbers their server knows them by.
pub type PartitionSet = BTreeMap<u32, Partition>;

/// A partition that holds rows itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// Its name.
    pub name: String,
    /// The number of the file its rows are in, which is another one after they were replaced as a whole.
    pub file: Option<u32>,
    /// Whether it had rows: one that never had any can't lose them.
    #[serde(default)]
    pub held: bool,
}

/// What became of a partition, of which no change in the stream tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartitionChange {
    /// It came with rows in it.
    Attached(String),
    /// It was detached or dropped.
    Gone(String),
    /// It was truncated alone.
    Emptied(String),
}

impl fmt::Display for PartitionChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attached(name) => {
                write!(f, "partition {name} was attached with rows in it, which the destination lacks")
            }
            Self::Gone(name) => write!(f, "partition {name} was detached or dropped, and the destination has its rows"),
            Self::Emptied(name) => write!(f, "partition {name} was truncated alone, and the destination has its rows"),
        }
    }
}

/// The ability to look at the partitions of the tables that a stream covers.
#[async_trait]
pub trait Partitions: Send {
    /// The partitions now, and what came or went with them as a whole since they were those that are `known`.
    ///
    /// A partition that was made empty, and filled through the table, is no change. Without known ones there is none.
    async fn look(&mut self, known: Option<&PartitionSet>) -> Result<(PartitionSet, Vec<PartitionChange>)>;
}
