//! `cdc_unwrap`: changes become plain rows that an upserting sink can apply.
//!
//! | change | rows | `__op` |
//! |---|---|---|
//! | read, insert, update | the row as it is now | `r`, `c`, `u` |
//! | update that changed the key | the old row's key to delete, then the row as it is now | `d`, `u` |
//! | delete | what is known of the old row: its key, or all of it | `d` |
//! | truncate | a row without values | `t` |
//!
//! What was not sent stays absent. Where the old row is known and the new one leaves a column out (an unchanged TOAST
//! value under REPLICA IDENTITY FULL), the old row's value is the new row's value. Plain rows (a snapshot) go through,
//! unless they have a column called `__op` themselves.
//!
//! * **U1** Applying the rows in order, with absent slots left alone, does to a destination what the changes did to the
//!   source.
//! * **U2** Both halves of a changed key are in one page, named by its moves, so that no commit can come between them.
//!
//! A key change is seen by comparing key columns of the old and the new row, so the source has to send the old ones. A
//! source sends them for the columns of its schema's key, or for all (FULL). Where that is not enough for the key that is
//! asked for, the page is refused: a missed key change would leave a row behind that nobody ever deletes.

use arrow_array::StringArray;
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use async_trait::async_trait;
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

use self::plan::Plan;
use crate::error::{Blame, Code, Error, Problem, Result, Retry};
use crate::model::{Change, Column, Field, Kind, Page, Schema, Values};
use crate::ports::{Output, Transform};

mod plan;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

/// The `type:` it goes by.
pub const NAME: &str = "cdc_unwrap";

/// One line for `faucet list`.
pub const SUMMARY: &str = "turns changes into plain rows with an __op column, so that a sink can apply them";

/// The column that says what a row does: [`crate::model::Op::letter`].
pub const OP_COLUMN: &str = "__op";

/// The old row lacks the key.
pub static KEY_NOT_IN_OLD_IMAGE: Code = Code {
    id: "cdc.key_not_in_old_image",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "a change does not say which row it changed, in terms of the key",
    help: "To delete a row, or to follow a change of its key, the destination needs the old values of the key's columns. \
           PostgreSQL sends old values only for the table's replica identity, which by default is the primary key. Make \
           the key part of it: `ALTER TABLE t REPLICA IDENTITY USING INDEX i` with a unique index over the key's \
           columns, or `ALTER TABLE t REPLICA IDENTITY FULL`. Changes made before that still lack the values, so then copy the \
           table anew: `faucet mirror drop CONFIG`, then `faucet mirror --replace CONFIG`. Or use the primary key as the key \
           of `cdc_unwrap` and of the sink.",
};

/// The key names a column that the table lacks.
pub static KEY_UNKNOWN: Code = Code {
    id: "cdc.key_unknown",
    blame: Blame::Config,
    retry: Retry::Never,
    title: "the key of cdc_unwrap names a column that the table does not have",
    help: "`key` of `cdc_unwrap` lists columns of the source table, spelled exactly as there. Without `key` the table's \
           own key is used.",
};

/// The table has a column of the name that marks what a row does.
pub static OP_COLUMN_TAKEN: Code = Code {
    id: "cdc.op_column_taken",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "the table has a column called __op, the name that cdc_unwrap gives to its own",
    help: "`cdc_unwrap` adds the column `__op` to each row. A table with a column of that name can't be unwrapped: \
           rename the column at the source.",
};

/// The codes raised by this module.
pub static CODES: &[&Code] = &[&KEY_NOT_IN_OLD_IMAGE, &KEY_UNKNOWN, &OP_COLUMN_TAKEN];

/// The `config:` block of `cdc_unwrap`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnwrapConfig {
    /// The columns by which the destination knows a row; by default the table's own key. It has to be the sink's `key`.
    #[serde(default)]
    pub key: Vec<String>,
}

impl UnwrapConfig {
    /// JSON Schema of the block.
    pub fn schema() -> Value {
        schema_for!(Self).to_value()
    }

    /// What is wrong with it; no I/O.
    pub fn validate(&self) -> Vec<Problem> {
        let check = |(index, column): (usize, &String)| {
            let path = format!("key[{index}]");
            if column.is_empty() {
                Some(Problem::error(path, "a column's name can't be empty"))
            } else if self.key[..index].contains(column) {
                Some(Problem::error(path, format!("\"{column}\" is named twice")))
            } else {
                None
            }
        };
        self.key.iter().enumerate().filter_map(check).collect()
    }
}

/// The transform. See the module's page.
#[derive(Debug, Default)]
pub struct Unwrap {
    config: UnwrapConfig,
    /// Made for the last schema that came.
    prepared: Option<Prepared>,
}

#[derive(Debug)]
struct Prepared {
    of: Arc<Schema>,
    schema: Arc<Schema>,
    /// Whether a source that sends no old row thereby says that the key did not change.
    key_is_sent: bool,
}

impl Unwrap {
    /// The transform under `config`.
    pub fn new(config: UnwrapConfig) -> Self {
        Self { config, prepared: None }
    }

    /// The page's changes as plain rows. See the module's page.
    ///
    /// # Errors
    /// `cdc.key_not_in_old_image`, `cdc.key_unknown` or `cdc.op_column_taken`.
    pub fn unwrap(&mut self, page: Page) -> Result<Page> {
        if page.change().is_none() {
            // A snapshot: a column of the table's own that is called so would be taken for the mark of these rows.
            return check_op_column(page.schema()).map(|()| page);
        }
        let Prepared { schema, key_is_sent, .. } = self.prepare(page.schema())?;
        let (of, after, change) = page.into_parts();
        let change = change.expect("it was checked above that the page has changes");
        let plan = Plan::new(&of, &after, &change, &schema.key, *key_is_sent)?;
        let rows = plan.letters.len();
        let mut columns = match &plan.picks {
            None => after,
            Some(picks) => weave(after, &change, picks),
        };
        columns.push(op_column(plan.letters));
        Ok(Page::new(schema.clone(), rows, columns).with_moves(plan.moves))
    }

    fn prepare(&mut self, of: &Arc<Schema>) -> Result<&Prepared> {
        if !self.prepared.as_ref().is_some_and(|p| Arc::ptr_eq(&p.of, of)) {
            self.prepared = Some(prepare(&self.config, of)?);
        }
        Ok(self.prepared.as_ref().expect("it was prepared above"))
    }
}

#[async_trait]
impl Transform for Unwrap {
    fn name(&self) -> &str {
        NAME
    }

    fn takes_changes(&self) -> bool {
        true
    }

    async fn apply(&mut self, page: Page) -> Result<Output> {
        Ok(self.unwrap(page)?.into())
    }
}

fn prepare(config: &UnwrapConfig, of: &Arc<Schema>) -> Result<Prepared> {
    check_op_column(of)?;
    let key = if config.key.is_empty() { of.key.clone() } else { configured_key(config, of)? };
    let key_is_sent = key.iter().all(|k| of.key.contains(k));
    let mut fields = of.fields.clone();
    fields.push(Field::new(OP_COLUMN, Kind::Text).not_null());
    let schema = Arc::new(Schema::new(of.table.clone(), fields).with_key(key));
    Ok(Prepared { of: of.clone(), schema, key_is_sent })
}

fn check_op_column(of: &Schema) -> Result<()> {
    if of.index_of(OP_COLUMN).is_none() {
        return Ok(());
    }
    let what = format!("{} has a column called {OP_COLUMN}", of.table);
    Err(Error::new(&OP_COLUMN_TAKEN, what).hint("rename the column at the source"))
}

fn configured_key(config: &UnwrapConfig, of: &Schema) -> Result<Vec<usize>> {
    let find = |name: &String| {
        of.index_of(name).ok_or_else(|| {
            let known = of.fields.iter().map(|f| &*f.name).collect::<Vec<_>>().join(", ");
            Error::new(&KEY_UNKNOWN, format!("{} has no column \"{name}\", which `key` of {NAME} names", of.table))
                .hint(format!("its columns are: {known}"))
        })
    };
    config.key.iter().map(find).collect()
}

/// Rows picked from after-images (0) and before-images (1); an absent slot of an after-image is filled from the
/// before-image of the same change where that has the slot.
fn weave(after: Vec<Column>, change: &Change, picks: &[(usize, usize)]) -> Vec<Column> {
    let Some(before) = &change.before else { return after };
    let weave_one = |(after, before): (Column, &Column)| match after.absent() {
        None => after.interleave(before, picks),
        Some(_) => {
            let filled = |&(image, row): &(usize, usize)| {
                let take_old = image == 0 && after.is_absent(row) && !before.is_absent(row);
                (if take_old { 1 } else { image }, row)
            };
            after.interleave(before, &picks.iter().map(filled).collect::<Vec<_>>())
        }
    };
    after.into_iter().zip(&before.columns).map(weave_one).collect()
}

/// One letter per row, in one buffer.
fn op_column(letters: Vec<u8>) -> Column {
    let offsets: Vec<i32> = (0..=letters.len() as i32).collect();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Column::new(Values::Text(StringArray::new(offsets, Buffer::from_vec(letters), None)))
}
