//! The labels of enums at the destination, and those that the source has got since.
//!
//! A label that was added to an enum can't be used before the transaction that added it has ended. So `on_drift: evolve` adds
//! labels in a session of their own, before the rows that have them are written: the one change of a destination that is not
//! part of its rows' transaction. A label that is there and not used does no harm, and one that is there already is no error.
//! It goes where it stands at the source, as far as the rows' schema tells, else to the end.

use faucet_core::error::{Blame, Code, Error, Result, Retry};
use faucet_core::model::{Field, Kind};
use std::collections::HashSet;
use std::sync::Arc;

use super::plan::Write;
use crate::postgres::Endpoint;
use crate::postgres::error::from_driver;
use crate::postgres::name::literal;

/// An enum lacks a label.
pub static LABEL_MISSING: Code = Code {
    id: "postgres.label_missing",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "an enum of the destination lacks a label that a row has",
    help: "The source's enum has got a label since (`ALTER TYPE .. ADD VALUE`), or was another one from the start. Run the \
           statement of the hint at the destination, or set `schema: { on_drift: evolve }`, which runs it. Then start again: \
           nothing is lost.",
};

/// The statement that makes the enum `name` of `labels`.
pub fn create(name: &str, labels: &[Arc<str>]) -> String {
    let labels: Vec<String> = labels.iter().map(|label| literal(label)).collect();
    format!("CREATE TYPE {name} AS ENUM ({})", labels.join(", "))
}

/// A label that is not there yet.
#[derive(Debug)]
pub struct Unlisted {
    /// The enum's OID.
    pub enumerated: u32,
    /// The label itself.
    pub label: String,
    table: String,
    column: String,
    /// The enum at the destination, as SQL.
    has: String,
    /// A label that is there, before which this one goes.
    before: Option<String>,
    /// The type at the source; `None` when values are texts of any sort, and no names in a schema.
    is: Option<String>,
}

impl Unlisted {
    /// `label`, a value of `field` for the column of `write`, whose enum has the labels `listed`.
    pub fn new(table: &str, write: &Write, field: &Field, (label, listed): (String, &HashSet<String>)) -> Self {
        let column = &write.column.column_type;
        let is = field.native_of("postgres").filter(|_| field.kind == Kind::Native).map(str::to_owned);
        let (table, name, has) = (table.to_owned(), write.column.name.clone(), column.under.to_string());
        let after = field.labels.iter().flat_map(|labels| labels.iter()).skip_while(|known| ***known != *label).skip(1);
        let before = after.map(|label| label.to_string()).find(|label| listed.contains(label));
        Self { enumerated: column.base, label, table, column: name, has, before, is }
    }

    /// Whether the source's own enum has it, so that it may be added here.
    pub fn is_of_enum(&self) -> bool {
        self.is.is_some()
    }

    /// What adds it.
    fn statement(&self) -> String {
        let place = self.before.as_ref().map(|label| format!(" BEFORE {}", literal(label))).unwrap_or_default();
        format!("ALTER TYPE {} ADD VALUE IF NOT EXISTS {}{place}", self.has, literal(&self.label))
    }

    /// Adds it, for good.
    ///
    /// # Errors
    /// What the server refuses, such as to a role that doesn't own the enum.
    pub async fn add(&self, endpoint: &Endpoint, pipeline: &str) -> Result<()> {
        let statement = self.statement();
        let session = endpoint.connect(pipeline).await?;
        let added = session.batch_execute(&format!("SET lock_timeout = '10s'; {statement}")).await;
        session.close().await;
        added.map_err(|e| {
            let error =
                from_driver(&e).context(format!("adding a label to {} for column \"{}\"", self.has, self.column));
            error.hint(format!("run as the enum's owner: {statement};"))
        })?;
        let (column, label) = (&self.column, &self.label);
        tracing::info!(
            table = self.table,
            column,
            label,
            "the source's enum has a new label, and the destination's too"
        );
        Ok(())
    }

    /// The error that says how to add it.
    pub fn error(&self) -> Error {
        let Self { table, column, has, .. } = self;
        match &self.is {
            Some(is) => {
                let what = format!(
                    "column \"{column}\" of {table} is the enum {has}, which lacks a label that the source's {is} has"
                );
                let statement = self.statement();
                let hint = format!("run at the destination: {statement}; or set schema: {{ on_drift: evolve }}");
                Error::new(&LABEL_MISSING, what).hint(hint)
            }
            // A text of somewhere may be anything, so it isn't shown.
            None => {
                let what =
                    format!("column \"{column}\" of {table} is the enum {has}, and a row has none of its labels");
                Error::new(&LABEL_MISSING, what).hint(format!(
                    "correct the row, or run at the destination: ALTER TYPE {has} ADD VALUE '..'; with the row's label"
                ))
            }
        }
    }
}
