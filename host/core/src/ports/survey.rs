//! Surveys: whether what a stream covers, and what a snapshot reads, is still what was mirrored.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Finding;
use crate::error::{Blame, Code, Error, Result, Retry};

/// The source isn't what was mirrored any more.
pub static SOURCE_CHANGED: Code = Code {
    id: "mirror.source_changed",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "the table or the publication is not the one that was mirrored",
    help: "When a mirror begins it records which table it copies, by the number the server knows it by, and how the \
           publication covers it. Each start, and every minute while it runs, compares. A table that was dropped and made \
           again, or swapped with another one by renaming, is another table; a table that was taken out of its publication \
           for a while, or whose publication was made again, has changes that no stream tells of any more. Going on would \
           leave the destination different without a word. Begin anew: `faucet mirror drop CONFIG`, then \
           `faucet mirror --replace CONFIG`, which removes the destination's rows before it copies.",
};

/// The query of the snapshot and the stream are about different rows.
pub static QUERY_DIFFERS: Code = Code {
    id: "mirror.query_differs",
    blame: Blame::Config,
    retry: Retry::Operator,
    title: "the snapshot's query reads other rows or columns than the change stream carries",
    help: "A mirror copies rows by `mirror.snapshot.source` and follows them by the change stream, so both have to be about \
           the same table, the same rows and the same columns. Write the query as `SELECT * FROM table` for the published \
           table; `FROM ONLY table` where other tables inherit from it. To leave rows or columns out, give the publication a \
           row filter or a column list (PostgreSQL 15), or use transforms such as `filter` and `drop`, which both \
           phases go through.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&SOURCE_CHANGED, &QUERY_DIFFERS];

/// What a stream covers, as recorded when the mirror began.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Covered {
    /// What the source calls the mirrored table, whatever its name is: [`crate::model::Schema::source_id`] of its pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// What the source wrote down; opaque to everyone else.
    pub record: Value,
}

/// What a look found.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// How it is now: what to compare with next time.
    pub now: Covered,
    /// What differs from what is known, and what never was right.
    pub findings: Vec<Difference>,
}

/// Something that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What is different, for people.
    pub what: String,
    /// What follows from it.
    pub weight: Weight,
}

/// What follows from a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Nothing is wrong, and it is worth a word in the log.
    Noted,
    /// Rows came that the stream doesn't tell of. A snapshot that is still to be read finds them; a mirror that follows its
    /// stream lacks them, as under [`Weight::Missed`].
    Arrived,
    /// The destination may lack changes or have too many rows: it has to be mirrored anew. The stream can go on.
    Missed,
    /// The stream must not go on into this destination.
    Refused,
    /// The configuration is wrong, whatever happened before; what to do about it.
    Misread(&'static str),
}

impl Difference {
    /// A difference and what follows.
    pub fn new(weight: Weight, what: impl Into<String>) -> Self {
        Self { what: what.into(), weight }
    }

    /// The error that ends a mirror, if it has to end; `resync` says how to begin anew.
    pub fn error(&self, resync: &str) -> Option<Error> {
        match self.weight {
            Weight::Noted | Weight::Arrived | Weight::Missed => None,
            Weight::Refused => Some(Error::new(&SOURCE_CHANGED, &self.what).hint(resync)),
            Weight::Misread(hint) => Some(Error::new(&QUERY_DIFFERS, &self.what).hint(hint)),
        }
    }
}

impl Difference {
    /// What an examination says about it.
    pub fn finding(&self, resync: &str) -> Finding {
        let subject = "what is mirrored";
        match self.weight {
            Weight::Noted => Finding::warning(subject, &self.what, "nothing has to be done if it is meant so"),
            Weight::Arrived | Weight::Missed => Finding::warning(subject, &self.what, resync),
            Weight::Refused => Finding::failure(subject, &self.what, resync),
            Weight::Misread(hint) => Finding::failure(subject, &self.what, hint),
        }
    }
}

/// The ability to look at what a stream covers, by its server's own numbers, beside what a snapshot reads.
#[async_trait]
pub trait Survey: Send {
    /// Looks at the source, compares with what is `known`, and with what the snapshot's query reads
    /// ([`super::Split::reads`]). Without known things, only what can't be right is found.
    ///
    /// # Errors
    /// When nothing can be looked at.
    async fn look(&mut self, known: Option<&Covered>, reads: Option<&Value>) -> Result<Look>;
}
