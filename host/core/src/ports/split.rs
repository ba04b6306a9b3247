//! Reading a source in parts, each of which can be repeated alone.

use async_trait::async_trait;
use serde_json::Value;
use std::collections::BTreeMap;

use super::Coverage;
use crate::error::Result;

/// The ability to read a source's rows in parts.
///
/// Every row belongs to exactly one part, and all parts of one plan are read as of the same moment, whenever and in
/// whatever order they are opened. What keeps that moment lives as long as this object.
#[async_trait]
pub trait Split: Send {
    /// Decides what the parts are.
    ///
    /// Given what an earlier run did, the plan is that run's as long as it still fits. A part that was finished then is
    /// in the list again, to be searched for the rows that were written since its stamp: a row that moved from an
    /// unfinished part into a finished one in between would be in neither.
    async fn plan(&mut self, wanted: Wanted) -> Result<Parts>;

    /// What all parts together read, as the server knows it, for [`super::Survey::look`]. `None` when it can't be told.
    ///
    /// # Errors
    /// When the query can't be looked at.
    async fn reads(&mut self) -> Result<Option<Value>> {
        Ok(None)
    }

    /// Lets go of the moment; no part can be opened any more.
    async fn close(&mut self);
}

/// What a plan has to follow.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wanted {
    /// How many parts; `None` goes by size.
    pub shards: Option<u32>,
    /// What the change stream covers where it isn't all of a table. The rows read are limited to the same.
    pub coverage: Vec<Coverage>,
    /// What an earlier run did.
    pub earlier: Option<Earlier>,
}

/// What an earlier run did.
#[derive(Debug, Clone, PartialEq)]
pub struct Earlier {
    /// Its [`Parts::plan`].
    pub plan: Value,
    /// The parts that were read to their end, each with the [`Parts::stamp`] of the run that did.
    pub finished: BTreeMap<u32, Value>,
}

/// The parts of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// What has to be known to read the rest later; opaque. Null when nothing can be gained from it.
    pub plan: Value,
    /// From when the rows of this run are; opaque.
    pub stamp: Value,
    /// What to read now.
    pub parts: Vec<Part>,
    /// About how many rows there are in all.
    pub rows: Option<u64>,
}

/// One part.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its number in the plan.
    pub number: u32,
    /// What to open a source with ([`super::SourceContext::part`]); opaque.
    pub spec: Value,
}
