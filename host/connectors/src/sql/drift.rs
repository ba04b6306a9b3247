//! Columns that rows have and the destination lacks, by the pipeline's `schema` block.

use faucet_core::error::{Blame, Code, Error, Retry};
use faucet_core::ports::OnDrift;

/// A column of the destination doesn't hold every value of the source's.
pub static TYPE_INCOMPATIBLE: Code = Code {
    id: "sink.type_incompatible",
    blame: Blame::Sink,
    retry: Retry::Operator,
    title: "a column of the destination would change values of the source's, or lose them",
    help: "Both types are compared before a row is written. `schema: { on_drift: evolve }` changes the type of a \
           destination's column only where no value can be lost by it, such as integer to bigint or numeric(10,2) to \
           numeric(14,4). For any other pair, alter the destination's column by hand and start again, or set \
           `schema: { on_incompatible: keep }`: then each value is compared, those that stay the same are written, and one \
           that doesn't goes to the `dlq`, or stops the run. Rows that an earlier version wrote narrower stay as they are: \
           after widening the column, copy them again.",
};

/// Says that columns are left out, once per schema, where that is wanted.
pub fn tell(policy: OnDrift, table: &str, left_out: &[&str]) {
    if policy == OnDrift::Warn && !left_out.is_empty() {
        let columns = left_out.join(", ");
        tracing::warn!(table, columns, "the destination lacks these columns: their values are left out");
    }
}

/// The error for a column of `table` that is `has`, which does `what` to values that are `is` at the source.
pub fn incompatible(table: &str, column: &str, (has, is): (&str, &str), what: &str) -> Error {
    let text = format!("column \"{column}\" is {is} at the source, and {has} in {table}: {has} {what}");
    Error::new(&TYPE_INCOMPATIBLE, text)
}
