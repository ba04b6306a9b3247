//! The column that says what a row does.

use faucet_core::error::{Blame, Code, Error, Problem, Result, Retry};
use faucet_core::model::{Page, ValueRef};
use schemars::JsonSchema;
use serde::Deserialize;

/// Which rows delete: those whose `field` holds one of `values`. The column itself is not written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteMarker {
    /// The column that marks deletes; `__op` after `cdc_unwrap`.
    pub field: String,
    /// The values that mean "delete"; `[d]` after `cdc_unwrap`.
    pub values: Vec<MarkerValue>,
}

/// A value of a marker column.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MarkerValue {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Number(i64),
    /// Text.
    Text(String),
}

impl MarkerValue {
    fn is(&self, value: ValueRef<'_>) -> bool {
        match (self, value) {
            (MarkerValue::Bool(a), ValueRef::Bool(b)) => *a == b,
            (MarkerValue::Number(a), ValueRef::I64(b)) => *a == b,
            (MarkerValue::Number(a), ValueRef::U64(b)) => i128::from(*a) == i128::from(b),
            (MarkerValue::Text(a), ValueRef::Text(b) | ValueRef::Native(b)) => a == b,
            _ => false,
        }
    }
}

impl DeleteMarker {
    /// What is wrong with the block, with paths relative to the sink's configuration.
    pub fn problems(&self, key: &[String]) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.field.is_empty() {
            problems.push(Problem::error("delete_marker.field", "a column's name can't be empty"));
        }
        if self.values.is_empty() {
            let text = "no value marks a delete, so deleted rows would stay";
            problems.push(Problem::error("delete_marker.values", text).hint("write `values: [d]` after cdc_unwrap"));
        }
        if key.contains(&self.field) {
            let text = format!("\"{}\" can't be a key column and the delete marker at once", self.field);
            problems.push(Problem::error("delete_marker.field", text));
        }
        problems
    }
}

/// What to do when the source table was emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnTruncate {
    /// Empty the destination too: it stays equal to the source.
    #[default]
    Truncate,
    /// Leave the destination's rows.
    Ignore,
    /// Stop with an error.
    Fail,
}

/// The source table was emptied and the sink is told to stop then.
pub static TRUNCATED: Code = Code {
    id: "sink.truncated",
    blame: Blame::Source,
    retry: Retry::Operator,
    title: "the source table was truncated, and `on_truncate: fail` is set",
    help: "Decide what the destination shall be: with `on_truncate: truncate` it is emptied too, with `ignore` its rows \
           stay. Change the setting and start again; nothing after the truncate was applied.",
};

/// What a row does to the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOp {
    /// Puts the row. Where it has absent slots, a new row takes the columns' defaults.
    Upsert,
    /// Changes a row that has to be there: with absent slots it never makes one.
    Update,
    /// Removes the row with the key.
    Delete,
    /// Removes all rows.
    Truncate,
    /// Nothing.
    Skip,
}

/// What each row of `page` does; `None` when all of them put rows, which is also so when the page has no such column (a
/// snapshot).
///
/// A truncate is a row whose marker says `t` and that has no other value.
///
/// # Errors
/// `sink.truncated` under [`OnTruncate::Fail`].
pub fn classify(page: &Page, marker: &DeleteMarker, on_truncate: OnTruncate) -> Result<Option<Vec<RowOp>>> {
    let Some(column) = page.schema().index_of(&marker.field) else { return Ok(None) };
    let mut ops = Vec::with_capacity(page.rows());
    let mut all_upserts = true;
    for row in 0..page.rows() {
        let value = page.columns()[column].value(row);
        let op = if marker.values.iter().any(|v| v.is(value)) {
            RowOp::Delete
        } else if matches!(value, ValueRef::Text("t")) && is_bare(page, row, column) {
            match on_truncate {
                OnTruncate::Truncate => RowOp::Truncate,
                OnTruncate::Ignore => RowOp::Skip,
                OnTruncate::Fail => {
                    let what = format!("the source table {} was truncated", page.schema().table);
                    return Err(Error::new(&TRUNCATED, what).hint("set `on_truncate` to `truncate` or `ignore`"));
                }
            }
        } else {
            if matches!(value, ValueRef::Text("u")) { RowOp::Update } else { RowOp::Upsert }
        };
        all_upserts &= op == RowOp::Upsert;
        ops.push(op);
    }
    Ok((!all_upserts).then_some(ops))
}

/// Whether the row has no value but the marker's.
fn is_bare(page: &Page, row: usize, marker: usize) -> bool {
    page.columns().iter().enumerate().all(|(index, column)| index == marker || column.is_null(row))
}
